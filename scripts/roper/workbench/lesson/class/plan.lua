--- The plan of a class: when what is done, the questions to put, and what to leave out if it is
--- late.
local bank = require "roper.workbench.lesson.class.bank"
local document = require "roper.text.document"
local html = require "roper.text.document.html"
local h = require("roper.text.markup").h
local kit_page = require "roper.workbench.lesson.class.kit_page"
local prose = require "roper.workbench.lesson.prose"
local paths = require "roper.workbench.lesson.path"
local tables = require "roper.base.tables"

local M = {}

-- "step 1", "steps 2 to 4", "steps 5 and 6"
local function steps_of(row)
  local first, last = row.steps[1], row.steps[#row.steps]
  return first == last and "step " .. first
    or ("steps %d %s %d"):format(first, #row.steps == 2 and "and" or "to", last)
end

local function inline(text)
  return html.inline(document.prose((text:gsub("%s+", " "))))
end

-- The title and the steps of a row.
local function what(row, lessons)
  return ("%s, %s"):format(prose.line(lessons[row[1]].title), steps_of(row))
end

-- Where its lesson and its slides are.
local function links(row, number)
  return h.p { class = "small", h.a { href = "slides.html#part-" .. number, "Slides" }, " · ",
    h.a { href = ("lessons/%s.html#step-%d"):format(row[1], row.steps[1]), "Lesson" } }
end

-- The questions of the steps of a row.
local function put(row, items)
  local wanted = tables.set(row.steps)
  local found = tables.map(items[row[1]] or {}, function(item)
    return wanted[item.number] and h.li { h.b { item.label, " " },
      inline(item.question.question), h.span { class = "answer", "Answer: ",
      inline(bank.brief(item)) } } or nil
  end)
  return found[1] and { h.h3 { "Questions to put" }, h.ul { class = "put", found } }
end

--- The page of the plan.
---@param rows PlanRow[]
---@param lessons table<string, table> by name
---@return string html
function M.page(rows, lessons)
  local items, chosen = {}, tables.map(paths.lessons(rows), function(name) return lessons[name] end)
  bank.each(chosen, function(item)
    local name = item.lesson.name
    items[name] = items[name] or {}
    item.number = tonumber(item.label:match "^%d+")
    table.insert(items[name], item)
  end)
  local overview, sections, at, saved = {}, {}, 0, 0
  for i, row in ipairs(rows) do
    overview[i] = h.tr { h.th { scope = "row", class = "time", paths.clock(at) },
      h.td { class = "time", ("%d min"):format(row.minutes) },
      h.td { h.a { href = "#part-" .. i, what(row, lessons) } },
      h.td { class = "time", row.saves and ("%d min"):format(row.saves) or "" } }
    sections[i] = h.section { id = "part-" .. i,
      h.h2 { h.span { class = "time", ("%s to %s "):format(paths.clock(at),
        paths.clock(at + row.minutes)) },
        what(row, lessons) },
      links(row, i), h.p { inline(row.does) }, put(row, items),
      row.late and h.p { class = "late", h.b { "If it is late: " }, inline(row.late) } or nil }
    at, saved = at + row.minutes, saved + (row.saves or 0)
  end
  return kit_page.html(("Plan of %d minutes"):format(at), {
    h.p { "Before: print ", h.a { href = "handout.html", "the handout" }, " for each student, ",
      "give everyone ", h.a { href = "answers.html", "the page for answers" }, " and the folder ",
      h.code { "lessons" }, ", and open the slides; N shows their notes. Nothing needs a network ",
      "or a terminal." },
    h.table { h.thead { h.tr { h.th { scope = "col", "At" }, h.th { scope = "col", "For" },
      h.th { scope = "col", "What" }, h.th { scope = "col", "Late: saves" } } },
      h.tbody { overview } },
    saved > 0 and h.p { ("What can be left out saves %d minutes in all."):format(saved) } or nil,
    sections })
end

return M
