--- Lessons as pages that need nothing else: one a lesson, and an index of all.
local escape = require("roper.base.markup").escape
local figures = require "roper.lesson.figure"
local files = require "roper.base.file"
local identity_report = require "roper.identity.report"
local steps = require "roper.lesson.step"

local M = {}

local STYLE <const> = [[
:root { color-scheme: light dark; --ink: #1c1f23; --paper: #fff; --soft: #f3f4f6; --line: #d5d9de;
  --link: #0b5cad; --good: #1a7f37; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e6ea; --paper: #15181c; --soft: #20252b;
  --line: #3a414a; --link: #7cb7ff; --good: #5cc97a; --bad: #ff8a80; } }
body { margin: 0 auto; max-width: 44rem; padding: 1rem 1.2rem 4rem; background: var(--paper);
  color: var(--ink); font: 17px/1.6 Georgia, 'DejaVu Serif', serif; }
h1 { font-size: 1.7rem; line-height: 1.25; } h2 { font-size: 1.25rem; margin: 0 0 .6rem; }
a { color: var(--link); } section { border-top: 1px solid var(--line); padding-top: 1.6rem;
  margin-top: 1.8rem; }
pre, code, table, .claim { font-family: 'DejaVu Sans Mono', Menlo, Consolas, monospace; }
pre, table, .claim { font-size: .76rem; line-height: 1.55; }
code { font-size: .85em; background: var(--soft); border-radius: 3px; padding: .05em .25em; }
pre { overflow-x: auto; margin: .9rem 0; padding: .7rem .9rem; background: var(--soft);
  border-radius: 6px; } pre b { color: var(--link); font-weight: 600; }
pre.formula { background: none; padding: 0 0 0 1.2rem; font-size: .9rem;
  border-left: 3px solid var(--line); border-radius: 0; }
.claim { margin: .4rem 0; overflow-wrap: anywhere; } .claim span { opacity: .75; }
.good { color: var(--good); } .bad { color: var(--bad); }
.table { overflow-x: auto; } table { border-collapse: collapse; margin: .4rem 0 .8rem; }
th, td { padding: .15rem .7rem .15rem 0; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } th { font-weight: normal; opacity: .75; }
.check { font-size: .9rem; margin: .3rem 0; }
figure { margin: 1.2rem 0; } figure .chart { max-width: 100%; height: auto; }
figure .paper { fill: none; }
figcaption, nav, .about { font-size: .9rem; opacity: .85; }
details { margin: 1rem 0; } summary { cursor: pointer; }
nav { display: flex; justify-content: space-between; gap: 1rem; }
ol.lessons li { margin: .7rem 0; }
@media (max-width: 32rem) { pre.code, pre.identity { white-space: pre-wrap;
  overflow-wrap: anywhere; } pre.formula { font-size: .68rem; padding-left: .6rem; }
  table { font-size: .62rem; } th, td { padding-right: .4rem; } }
]]

local function page(title, body)
  return table.concat({ "<!doctype html>", '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    "<title>" .. escape(title) .. "</title>", "<style>" .. STYLE .. "</style></head><body>", body,
    "</body></html>\n" }, "\n")
end

-- Minus and equals signs, which no line break may part from what they belong to.
local function typeset(text)
  local signs = { ["-"] = "\u{A0}−\u{A0}", ["="] = "\u{A0}=\u{A0}" }
  return (text:gsub("%s([-=])%s+", signs):gsub("%f[%S]%-(%w)", "−%1"):gsub("%(%-", "(−"))
end

-- Text with `code` in backticks.
local function inline(text)
  return (typeset(" " .. escape(text)):sub(2):gsub("`([^`]*)`", function(code)
    return "<code>" .. code:gsub("−", "-"):gsub("\u{A0}", " ") .. "</code>"
  end))
end

local function paragraphs(text)
  local list = {}
  for paragraph in (steps.unindented(text) .. "\n\n"):gmatch "(.-)\n%s*\n" do
    list[#list + 1] = "<p>" .. inline(paragraph) .. "</p>"
  end
  return table.concat(list, "\n")
end

local function transcript(pieces)
  local lines = {}
  for i, piece in ipairs(pieces) do
    lines[i] = "<b>&gt; " .. escape(piece.source):gsub("\n", "\n  ") .. "</b>\n"
      .. (piece.output and escape(piece.output) .. "\n" or "")
  end
  return '<pre class="code">' .. table.concat(lines) .. "</pre>"
end

local function mark(holds)
  return holds and '<b class="good">✓</b> ' or '<b class="bad">✗</b> '
end

local function residuals(rows)
  local lines = {}
  for i, row in ipairs(rows) do
    local tag = i == 1 and "th" or "td"
    for j, cell in ipairs(row) do
      row[j] = ("<%s>%s</%s>"):format(tag, escape(cell), tag)
    end
    lines[i] = "<tr>" .. table.concat(row) .. "</tr>"
  end
  return '<div class="table"><table>' .. table.concat(lines, "\n") .. "</table></div>"
end

local function identity(found)
  local parts = {
    '<pre class="identity">' .. escape(identity_report.equation(found.sides)) .. "</pre>",
    '<p class="check">Residuals on random tensors:</p>', residuals(identity_report.rows(found)),
    '<p class="check">' .. mark(found.is_small and found.exact.holds) .. "Exactly: "
      .. inline(identity_report.exact(found.exact)) .. ".</p>",
  }
  for _, wrong in ipairs(found.wrong) do
    parts[#parts + 1] = '<pre class="identity">' .. escape(identity_report.equation(wrong.sides))
      .. "</pre>"
    parts[#parts + 1] = ('<p class="check">%s%s%s: %s.</p>'):format(mark(wrong.is_refuted),
      wrong.is_refuted and "Refuted, as it should be" or "Not refuted",
      wrong.source and escape(" (" .. wrong.source .. ")") or "",
      inline(identity_report.counterexample(wrong.counterexample)))
  end
  return table.concat(parts, "\n")
end

local function section(number, step, result, scope)
  local parts = { ('<section id="step-%d">\n<h2>%d. %s</h2>'):format(number, number,
    inline(step.title)), paragraphs(step.text) }
  local function add(form, ...)
    parts[#parts + 1] = form:format(...)
  end
  if step.formula then
    add('<pre class="formula">%s</pre>', escape(steps.unindented(step.formula)))
  end
  if #result.transcript > 0 then
    parts[#parts + 1] = transcript(result.transcript)
  end
  for _, claim in ipairs(result.claims) do
    add('<p class="claim">%s%s <span>here %s</span></p>', mark(claim.holds), escape(claim.text),
      escape(claim.value))
  end
  if result.identity then
    parts[#parts + 1] = identity(result.identity)
  end
  if step.figure then
    local picture = figures.draw(step.figure, scope, "svg"):gsub("^<%?xml.-%?>%s*", "")
    add("<figure>%s<figcaption>%s</figcaption></figure>", picture, inline(step.figure.caption))
  end
  if step.exercise then
    add("<p><em>Try it.</em> %s</p>\n<details><summary>Answer</summary>%s</details>",
      inline(steps.unindented(step.exercise.question)), paragraphs(step.exercise.answer))
  end
  parts[#parts + 1] = "</section>"
  return table.concat(parts, "\n")
end

-- Links to the lessons before and after.
local function navigation(lessons, index)
  local function link(lesson, form)
    return lesson and ('<a href="%s.html">' .. form .. "</a>"):format(lesson.name,
      lesson.name) or "<span></span>"
  end
  return "<nav>" .. link(lessons[index - 1], "← %s") .. '<a href="index.html">All lessons</a>'
    .. link(lessons[index + 1], "%s →") .. "</nav>"
end

local function lesson_page(lessons, index)
  local lesson, scope = lessons[index], steps.scope()
  local parts = { navigation(lessons, index), "<h1>" .. inline(lesson.title) .. "</h1>",
    '<p class="about">Before: ' .. inline(lesson.before) .. "<br>After: " .. inline(lesson.after)
      .. "</p>" }
  for number, step in ipairs(lesson.steps) do
    parts[#parts + 1] = section(number, step, steps.run(step, scope), scope)
  end
  parts[#parts + 1] = "<section>" .. navigation(lessons, index) .. "</section>"
  return page(lesson.title, table.concat(parts, "\n"))
end

local function index_page(lessons)
  local items = {}
  for i, lesson in ipairs(lessons) do
    items[i] = ('<li><a href="%s.html">%s</a><br><span class="about">%s</span></li>'):format(
      lesson.name, inline(lesson.title), inline(lesson.after))
  end
  return page("Rotary position encodings, step by step",
    "<h1>Rotary position encodings, step by step</h1>\n<p>Each lesson can be followed with school "
    .. "trigonometry and the one before it. Each line with a ✓ was checked when these pages were "
    .. "written; at the machine, <code>./roper lesson NAME</code> lets you try each step "
    .. 'yourself.</p>\n<ol class="lessons">\n' .. table.concat(items, "\n") .. "\n</ol>")
end

--- Write lessons as pages.
---@param lessons table[] in their order
---@param path string of a folder, made where it is missing
---@return string index path of the page to begin with
function M.write(lessons, path)
  files.make(path)
  for i, lesson in ipairs(lessons) do
    files.write(("%s/%s.html"):format(path, lesson.name), lesson_page(lessons, i))
  end
  local index = path .. "/index.html"
  files.write(index, index_page(lessons))
  return index
end

return M
