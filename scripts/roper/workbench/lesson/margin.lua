--- Notes in the margin of a lesson's page: a paragraph that is the first to cite a source of the
--- bibliography gets a note on what the source contributes.
local bibliography = require "roper.workbench.lesson.bibliography"
local document = require "roper.text.document"
local h = require("roper.text.markup").h
local tables = require "roper.base.tables"

local M = {}

local sources = {} -- by address
for _, group in ipairs(bibliography) do
  for _, source in ipairs(group) do
    sources[document.citation("", source.address).href] = source
  end
end

local function note(source)
  return document.paragraph({ document.link(("%s %d"):format(source.authors, source.year),
    document.citation("", source.address).href), ": ", document.prose(source.contributes) }, "note")
end

--- Paragraphs with notes on the sources that they cite.
---@param paragraphs table[] from `document.paragraphs`
---@param seen table<string, true> addresses that were cited before; those of notes are added
---@param render fun(tree: any): any makes page nodes of a document
---@return any[] nodes
function M.noted(paragraphs, seen, render)
  return tables.map(paragraphs, function(paragraph)
    local notes = {}
    for _, part in ipairs(paragraph.text) do
      local href = type(part) == "table" and part.kind == "link" and part.href
      if href and sources[href] and not seen[href] then
        seen[href], notes[#notes + 1] = true, note(sources[href])
      end
    end
    return notes[1] and h.div { class = "noted", render(paragraph),
      h.div { class = "notes", render(notes) } } or render(paragraph)
  end)
end

return M
