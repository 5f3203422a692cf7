-- Somebody writes a small agent. Each step is shown as it is done: what was typed, what the editor said.

local steps = {}
local function step(what, shown)
  table.insert(steps, "- " .. what)
  if shown then table.insert(steps, "  " .. shown) end
end

local function first(words, number)
  return table.concat({ unpack(words, 1, math.min(#words, number)) }, ", ")
end

open("main.conc")
vim.api.nvim_buf_set_lines(0, 0, -1, false, { "//" })
write("//", " A clerk that adds prices.\n\ntool Prices {\n    des")
step("types `tool Prices {` and `des`, takes", first(completions("    des"), 3))
choose("    des", "description")
write("    description: ", '"What things cost",\n\n    @describe("The price of a thing")\n    @param("thing", "Its name")\n    pub fn price(thing: Str')
step("a type is completed", "String")
choose("thing: Str", "String")
write("thing: String", ") -> Result<Int, ToolError> {\n        Ok(thing.le")
step("members of a String behind `thing.le`", first(completions("thing.le"), 3))
choose("Ok(thing.le", "len")
write("Ok(thing.len", "())\n    }\n}\n\nagent Clerk {\n    pro")
choose("    pro", "provider")
write("    provider: ", "")
step("connections of `Concerto.toml`", first(completions("    provider: "), 3))
choose("    provider: ", "shop")
write("    provider: shop", ",\n    tools: [")
step("tools in sight", first(completions("    tools: ["), 3))
choose("    tools: [", "Prices")
write("    tools: [Prices", "],\n}\n\nfn main() -> Result<Nil, AgentError> {\n    let answer = Clerk.")
step("methods of an agent", first(completions("Clerk."), 6))
choose("Clerk.", "execute")
write("Clerk.execute", '("What does tea cost?")?;\n    println(answr.text);\n    Ok(nil)\n}')
for _, each in ipairs(problems()) do
  if each.code == "E0201" then step("a slip is reported", (each.message:gsub("\n", "; "))) end
end
for _, title in ipairs(actions()) do
  if title:find("answer") then
    step("and mended by a code action", title)
    actions(title)
  end
end
local hover = ask("textDocument/hover", "pub fn pri")
step("hover on `price` says what the model is told", hover.contents.value:match('"description": "[^"]*"'))
local changed = ask("textDocument/rename", "pub fn pri", { newName = "cost" })
vim.lsp.util.apply_workspace_edit(changed, "utf-16")
step("`price` is renamed", "pub fn cost")
format()
step("formatted and saved, problems left", tostring(#problems()))
vim.cmd("write")
return steps
