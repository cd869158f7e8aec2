--- Texts in pages that are computed from recorded runs, between two comments:
---
---     <!-- results STUDY.NAME -->
---     ...
---     <!-- end of results -->
local M = {}

local BLOCK <const> = "(<!%-%- results (%g+) %-%->\n)(.-)(<!%-%- end of results %-%->)"

--- Returns a page with its blocks replaced.
---
--- Errors: a block has no text.
---@param page string
---@param path string of the page, for messages
---@param text_of fun(name: string): string? the text of a block
---@return string
function M.filled(page, path, text_of)
  return (page:gsub(BLOCK, function(first, name, _, last)
    local text = text_of(name)
    if not text then
      error(("%s: no study has the results %s"):format(path, name), 0)
    end
    return ("%s%s\n%s"):format(first, text, last)
  end))
end

-- The part of a line around its byte `at`, without half characters.
local function around(line, at)
  local first, last = math.max(1, at - 40), at + 40
  while first > 1 and (line:byte(first) or 0) & 0xC0 == 0x80 do
    first = first + 1
  end
  while last < #line and line:byte(last + 1) & 0xC0 == 0x80 do
    last = last + 1
  end
  return (first > 1 and "..." or "") .. line:sub(first, last) .. (last < #line and "..." or "")
end

--- Describes the first line in which a file differs from the text that was computed.
---@param path string
---@param was string
---@param now string
---@return string? message nil if they are the same
function M.difference(path, was, now)
  if was == now then
    return nil
  end
  local lines = now:gmatch "([^\n]*)\n?"
  local count = 0
  for line in was:gmatch "([^\n]*)\n?" do
    count = count + 1
    local computed = lines() or ""
    if line ~= computed then
      local at = 1
      while line:byte(at) == computed:byte(at) do
        at = at + 1
      end
      return ("%s:%d: expected %s\n  got %s"):format(path, count, around(computed, at),
        around(line, at))
    end
  end
  return path .. ": lines are missing at its end"
end

return M
