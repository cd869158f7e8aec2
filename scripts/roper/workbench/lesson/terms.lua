--- The terms of the glossary in the prose of lessons: links to them, and all of them as a document
--- and as a page.
local document = require "roper.text.document"
local glossary = require "roper.workbench.lesson.glossary"
local h = require("roper.text.markup").h
local html = require "roper.text.document.html"
local list_page = require "roper.workbench.lesson.list_page"
local tables = require "roper.base.tables"

local M = {}

local NAME <const>, TITLE <const> = "glossary", "Glossary"

-- The terms by the words that mention them, one or two.
local by_words = {}
for _, term in ipairs(glossary) do
  for _, words in ipairs(term.words or { term.name, term.name .. "s" }) do
    by_words[words] = term
  end
end

-- The identifier of a term on the page.
local function id_of(term)
  return (term.name:gsub(" ", "-"))
end

-- Does a sentence begin after these words?
local function is_beginning(before)
  return before:find '^["(]*$' ~= nil or before:find '[.?!:]["%)]*%s+["(]*$' ~= nil
end

-- The first mention of a term in a text from `at` on: the term, and its first and last byte. Parts
-- of words with a hyphen, such as "Transformer-XL", are not mentions. At the beginning of a
-- sentence, a word can have a capital; elsewhere, that is a name, such as Transformers.
local function mention(text, at)
  for first, word, after in text:gmatch("()(%a[%w]*)()", at) do
    local second, last = text:match("^%s+(%a[%w]*)()", after)
    if word:find "^%u%l" and not by_words[word] and is_beginning(text:sub(1, first - 1)) then
      word = word:gsub("^%u", string.lower)
    end
    local long = second and by_words[word .. " " .. second]
    local term, stop = long or by_words[word], (long and last or after) - 1
    if term and not text:find("^[%-\x80-\xff]", stop + 1)
      and not (first > 1 and text:find("^[%-\x80-\xff]", first - 1)) then
      return term, first, stop
    end
  end
end

local function link(term, text)
  return document.styled("term", document.link(text, ("%s.html#%s"):format(NAME, id_of(term))))
end

-- Adds the parts of a text to prose, with a link at the first mention of each term.
local function add_linked(prose, text, seen)
  local from = 1
  local term, first, last = mention(text, 1)
  while term do
    if not seen[term] then
      seen[term] = true
      prose[#prose + 1] = text:sub(from, first - 1)
      prose[#prose + 1] = link(term, text:sub(first, last))
      from = last + 1
    end
    term, first, last = mention(text, last + 1)
  end
  prose[#prose + 1] = text:sub(from)
end

-- The term that a word in a style is, such as the name of a quantity in its colour.
local function styled_term(part)
  if part.kind == "styled" and type(part.text) == "string" then
    local term, _, last = mention(part.text, 1)
    return last == #part.text and term or nil
  end
end

--- Paragraphs of prose in which the first mention of each term is a link to the glossary's page.
---@param paragraphs table[] from `document.paragraphs`
---@param seen table<table, true> the terms that were mentioned before; those mentioned are added
---@return table[] paragraphs
function M.linked(paragraphs, seen)
  return tables.map(paragraphs, function(paragraph)
    local prose = { kind = "prose" }
    for _, part in ipairs(paragraph.text) do
      if type(part) == "string" then
        add_linked(prose, part, seen)
      else
        local term = styled_term(part)
        prose[#prose + 1] = term and not seen[term] and link(term, part) or part
        if term then
          seen[term] = true
        end
      end
    end
    return tables.merged(paragraph, { text = prose })
  end)
end

-- The first lesson that mentions each term in the text of a step.
local function first_lessons(lessons)
  local found = {}
  for _, lesson in ipairs(lessons) do
    for _, step in ipairs(lesson.steps) do
      local seen = {}
      M.linked(document.paragraphs(step.text), seen)
      for term in pairs(seen) do
        found[term] = found[term] or lesson
      end
    end
  end
  return found
end

-- For each term that lessons mention: the term, and its paragraph.
local function entries(lessons)
  local first = first_lessons(lessons)
  return tables.map(glossary, function(term)
    return first[term] and { term, document.paragraph { document.styled("strong", term.name), ". ",
      document.prose(term.text), document.BREAK, document.styled("about", { "First in ",
        document.code(first[term].name), "." }) } } or nil
  end)
end

--- The terms that lessons mention in the texts of their steps.
---@param lessons table[] in their order
---@return table[]? blocks nil if they mention none
function M.document(lessons)
  local list = tables.map(entries(lessons), function(entry) return entry[2] end)
  return list[1] and { document.heading(TITLE), list }
end

--- Writes the glossary of lessons as the page glossary.html.
---@param lessons table[]
---@param path string the folder
---@param href fun(code: string): string? address of the page of a lesson
---@return table? link to the page, for the index; nil if the lessons mention no term
function M.write(lessons, path, href)
  local list = tables.map(entries(lessons), function(entry)
    return h.div { id = id_of(entry[1]), html.nodes(entry[2], href) }
  end)
  if list[1] then
    list_page.write(path, NAME, TITLE, { html.nodes(document.heading(TITLE)), list })
    return document.paragraph(document.link("Glossary: what the words mean", NAME .. ".html"))
  end
end

return M
