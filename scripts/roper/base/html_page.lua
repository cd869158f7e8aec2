--- HTML pages in the common style of lessons and the reference.
local markup = require "roper.base.markup"
local h = markup.h

local M = {}

--- A whole page.
---@param title string
---@param body any
---@param style any? CSS after the common style
---@return string html
function M.page(title, body, style)
  return markup.document(title, { markup.asset "base/article.css", style }, body)
end

--- Text with typographic minus signs, and without line breaks around minus and equals signs.
---@param text string
---@param is_first boolean? is this the start of a text, where "-" before a word is a minus?
---@return string
function M.typeset(text, is_first)
  local signs = { ["-"] = "\u{A0}−\u{A0}", ["="] = "\u{A0}=\u{A0}" }
  text = (is_first and " " or "") .. text
  text = text:gsub("%f[%S]%-(%w)", "−%1"):gsub("%(%-", "(−"):gsub("(%de)%-(%d)", "%1−%2")
    :gsub("%s([-=])%s+", signs)
  return is_first and text:sub(2) or text
end

-- Inline code.
local function plain(code)
  return h.code { code }
end

--- Text in which `code` is in backticks, as nodes.
---@param text string
---@param show_code? fun(code: string): any
---@return any[] nodes
function M.inline(text, show_code)
  local nodes, is_code = {}, false
  for part in (M.typeset(text, true) .. "`"):gmatch "([^`]*)`" do
    nodes[#nodes + 1] = not is_code and part
      or (show_code or plain)((part:gsub("−", "-"):gsub("\u{A0}", " ")))
    is_code = not is_code
  end
  return nodes
end

return M
