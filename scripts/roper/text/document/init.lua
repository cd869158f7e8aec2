--- Documents: trees that are built once by these functions and rendered for a terminal
--- (`text/document/terminal`) and for pages (`text/document/html`).
---
---     d = require "roper.text.document"
---     tree = { d.heading "Runs", d.paragraph { "All of ", d.code(folder), "." },
---       d.table { head = { "run", "loss" }, rows = { { name, "0.31" } } } }
---     io.stdout:write(terminal.render(tree))        -- roper.text.document.terminal
---     files.write(path, html.page("Runs", tree))    -- roper.text.document.html
---
--- A tree is a block or a list of trees; false and nil are left out. Text is a string or number,
--- an inline node, or a list of them. Strings are literal and the renderers escape them, so text
--- from files and users is safe. Only `prose` interprets a notation; use it for the library's own
--- text. An element of `text/markup` can be anywhere in a tree; only pages show it.
local tables = require "roper.base.tables"

local M = {}

-- Patterns of the parts of prose that are not plain text, by kind.
local FORMS <const> = {
  code = "()`([^`]*)`()",
  math = "()%$([^%s$][^$]*)%$()",
  link = "()(%[[^%]]+%]%(%a+:[^)]*%))()",
}

-- The first such part at or after an index: its kind, first byte, content and the byte after it.
local function special(text, at, only)
  local found
  for kind, form in pairs(only and { [only] = FORMS[only] } or FORMS) do
    local first, inner, after = text:match(form, at)
    if first and (not found or first < found.first) then
      found = { kind = kind, first = first, inner = inner, after = after }
    end
  end
  return found
end

--- Code in a line of text.
---@param text string
---@param href string? address that pages link to
---@return table inline
function M.code(text, href)
  return { kind = "code", text = text, href = href }
end

--- A link.
---@param text any
---@param href string address
---@param note string? shown after the text in a terminal, which has no links
---@return table inline
function M.link(text, href, note)
  return { kind = "link", text = text, href = href, note = note }
end

--- A formula in a line of text, in the notation of formulas (`?roper.lesson`).
---@param source string
---@return table inline
function M.math(source)
  return { kind = "math", text = source }
end

--- Text in a style. A "name" is text from outside; pages isolate its writing direction.
---@param style string strong, emphasis, dim, good, bad or name; others are classes of pages
---@param text any
---@return table inline
function M.styled(style, text)
  return { kind = "styled", style = style, text = text }
end

--- A line break in a paragraph.
M.BREAK = { kind = "break" }

--- A link to a source. A terminal shows only the number of a paper after the text.
---
--- Errors: an address of another form.
---@param text any
---@param address string a paper, "arXiv:2104.09864", or a page, "https://kexue.fm/archives/10862"
---@return table inline
function M.citation(text, address)
  local number = address:match "^arXiv:(.*)$"
  if number and not number:find "^%d%d%d%d%.%d%d%d%d%d?$" then
    error("expected the number of a paper such as arXiv:2104.09864, got " .. address, 0)
  elseif not number and not address:find "^https://[%w-]+%.[%w/._~%%#?=&+-]+$" then
    error("expected arXiv:NUMBER or https://HOST/PATH, got " .. address, 0)
  end
  return M.link(text, number and "https://arxiv.org/abs/" .. number or address, number and address)
end

--- Text with `code` in backquotes, formulas, `$R_{n-m} v_n$`, and links to papers and pages,
--- `[Su et al. 2021](arXiv:2104.09864)`, `[Su 2025](https://kexue.fm/archives/10862)`. Pages show
--- its minus signs as −, not as hyphens.
---
--- Errors: those of `citation`. Errors in formulas are raised when it is rendered.
---@param text string
---@param only "code"|nil the one notation to read; by default all
---@return table inline
function M.prose(text, only)
  local node, at = { kind = "prose" }, 1
  text = text:gsub("\n +", "\n")
  repeat
    local found = special(text, at, only)
    node[#node + 1] = text:sub(at, found and found.first - 1)
    if found then
      node[#node + 1] = found.kind == "link" and M.citation(found.inner:match "^%[(.*)%]%((.*)%)$")
        or M[found.kind]((found.inner:gsub("%s+", " ")))
      at = found.after
    end
  until not found
  return node
end

--- Paragraphs of prose, separated by empty lines.
---@param text string
---@return table[] blocks
function M.paragraphs(text)
  local list = {}
  for paragraph in (text .. "\n\n"):gmatch "(.-)\n%s*\n" do
    local words = paragraph:match "%S.*"
    list[#list + 1] = words and M.paragraph(M.prose(words)) or nil
  end
  return list
end

--- A heading.
---@param text any
---@param level 1|2|3|nil 1 by default
---@return table block
function M.heading(text, level)
  return { kind = "heading", text = text, level = level or 1 }
end

--- A paragraph, wrapped between words.
---@param text any
---@param class string? its class on pages
---@return table block
function M.paragraph(text, class)
  return { kind = "paragraph", text = text, class = class }
end

--- A displayed formula.
---@param source string lines in the notation of formulas
---@return table block
function M.formula(source)
  return { kind = "formula", text = source }
end

--- Preformatted lines.
---@param text string
---@param class string? its class on pages; "code" by default
---@return table block
function M.listing(text, class)
  return { kind = "listing", text = text, class = class or "code" }
end

--- Lines of Lua with their output. Pages keep the lines in an attribute.
---@param pieces {source: string, output: string?}[]
---@param indent integer? spaces before it in a terminal; 0 by default
---@return table|false block
function M.transcript(pieces, indent)
  return pieces[1] ~= nil and { kind = "transcript", pieces = pieces, indent = indent or 0 }
end

--- The result of a check: a line with ✓ or ✗.
---@param holds boolean
---@param text any
---@param detail any? shown dim after the text
---@return table block
function M.check(holds, text, detail)
  return { kind = "check", holds = holds, text = text, detail = detail, class = "check" }
end

--- The result of a condition in Lua. Pages keep its source in an attribute.
---@param holds boolean
---@param source string
---@param detail any? shown dim after the source
---@return table block
function M.claim(holds, source, detail)
  return { kind = "check", holds = holds, text = source, detail = detail, class = "claim",
    source = source }
end

---@class DocumentTable
---@field head? any[] text of the head of each column
---@field rows any[][] texts
---@field sides? string = "lr"; a letter per column for its alignment, l, r or c; the last one
---   applies to all further columns
---@field shorten? integer[] columns that are cut with an ellipsis if a terminal is too narrow;
---   heads and other left-aligned columns wrap between words
---@field drop? integer[] columns that are left out, in this order, if that does not suffice;
---   after them, the last columns. A line below the table names them
---@field caption? any shown above the table
---@field class? string its class on pages
---@field indent? integer = 2; spaces before it in a terminal

--- A table.
---@param options DocumentTable
---@return table block
function M.table(options)
  return tables.merged(options, { kind = "table" })
end

--- A picture.
---@param draw fun(format: "text"|"svg"): any returns lines, or SVG as text or as an element
---@param caption any?
---@param source string? the Lua that draws it, which pages keep in an attribute
---@return table block
function M.figure(draw, caption, source)
  return { kind = "figure", draw = draw, caption = caption, source = source }
end

--- Blocks that a page folds below a summary. A terminal shows them too, unless the option
--- `is_folded` is set.
---@param summary any text, or a check
---@param body any a tree
---@param class string? its class on pages
---@return table block
function M.details(summary, body, class)
  return { kind = "details", summary = summary, body = body, class = class }
end

--- A list of texts.
---@param items any[]
---@param marks "-"|"1"|"a"|nil marks of the items; "-" by default
---@param class string? its class on pages
---@return table block
function M.list(items, marks, class)
  return { kind = "list", items = items, marks = marks or "-", class = class }
end

--- Names with descriptions beside them: rows {name, description, nested rows or nil}.
---@param rows any[][]
---@param is_short boolean? whether a terminal cuts descriptions to one line
---@return table block
function M.definitions(rows, is_short)
  return { kind = "definitions", rows = rows, is_short = is_short }
end

return M
