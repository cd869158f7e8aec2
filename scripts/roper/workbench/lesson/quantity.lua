--- The quantities of attention in prose: pages show the first mention of each in its colour, which
--- is also that of its letter in formulas and of its arrows in pictures.
local document = require "roper.text.document"

local M = {}

local LETTERS <const> = { query = "q", queries = "q", key = "k", keys = "k", value = "v",
  values = "v", output = "o", outputs = "o" }

--- Prose whose first mention of each quantity is styled with its letter.
---@param prose table from `document.prose`
---@param seen table<string, true>? the letters of quantities that were mentioned before; letters
---   are added
---@return table inline
function M.marked(prose, seen)
  local node = { kind = "prose" }
  seen = seen or {}
  for _, part in ipairs(prose) do
    local at = 1
    for first, word, after in (type(part) == "string" and part or ""):gmatch "()(%a+)()" do
      local letter = LETTERS[word:lower()]
      if letter and not seen[letter] then
        seen[letter] = true
        node[#node + 1] = part:sub(at, first - 1)
        node[#node + 1], at = document.styled(letter, word), after
      end
    end
    node[#node + 1] = type(part) == "string" and part:sub(at) or part
  end
  return node
end

--- Paragraphs of prose, as `document.paragraphs`, in which the first mention of each quantity is
--- styled.
---@param text string
---@return table[] blocks
function M.paragraphs(text)
  local list, seen = document.paragraphs(text), {}
  for _, block in ipairs(list) do
    block.text = M.marked(block.text, seen)
  end
  return list
end

return M
