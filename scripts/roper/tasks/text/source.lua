--- Reader of text files: finds them, divides them into documents and checks that they are UTF-8.
local core = require "roper.core"
local files = require "roper.system.file"
local tables = require "roper.base.tables"

local M = {}

-- Bytes in one read of a file that is one document.
local CHUNK <const> = 1 << 20

--- The ways to divide a file into documents.
M.DIVISIONS = { "file", "paragraphs", "jsonl", "wikiextractor" }

-- Raises an error about a line of a file.
local function refuse(path, line, message)
  error(("text: %s: line %d: %s"):format(path, line, message), 0)
end

-- Iterates over a file in units of `format`, as for file:read: number and unit. Calls `read` with
-- each unit.
local function parts(path, format, read)
  local file, message = io.open(path, "rb")
  if not file then
    error(("text: cannot read %s"):format(message), 0)
  end
  return function(_, number)
    local part, problem = file:read(format)
    if problem then
      error(("text: cannot read %s: %s"):format(path, problem), 0)
    elseif part then
      read(part)
      return number + 1, part
    end
  end, nil, 0, file
end

-- One function for each division. It calls give(text, line, answer) for each document: `line` is
-- the number of its first line, `answer` the end of the text that answers its beginning, or nil.
local divide = {}

function divide.file(path, read, give)
  local pieces = {}
  for _, piece in parts(path, CHUNK, read) do
    pieces[#pieces + 1] = piece
  end
  give(table.concat(pieces), 1)
end

function divide.paragraphs(path, read, give)
  local lines, start = {}, 1
  for number, line in parts(path, "l", read) do
    if line:find "%S" then
      lines[#lines + 1] = line
    else
      give(table.concat(lines, "\n"), start)
      lines, start = {}, number + 1
    end
  end
  give(table.concat(lines, "\n"), start)
end

function divide.jsonl(path, read, give)
  for number, line in parts(path, "l", read) do
    if line:find "%S" then
      local content, problem = core.json_decode(line)
      if problem then
        refuse(path, number, "expected JSON: " .. problem)
      elseif type(content) ~= "table" or type(content.text) ~= "string" then
        refuse(path, number, 'expected an object with a string "text"')
      elseif content.answer ~= nil and type(content.answer) ~= "string" then
        refuse(path, number, 'expected a string "answer"')
      end
      give(content.text .. (content.answer or ""), number, content.answer)
    end
  end
end

-- Output of WikiExtractor: each article is between <doc ...> and </doc>.
function divide.wikiextractor(path, read, give)
  local lines, start, last = nil, 0, 0
  for number, line in parts(path, "l", read) do
    last = number
    if line:find "^<doc[ >]" then
      lines, start = {}, number + 1
    elseif line:find "^</doc>" and lines then
      give(table.concat(lines, "\n"), start)
      lines = nil
    elseif lines then
      lines[#lines + 1] = line
    elseif line:find "%S" then
      refuse(path, number, "expected <doc ...>, as WikiExtractor writes it")
    end
  end
  if lines then
    refuse(path, last, "expected </doc> before the end")
  end
end

---@class TextFile
---@field path string
---@field division string

--- Lists files, and the files below folders ordered by name, except hidden ones. A file with
--- several names is listed once.
---
--- Errors: a path that is neither a file nor a folder; no files.
---@param paths string[]
---@param division? string one of DIVISIONS; by default "jsonl" for names that end in .jsonl or
---   .ndjson, else "file"
---@return TextFile[] list
---@return integer bytes in total
function M.list(paths, division)
  local list, seen, bytes = {}, {}, 0
  local function add(path)
    local stat = files.stat(path)
    if not stat then
      error(("text: no file or folder %s"):format(path), 0)
    elseif stat.type == "directory" then
      for _, name in ipairs(files.names(path)) do
        local below = not name:find "^%." and files.stat(path .. "/" .. name)
        if below and not (below.type == "directory" and files.is_link(path .. "/" .. name)) then
          add(path .. "/" .. name)
        end
      end
    elseif stat.type ~= "file" then
      error(("text: %s: expected a file or a folder, got a %s"):format(path, stat.type), 0)
    elseif not seen[stat.dev .. ":" .. stat.ino] then
      seen[stat.dev .. ":" .. stat.ino], bytes = true, bytes + stat.size
      list[#list + 1] = { path = path, division = division
        or (path:find "%.jsonl$" or path:find "%.ndjson$") and "jsonl" or "file" }
    end
  end
  for _, path in ipairs(paths) do
    add(path)
  end
  if #list == 0 then
    error(("text: no files in %s"):format(table.concat(paths, ", ")), 0)
  end
  return list, bytes
end

-- Raises an error for bytes that are not UTF-8 and for zero bytes, which end documents.
local function check(path, text, line)
  local _, bad = utf8.len(text)
  bad = bad or text:find("\0", 1, true)
  if bad then
    local _, before = text:sub(1, bad - 1):gsub("\n", "")
    refuse(path, line + before, ("expected text in UTF-8, got the byte 0x%02X"):format(
      text:byte(bad)))
  end
end

--- Visits all documents in order, except empty ones. Lines of JSON may have a field `answer`, which
--- follows their text.
---
--- Errors: a file that cannot be read, is not UTF-8 or does not match its division; no documents;
--- answers in only some of the documents.
---@param list TextFile[] from `list`
---@param visit fun(text: string, answer?: string) answer: the end of the text
---@param read fun(bytes: integer) called with the number of bytes of each read
---@return integer hash of all content and the divisions
function M.each(list, visit, read)
  local hash, is_empty, has_answers = core.hash "", true, nil
  for _, file in ipairs(list) do
    hash = core.hash(file.division .. "\0", hash)
    divide[file.division](file.path, function(part)
      hash = core.hash(part .. "\n", hash)
      read(#part + 1)
    end, function(text, line, answer)
      check(file.path, text, line)
      if text:find "%S" then
        if has_answers == nil then
          has_answers = answer ~= nil
        elseif has_answers ~= (answer ~= nil) then
          refuse(file.path, line, ("expected %s \"answer\", as in the documents before"):format(
            has_answers and "a string" or "no"))
        end
        is_empty = false
        visit(text, answer)
      end
    end)
  end
  if is_empty then
    local names = tables.map(list, function(file) return file.path end)
    error(("text: no text in %s"):format(table.concat(names, ", ", 1, math.min(3, #names))
      .. (#names > 3 and ", ..." or "")), 0)
  end
  return hash
end

return M
