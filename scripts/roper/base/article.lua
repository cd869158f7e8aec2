--- Pages to read, in the one style of lessons and of the reference.
local markup = require "roper.base.markup"
local h = markup.h

local M = {}

--- A whole page.
---@param title string
---@param body any
---@param style any? after the common one
---@return string html
function M.page(title, body, style)
  return markup.document(title, { markup.asset "base/article.css", style }, body)
end

-- Minus and equals signs, which no line break may part from what they belong to.
local function typeset(text)
  local signs = { ["-"] = "\u{A0}−\u{A0}", ["="] = "\u{A0}=\u{A0}" }
  return (text:gsub("%s([-=])%s+", signs):gsub("%f[%S]%-(%w)", "−%1"):gsub("%(%-", "(−"))
end

-- Code in the middle of text.
local function plain(code)
  return h.code { code }
end

--- Text with `code` in backticks.
---@param text string
---@param show_code? fun(code: string): any
---@return any[] nodes
function M.inline(text, show_code)
  local nodes, is_code = {}, false
  for part in (typeset(" " .. text):sub(2) .. "`"):gmatch "([^`]*)`" do
    nodes[#nodes + 1] = not is_code and part
      or (show_code or plain)((part:gsub("−", "-"):gsub("\u{A0}", " ")))
    is_code = not is_code
  end
  return nodes
end

return M
