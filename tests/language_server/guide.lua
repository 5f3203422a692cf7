-- Before the settings of the guide: what Neovim 0.7 lacks of 0.8, where they are for.

if not vim.lsp.start then
  vim.g.do_filetype_lua = 1
  vim.fs = {
    dirname = function(file) return file and vim.fn.fnamemodify(file, ":h") end,
    find = function(names)
      local found = vim.tbl_filter(function(name) return vim.fn.filereadable(name) == 1 end, names)
      return vim.tbl_map(function(name) return vim.fn.fnamemodify(name, ":p") end, found)
    end,
  }
  vim.lsp.start = function(config)
    vim.lsp.buf_attach_client(0, vim.lsp.start_client(config))
  end
end

-- What the editor shows of a slip that is not saved, as JSON in a file.
function show_a_slip(answer)
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { "fn main() {", '    let _a = "😀"; println(b);', "}" })
  vim.wait(120000, function() return #vim.diagnostic.get(0) > 0 end)
  local client = vim.lsp.get_active_clients()[1]
  local slips = vim.tbl_map(function(each)
    return { each.lnum, each.col, each.code }
  end, vim.diagnostic.get(0))
  local root = vim.loop.fs_realpath(client.config.root_dir)
  vim.fn.writefile({ vim.json.encode({ filetype = vim.bo.filetype, root = root, slips = slips }) }, answer)
  vim.cmd("qall!")
end
