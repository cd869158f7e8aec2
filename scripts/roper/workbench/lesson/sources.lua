--- The sources that lessons cite, as a document for a terminal and as a page.
local bibliography = require "roper.workbench.lesson.bibliography"
local document = require "roper.text.document"
local files = require "roper.system.file"
local h = require("roper.text.markup").h
local html = require "roper.text.document.html"
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

--- The addresses that a lesson links to.
---@param lesson table
---@return table<string, true> links
function M.links(lesson)
  local found = {}
  add_links(lesson, found)
  return found
end

-- A paragraph on a source, with the names of the lessons that cite it; nil if none does.
local function entry(source, lessons)
  local href = document.citation(source.title, source.address).href
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
  return groups[1] and { document.heading(TITLE), groups }
end

--- Writes the bibliography of lessons as the page sources.html.
---@param lessons table[]
---@param path string the folder
---@param href fun(code: string): string? address of the page of a lesson
---@return table? link to the page, for the index; nil if the lessons cite no source
function M.write(lessons, path, href)
  local found = M.document(lessons)
  if found then
    local index = h.header { h.nav { h.a { href = "index.html", "All lessons" } } }
    files.write(path .. "/sources.html", html.page(TITLE, { index,
      h.main { html.nodes(found, href) } }))
    return document.paragraph(document.link("Sources: papers, posts and programs", "sources.html"))
  end
end

return M
