--- The slides of a class: one set, in the order of the plan. A slide with the time and the steps
--- opens each part; its notes say what the class does. Code and checks are on the lessons' pages.
local document = require "roper.text.document"
local paths = require "roper.workbench.lesson.path"
local slides = require "roper.workbench.lesson.slides"
local steps = require "roper.workbench.lesson.step"
local tables = require "roper.base.tables"

local M = {}

-- The slide that opens a part.
local function opening(row, number, lesson, at)
  return slides.slide(document.heading(document.prose(lesson.title)),
    { document.paragraph(("%s to %s"):format(paths.clock(at), paths.clock(at + row.minutes))),
      document.list(tables.map(row.steps, function(step)
        return document.prose(lesson.steps[step].title)
      end)) },
    { id = "part-" .. number, class = "cover", notes = { document.paragraphs(row.does),
      row.late and document.paragraphs("If it is late: " .. row.late) } })
end

--- The page.
---@param title string
---@param rows PlanRow[]
---@param lessons table<string, table> by name
---@return string html
function M.page(title, rows, lessons)
  local at, all, scopes, count = 0, {}, {}, {} -- count: of the steps of a lesson that were run
  local chosen = paths.lessons(rows)
  local is_in_kit = tables.set(chosen)
  local function address(name)
    return is_in_kit[name] and ("lessons/%s.html"):format(name)
  end
  for number, row in ipairs(rows) do
    local lesson, name = lessons[row[1]], row[1]
    scopes[name], count[name] = scopes[name] or steps.scope(), count[name] or 0
    all[#all + 1], at = opening(row, number, lesson, at), at + row.minutes
    for _, step in ipairs(row.steps) do
      for before = count[name] + 1, step - 1 do
        steps.prepare(lesson.steps[before], scopes[name])
      end
      count[name] = step
      all[#all + 1] = slides.of_step(lesson.steps[step], scopes[name],
        { address = address, is_talk = true })
    end
  end
  return slides.deck(title, all, tables.map(chosen, function(name) return lessons[name] end))
end

return M
