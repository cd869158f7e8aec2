--- The sources that lessons cite, as a document for a terminal, as a page, and for BibTeX.
local bibliography = require "roper.workbench.lesson.bibliography"
local bibtex = require "roper.workbench.lesson.bibtex"
local document = require "roper.text.document"
local html = require "roper.text.document.html"
local list_page = require "roper.workbench.lesson.list_page"
local tables = require "roper.base.tables"

local M = {}

local TITLE <const> = "Sources"

-- Adds the addresses that the texts in a value link to, to a set.
local function add_links(value, found)
  if type(value) == "string" then
    for _, part in ipairs(document.prose(value)) do
      if type(part) == "table" and part.kind == "link" then
        found[part.href] = true
      end
    end
  elseif type(value) == "table" then
    for _, one in pairs(value) do
      add_links(one, found)
    end
  end
end

--- The addresses that a lesson, or a list of lessons, links to.
---@param lesson table
---@return table<string, true> links
function M.links(lesson)
  local found = {}
  add_links(lesson, found)
  return found
end

local function href_of(source)
  return document.citation(source.title, source.address).href
end

--- The sources of the bibliography that lessons cite, and roper itself, as entries for BibTeX.
---@param lessons table[]
---@return string text
function M.bibtex(lessons)
  local cited, list = M.links(lessons), {}
  for _, group in ipairs(bibliography) do
    for _, source in ipairs(group) do
      list[#list + 1] = cited[href_of(source)] and source or nil
    end
  end
  return bibtex.text(list)
end

-- A paragraph on a source, with the names of the lessons that cite it; nil if none does.
local function entry(source, lessons)
  local href = href_of(source)
  local citing = tables.map(lessons, function(lesson)
    return lesson.links[href] and { ", ", document.code(lesson.name) } or nil
  end)
  if citing[1] then
    citing[1][1] = "Cited in "
    return document.paragraph { ("%s %d. "):format(source.authors, source.year),
      document.link(document.prose(source.title, "code"), href, source.address), document.BREAK,
      document.prose(source.contributes), document.BREAK,
      document.styled("about", { citing, "." }) }
  end
end

--- The bibliography of lessons: the sources that they cite, with the names of these lessons.
---@param lessons table[]
---@return table[]? blocks nil if they cite none
function M.document(lessons)
  local cited = tables.map(lessons, function(lesson)
    return { name = lesson.name, links = M.links(lesson) }
  end)
  local groups = tables.map(bibliography, function(group)
    local entries = tables.map(group, function(source) return entry(source, cited) end)
    return entries[1] and { document.heading(group.title, 2), entries }
  end)
  return groups[1] and { document.heading(TITLE), groups, document.heading("How to cite", 2),
    document.paragraph { "All of these sources, and roper itself, for BibTeX: ",
      document.code "./roper lesson sources --bibtex", "." } }
end

--- Writes the bibliography of lessons as the page sources.html.
---@param lessons table[]
---@param path string the folder
---@param href fun(code: string): string? address of the page of a lesson
---@return table? link to the page, for the index; nil if the lessons cite no source
function M.write(lessons, path, href)
  local found = M.document(lessons)
  if found then
    local entries = document.details("Entries for BibTeX", document.listing(M.bibtex(lessons)))
    list_page.write(path, "sources", TITLE, html.nodes({ found, entries }, href))
    return document.paragraph(document.link("Sources: papers, posts and programs", "sources.html"))
  end
end

return M
