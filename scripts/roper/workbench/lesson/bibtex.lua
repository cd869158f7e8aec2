--- Sources, and roper itself, as entries for BibTeX.
local document = require "roper.text.document"
local version = require "roper.base.version"

local M = {}

local RELEASED <const> = 2026

-- The key of an entry: the first author, the year and the first long word of the title.
local function key_of(source)
  local author = source.authors:match("%S+"):gsub("%W", "")
  return (author .. source.year .. source.title:match "%f[%w]%w%w%w%w+"):lower()
end

-- A title with the signs escaped that mean something in LaTeX.
local function escaped(title)
  return (title:gsub("[_&%%#$]", "\\%0"))
end

-- Is a source the issue or pull request of a program, which has its name as its author?
local function is_thread(source)
  return source.address:find "^https://github%.com/[^/]+/[^/]+/%a+/%d+$" ~= nil
end

-- The authors of a source. The name of a program is in braces, so that BibTeX does not split it.
local function authors_of(source)
  if source.people then
    return source.people
  end
  local first = source.authors:match "^(.*) et al%.$"
  return first and first .. " and others" or is_thread(source) and "{" .. source.authors .. "}"
    or source.authors
end

local function entry(kind, key, fields)
  local lines = { ("@%s{%s,"):format(kind, key) }
  for _, field in ipairs(fields) do
    if field[2] then
      lines[#lines + 1] = ("  %-13s = {%s},"):format(field[1], field[2])
    end
  end
  lines[#lines + 1] = "}\n"
  return table.concat(lines, "\n")
end

-- A source of the bibliography as an entry.
local function source_entry(source, key)
  local number = source.address:match "^arXiv:(.*)$"
  return entry("misc", key, { { "author", authors_of(source) },
    { "title", "{" .. escaped(source.title) .. "}" }, { "year", source.year },
    { "archivePrefix", number and "arXiv" }, { "eprint", number },
    { "url", document.citation("", source.address).href } })
end

local function own_entry()
  return entry("software", "roper", { { "author", "{The roper authors}" },
    { "title", "{roper: a workbench for rotary position encodings}" }, { "year", RELEASED },
    { "version", version } })
end

--- roper and sources as entries, each with a key of its own.
---@param sources table[] of the bibliography
---@return string text
function M.text(sources)
  local list, keys = { own_entry() }, {}
  for i, source in ipairs(sources) do
    local key = key_of(source)
    keys[key] = (keys[key] or 0) + 1
    list[i + 1] = source_entry(source, keys[key] > 1 and key .. keys[key] or key)
  end
  return table.concat(list, "\n")
end

return M
