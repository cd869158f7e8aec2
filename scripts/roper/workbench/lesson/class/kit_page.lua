--- Pages of a kit for a class: self-contained, and allowed to load nothing.
local html = require "roper.text.document.html"
local markup = require "roper.text.markup"
local h = markup.h

local M = {}

--- A page of the kit.
---@param title string
---@param nodes any
---@param o? {is_wide: boolean?, is_index: boolean?, style: any, script: any, head: any}
---@return string html
function M.html(title, nodes, o)
  o = o or {}
  return html.page(title, { o.head or not o.is_index and h.header { class = "bar", h.nav {
    ["aria-label"] = "Kit", h.a { href = "index.html", "The kit" } } },
    h.main { class = o.is_wide and "kit wide" or "kit", h.h1 { title }, nodes }, o.script },
    { style = { markup.asset "workbench/lesson/class/kit.css", o.style }, is_guarded = true })
end

return M
