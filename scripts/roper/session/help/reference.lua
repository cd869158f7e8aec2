--- Reference pages in Markdown: one for each module and each class, and an index.
local catalogue = require "roper.session.help.catalogue"
local comment_of = require "roper.session.help.comment"
local files = require "roper.base.file"
local page = require "roper.session.help.page"
local sources = require "roper.session.help.sources"

local M = {}

-- Text that stands in a cell of a table.
local function cell(text)
  return (text:gsub("|", "\\|"))
end

local function code(text)
  return text ~= "" and "`" .. text .. "`" or ""
end

-- Rows of a table: name, type, default, meaning.
local function add_parameters(out, title, parameters)
  local rows = {}
  local function add(parameter, prefix)
    local default = parameter.default and code(parameter.default)
      or parameter.optional and "optional" or ""
    rows[#rows + 1] = ("| %s | %s | %s | %s |"):format(code(prefix .. parameter.name),
      cell(code(parameter.type)), cell(default), cell(parameter.text))
  end
  for _, parameter in ipairs(parameters) do
    add(parameter, "")
    for _, option in ipairs(sources.options(parameter.type)) do
      add(option, parameter.name ~= "" and parameter.name .. "." or "")
    end
  end
  if rows[1] then
    out[#out + 1] = ("| %s | type | default | meaning |\n|---|---|---|---|"):format(title)
    out[#out + 1] = table.concat(rows, "\n") .. "\n"
  end
end

local function add_blocks(out, comment, kinds)
  for _, block in ipairs(comment_of.blocks(comment)) do
    if kinds[block.kind] then
      local is_code = block.kind == "formula" or block.kind == "example"
      local text = table.concat(block.lines, "\n")
      out[#out + 1] = is_code and ("```\n%s\n```\n"):format(text)
        or (block.kind == "errors" and "Errors: " or "") .. text .. "\n"
    end
  end
end

local function add_action(out, entry)
  out[#out + 1] = ("### `%s`\n"):format(page.signature(entry))
  if entry.same then
    out[#out + 1] = ("As `%s`, of which this is the first argument.\n"):format(entry.same)
    return
  end
  add_blocks(out, entry.comment, { prose = true, formula = true })
  add_parameters(out, "argument", entry.comment.parameters)
  add_parameters(out, "result", entry.comment.results)
  add_blocks(out, entry.comment, { errors = true })
  add_blocks(out, entry.comment, { example = true })
end

--- The page of a module or a class.
---@param entry Entry
---@return string markdown
function M.page(entry)
  local out = { ("# %s\n"):format(entry.path) }
  if entry.comment then
    add_blocks(out, entry.comment, { prose = true, formula = true })
    add_parameters(out, "field", entry.comment.fields)
    add_blocks(out, entry.comment, { example = true })
  end
  for _, member in ipairs(catalogue.members(entry)) do
    if member.comment and member.kind ~= "module" then
      add_action(out, member)
    end
  end
  return table.concat(out, "\n")
end

--- Write all pages.
---@param path string a folder
function M.write(path)
  files.make(path)
  local index = { "# roper\n" }
  for _, entry in ipairs(catalogue.entries()) do
    if entry.kind == "module" or entry.kind == "class" then
      local name = entry.path .. ".md"
      files.write(path .. "/" .. name, M.page(entry))
      index[#index + 1] = ("- [%s](%s): %s"):format(entry.path, name,
        entry.comment and comment_of.summary(entry.comment) or "")
    end
  end
  files.write(path .. "/index.md", table.concat(index, "\n") .. "\n")
end

return M
