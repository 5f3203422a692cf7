-- What scripts of the tests do in Neovim 0.7 or later. Lines and columns are from 0, columns in bytes.

local client
local logged = {}

-- Start the server for all files that are opened.
function start(command)
  vim.o.swapfile = false
  vim.o.hidden = true
  local log = vim.lsp.handlers["window/logMessage"]
  client = vim.lsp.start_client({
    name = "concerto",
    cmd = command,
    root_dir = vim.fn.getcwd(),
    handlers = {
      ["window/logMessage"] = function(_, message)
        if message.type == 1 then table.insert(logged, message.message) end
      end,
    },
  })
  vim.wait(20000, function()
    local found = vim.lsp.get_client_by_id(client)
    return found ~= nil and found.initialized
  end, 10)
end

-- Run a script and write what it gives.
function finish(file, script)
  local fine, value = xpcall(script, debug.traceback)
  local found = fine and { value = value } or { error = value }
  if #logged > 0 then found = { error = table.concat(logged, "\n") } end
  local out = io.open(file, "w")
  out:write(vim.json.encode(found))
  out:close()
  vim.lsp.stop_client(client)
  vim.wait(5000, function() return vim.lsp.client_is_stopped(client) end, 10)
  vim.cmd("qa!")
end

function open(name)
  vim.cmd("edit " .. name)
  vim.lsp.buf_attach_client(0, client)
  return vim.api.nvim_get_current_buf()
end

-- The line and column of the end of a text in the buffer, where a person would have the cursor.
function after(text, from)
  local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  for number = (from or 0) + 1, #lines do
    local _, last = string.find(lines[number], text, 1, true)
    if last then
      vim.api.nvim_win_set_cursor(0, { number, math.max(last - 1, 0) })
      return number - 1, last
    end
  end
  error("there is no " .. text)
end

-- Put a text in place of another one, without saving.
function replace(old, new)
  local line, last = after(old)
  local begin = last - #old
  vim.api.nvim_buf_set_text(0, line, begin, line, last, vim.split(new, "\n"))
end

function lines()
  return vim.api.nvim_buf_get_lines(0, 0, -1, false)
end

-- Ask the server about the place behind a text, through Neovim's own positions.
function ask(method, text, more)
  local line, column = after(text)
  vim.api.nvim_win_set_cursor(0, { line + 1, column })
  local params = vim.lsp.util.make_position_params(0, "utf-16")
  params.position.character = vim.str_utfindex
    and select(2, vim.str_utfindex(vim.api.nvim_buf_get_lines(0, line, line + 1, false)[1], column))
  for key, value in pairs(more or {}) do params[key] = value end
  return request(method, params)
end

function request(method, params)
  local found, problem = vim.lsp.buf_request_sync(0, method, params, 20000)
  if not found then error(method .. ": " .. tostring(problem)) end
  local answer = found[client] or {}
  if answer.err or answer.error then error(vim.inspect(answer)) end
  return answer.result
end

function document()
  return { uri = vim.uri_from_bufnr(0) }
end

-- The messages of the diagnostics that Neovim shows for a buffer, when nothing more comes.
function problems(buffer)
  request("concerto/settled", vim.empty_dict())
  vim.wait(100, function() return false end, 10)
  local found = {}
  for _, each in ipairs(vim.diagnostic.get(buffer or 0)) do
    table.insert(found, { line = each.lnum, column = each.col, message = each.message, code = each.code })
  end
  return found
end

-- The words that Neovim's menu would show behind a text.
function completions(text)
  local found = ask("textDocument/completion", text)
  local words = {}
  for _, each in ipairs(vim.lsp.util.text_document_completion_list_to_complete_items(found or {}, "")) do
    table.insert(words, each.abbr)
  end
  return words
end

-- Take a completion behind a text, as its text edit says.
function choose(text, label)
  for _, each in ipairs((ask("textDocument/completion", text) or {}).items or {}) do
    if each.label == label then
      vim.lsp.util.apply_text_edits({ each.textEdit }, 0, "utf-16")
      return
    end
  end
  error("no completion " .. label .. " behind " .. text)
end

-- Type a text behind another one, key by key: each is a change of its own.
function write(text, typed)
  local line, column = after(text)
  for index = 1, #typed do
    local key = typed:sub(index, index)
    vim.api.nvim_buf_set_text(0, line, column, line, column, key == "\n" and { "", "" } or { key })
    if key == "\n" then
      line, column = line + 1, 0
    else
      column = column + 1
    end
  end
end

-- The titles of the code actions of the whole document; one of them is done, if it is asked for.
function actions(title)
  local range = { start = { line = 0, character = 0 }, ["end"] = { line = 9999, character = 0 } }
  local params = { textDocument = document(), range = range, context = { diagnostics = {} } }
  local titles = {}
  for _, each in ipairs(request("textDocument/codeAction", params) or {}) do
    table.insert(titles, each.title)
    if each.title == title then vim.lsp.util.apply_workspace_edit(each.edit, "utf-16") end
  end
  return titles
end

function format()
  local options = { tabSize = 4, insertSpaces = true }
  local edits = request("textDocument/formatting", { textDocument = document(), options = options })
  if edits then vim.lsp.util.apply_text_edits(edits, 0, "utf-16") end
end
