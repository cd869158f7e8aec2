--- Pages beside the lessons that list something of them: their sources and their terms.
local files = require "roper.system.file"
local h = require("roper.text.markup").h
local html = require "roper.text.document.html"

local M = {}

--- Writes a page with a link to the index.
---@param path string the folder
---@param name string of the file, without .html
---@param title string
---@param nodes any the page below the link
function M.write(path, name, title, nodes)
  files.write(("%s/%s.html"):format(path, name), html.page(title, {
    h.header { h.nav { h.a { href = "index.html", "All lessons" } } }, h.main { nodes } },
    { is_guarded = true }))
end

return M
