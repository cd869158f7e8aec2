--- The map of the lessons, the index of their pages: a line of the lessons that others build on,
--- with branches where the last of what a lesson needs is met.
local document = require "roper.text.document"
local html = require "roper.text.document.html"
local markup = require "roper.text.markup"
local notation = require "roper.text.notation"
local opening = require "roper.workbench.lesson.opening"
local paths = require "roper.workbench.lesson.path"
local prose = require "roper.workbench.lesson.prose"
local quiz = require "roper.workbench.lesson.quiz"
local svg = require "roper.workbench.plot.svg"
local tables = require "roper.base.tables"
local h = markup.h

local M = {}

local TITLE <const> = "How a language model knows where a word stands"

local DOT <const> = " · "

-- Minutes as text: "2 h 40".
local function duration(minutes)
  return minutes < 60 and ("%d minutes"):format(minutes)
    or ("%d h %02d"):format(minutes // 60, minutes % 60)
end

local function minutes_of(lessons)
  local sum = 0
  for _, lesson in ipairs(lessons) do
    sum = sum + (lesson.minutes or 0)
  end
  return sum
end

--- A picture of a lesson, small and without words.
---@param picture string svg, of which the plot is shown
---@return table node
function M.thumbnail(picture)
  local plot = picture:match "<svg .-(<svg .-)>"
  local function number(name)
    return tonumber(plot:match(("%%f[%%w]%s=\"([%%d.]+)\""):format(name)))
  end
  local shapes = picture:match "^.-<svg .->.-(<svg .*)</svg>%s*$"
  shapes = shapes:gsub("<text.-</text>", ""):gsub("<title>.-</title>", "")
    :gsub('<svg x="[^"]*" y="[^"]*"></svg>', ""):gsub(' data%-[%w-]+="[^"]*"', "")
  return h.span { class = "thumb", h.svg { class = "chart", ["aria-hidden"] = "true",
    viewBox = ("%g %g %g %g"):format(number "x", number "y", number "width", number "height"),
    markup.verbatim(shapes) } }
end

-- A lesson in the map. `o`: its number, the numbers of others by name, pictures by name, and
-- whether it is a branch.
local function card(lesson, o)
  local number = o.numbers[lesson.name]
  local after = tables.map(lesson.needs, function(name, i)
    local other = o.numbers[name]
    return other and { i > 1 and ", " or DOT, i == 1 and "after ",
      h.a { href = "#lesson-" .. other, title = o.titles[name], other } }
  end)
  return h.article { class = o.is_branch and "card branch" or "card", id = "lesson-" .. number,
    ["data-needs"] = table.concat(tables.map(lesson.needs, function(name)
      return o.numbers[name]
    end), " "),
    o.pictures[lesson.name] and M.thumbnail(o.pictures[lesson.name]) or h.span { class = "thumb" },
    h.div { h[o.is_branch and "h4" or "h3"] { h.span { class = "no", number }, " ",
        h.a { class = "go", href = lesson.name .. ".html",
          html.inline(document.prose(lesson.title)) } },
      html.nodes(document.paragraph(document.prose(lesson.summary or lesson.after))),
      h.p { class = "meta", lesson.minutes and duration(lesson.minutes), after,
        h.span { class = "stop" } },
      quiz.progress(lesson) } }
end

-- The stations of the line: each lesson that another needs, with the branches after it. A lesson
-- that needs none and that none needs comes first.
local function stations_of(lessons, numbers)
  local is_needed, stations, by_number = {}, {}, {}
  for _, lesson in ipairs(lessons) do
    for _, name in ipairs(lesson.needs) do
      is_needed[name] = true
    end
  end
  for i, lesson in ipairs(lessons) do
    local last = 0
    for _, name in ipairs(lesson.needs) do
      last = math.max(last, numbers[name] or 0)
    end
    if is_needed[lesson.name] or not by_number[last] then
      by_number[i] = { lesson = lesson, branches = {}, is_express = not is_needed[lesson.name] }
      stations[#stations + 1] = by_number[i]
    else
      table.insert(by_number[last].branches, lesson)
    end
  end
  return stations
end

local function station(found, o)
  local count = #found.branches
  local class = found.is_express and "station express" or count > 2 and "station wide hub"
    or count > 0 and "station wide" or "station"
  return h.li { class = class, card(found.lesson, o),
    count > 0 and h.div { class = "side", h.p { class = "meta from",
      count > 1 and "From here, in any order" or "From here" },
      h.div { class = "branches", tables.map(found.branches, function(lesson)
        return card(lesson, tables.merged(o, { is_branch = true }))
      end) } } }
end

local function ways(lessons, numbers)
  local buttons = tables.map(paths.PATHS, function(path)
    local title, text, names = table.unpack(path)
    local chosen = tables.map(names, function(name) return lessons[numbers[name]] end)
    return #chosen == #names and h.button { type = "button", ["aria-pressed"] = "false",
      ["data-path"] = table.concat(tables.map(names, function(name) return numbers[name] end), " "),
      h.b { title }, h.em { #chosen == 1 and "1 lesson" or ("%d lessons%s%s"):format(#chosen, DOT,
        duration(minutes_of(chosen))) }, h.span { text } } or nil
  end)
  return buttons[1] and h.section { class = "ways", ["aria-labelledby"] = "ways",
    h.h2 { id = "ways", "Three ways through the lessons" }, h.div { class = "paths", buttons },
    h.p { id = "now", role = "status",
      "Or follow the line. Each lesson needs only those above it." } }
end

--- The page of the map.
---@param lessons table[] in their order
---@param links table? links to other pages, as documents
---@param pictures table<string, string> svg by the name of a lesson
---@return string html
function M.page(lessons, links, pictures)
  local numbers, titles = {}, {}
  for i, lesson in ipairs(lessons) do
    numbers[lesson.name], titles[lesson.name] = i, prose.line(lesson.title)
  end
  local o = { numbers = numbers, titles = titles, pictures = pictures }
  local style, script = quiz.assets()
  local figure, opening_style, opening_script
  if numbers[opening.LESSON] then
    figure, opening_style, opening_script = opening.figure()
  end
  return html.page(TITLE, { h.main { class = "map-page", html.nodes { document.heading(TITLE),
    document.paragraph("Lessons on rotary position encodings, from school trigonometry to a model "
      .. "that you train yourself. You drag, predict and change the code, and every line with a "
      .. "✓ was checked when these pages were made.", "lead") }, figure,
    h.div { class = "map", ways(lessons, numbers), h.ol { class = "route",
      tables.map(stations_of(lessons, numbers), function(one) return station(one, o) end) } },
    h.footer { class = "foot", h.p { ("%s lessons take about %s."):format(#lessons,
      duration(minutes_of(lessons))), " You need sine and cosine from school. A number after ",
      "“after” says which lesson comes before. To try a step yourself, press Run below its code, ",
      "if the page has this button. In a terminal, ",
      h.code { "./roper lesson ten-minutes" }, " is the same lesson." },
      html.nodes { links or false, notation.document(true) } } },
    script, opening_script, h.script { markup.asset "workbench/lesson/map.js" } },
    { style = { opening_style or svg.style(), style, markup.asset "workbench/lesson/map.css" },
      is_guarded = true })
end

return M
