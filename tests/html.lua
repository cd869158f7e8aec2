-- Checks that pages and pictures are well-formed.

local assert = require("luassert")

local M = {}

local VOID <const> = { meta = true, br = true, hr = true, img = true, link = true, input = true,
  wbr = true }

--- Check that every element of an HTML page, SVG inside included, ends in its parent, that
--- attributes are quoted, and that text has no bare `<` or `&`.
---@param page string
---@return table<string, integer> number of each element
function M.check(page)
  local open, counts = {}, {}
  local body = page:gsub("^<!doctype html>", "")
  body = body:gsub("<style>.-</style>", ""):gsub("<script>.-</script>", "")
    :gsub("<!%-%-.-%-%->", "")
  local at = 1
  while at <= #body do
    local first = body:find("<", at, true) or #body + 1
    local text = body:sub(at, first - 1)
    local stray = text:gsub("&#?%w+;", ""):find("&", 1, true)
    assert(not stray, "bare & in " .. text)
    if first > #body then
      break
    end
    local last, slash, name, rest = select(2, body:find("^<(/?)([%a][%w:-]*)([^<>]*)>", first))
    assert(last, "no tag: " .. body:sub(first, first + 60))
    if slash == "/" then
      local expected = table.remove(open)
      assert(expected == name, ("</%s> ends <%s>"):format(name, expected))
    else
      counts[name] = (counts[name] or 0) + 1
      local left = rest:gsub("%s+[%w:_-]+%s*=%s*\"[^\"]*\"", "")
        :gsub("%s+[%w:_-]+%s*=%s*'[^']*'", ""):gsub("%s+$", "")
      assert(left == "" or left:find("^%s*/$"), "attributes of " .. name .. ": " .. rest)
      if not VOID[name] and left == "" then
        open[#open + 1] = name
      end
    end
    at = last + 1
  end
  assert(#open == 0, "never ended: " .. table.concat(open, " "))
  return counts
end

--- Check that a picture is XML of valid characters.
---@param svg string
---@return table<string, integer> number of each element
function M.check_svg(svg)
  assert.truthy(svg:find("^<%?xml"))
  assert.truthy(utf8.len(svg))
  assert.is_nil(svg:find("[%z\1-\8\11\12\14-\31]"))
  assert.is_nil(svg:find("]]>", 1, true))
  local counts = M.check((svg:gsub("^<%?xml.-%?>%s*", "")))
  assert.equal(1, select(2, svg:gsub("xmlns=", "")))
  return counts
end

--- The rows of the table of a class, as lists of the texts of cells, the head first.
---@param document string
---@param class string
---@return string[][] rows
function M.rows(document, class)
  local body = assert(document:match('<table class="' .. class .. '">(.-)</table>'), class)
  local rows = {}
  for row in body:gmatch("<tr>(.-)</tr>") do
    local cells = {}
    for cell in row:gmatch("<t[hd][^>]*>(.-)</t[hd]>") do
      cells[#cells + 1] = cell:gsub("<[^>]*>", ""):gsub("^%s+", ""):gsub("&lt;", "<")
        :gsub("&gt;", ">")
    end
    rows[#rows + 1] = cells
  end
  return rows
end

return M
