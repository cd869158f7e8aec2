--- Lessons: their form, and where they are. A lesson is a file of scripts/lessons that returns
--- `roper.lesson { ... }`; it is found by being there.
local code = require "roper.base.code"
local files = require "roper.base.file"
local options_of = require "roper.base.options"
local formulas = require "roper.lesson.formula.parse"
local play = require "roper.lesson.play"
local proses = require "roper.lesson.prose"
local questions = require "roper.lesson.question"
local steps = require "roper.lesson.step"
local suggest = require "roper.base.suggest"

local M = {}

local LESSON <const> = { order = "integer", title = "string", before = "string",
  after = "string", minutes = "size?", needs = { "table", {} }, notation = { "table", {} },
  given = "table?", steps = "table" }
local STEP <const> = { title = "string", text = "string", formula = "string?", code = "string?",
  claims = { "table", {} }, identity = "table?", figure = "table?", predict = "table?",
  exercise = "table?" }
local FIGURE <const> = { caption = "string", draw = "string", claims = { "table", {} },
  play = "table?" }

local reading -- the file that is to hand its lesson over: {path, text, lesson}

-- Where a table stands in that file, by the longest of its texts: "FILE:LINE: ".
local function place_of(given)
  local longest = ""
  for _, text in pairs(reading and type(given) == "table" and given or {}) do
    if type(text) == "string" and (#text > #longest or #text == #longest and text < longest) then
      longest = text
    end
  end
  local at = longest ~= "" and reading.text:find(longest, 1, true)
  local line = at and select(2, reading.text:sub(1, at):gsub("\n", "")) + 1
  return line and ("%s:%d: "):format(reading.path, line) or ""
end

-- A claim as {text, instead = {from, to}}; `from` is in the code, which messages call by its name.
local function check_claim(where, claim, name, source)
  local text, instead
  if type(claim) == "table" then
    text, instead = claim[1], claim.instead
  end
  if type(text) ~= "string" or type(instead) ~= "table" or type(instead[2]) ~= "string" then
    error(where .. ": expected {\"claim\", instead = {\"code\", \"broken code\"}}", 0)
  elseif not source:find(tostring(instead[1]), 1, true) then
    error(("%s: instead: %s has no '%s'"):format(where, name, tostring(instead[1])), 0)
  end
  return { text = text, instead = instead }
end

local function check_figure(where, given)
  local figure = options_of.check(where, given, FIGURE)
  proses.check(where .. ", caption", figure.caption)
  if #figure.claims == 0 then
    error(where .. ": expected claims of the numbers that it draws, got none", 0)
  end
  for i, claim in ipairs(figure.claims) do
    figure.claims[i] = check_claim(("%s, claim %d"):format(where, i), claim, "draw", figure.draw)
  end
  figure.play = figure.play and play.check(where .. ", play", figure.play)
  proses.check(where .. ", play, caption", figure.play and figure.play.caption or "")
  return figure
end

local function check_step(where, given, lesson)
  local step = options_of.check(where, given, STEP)
  proses.check(where .. ", title", step.title)
  proses.check(where .. ", text", step.text)
  proses.check(where .. ", formula", step.formula or "", formulas.lines)
  if step.identity and not step.identity.given then
    step.identity.given = lesson.given
  end
  for i, claim in ipairs(step.claims) do
    step.claims[i] = check_claim(("%s, claim %d"):format(where, i), claim, "the code",
      step.code or "")
  end
  if step.figure then
    step.figure = check_figure(where .. ", figure", step.figure)
  end
  step.predict = questions.all(where .. ", predict", step.predict)
  step.exercise = questions.all(where .. ", exercise", step.exercise)
  for i, question in ipairs(step.predict) do
    if question.kind == "open" then
      error(("%s, predict %d: expected choices and expect, expect, or check and sample"):format(
        where, i), 0)
    end
  end
  return step
end

-- What the lesson needs, and its notation: names, and pairs of a formula and what it stands for.
local function check_head(where, lesson)
  for i, name in ipairs(lesson.needs) do
    if type(name) ~= "string" then
      error(("%s, needs %d: expected the name of a lesson, got %s"):format(where, i,
        options_of.shown(name)), 0)
    end
  end
  for i, row in ipairs(lesson.notation) do
    if type(row) ~= "table" or type(row[1]) ~= "string" or type(row[2]) ~= "string" then
      error(('%s, notation %d: expected {"formula", "what it stands for"}'):format(where, i), 0)
    end
    proses.check(("%s, notation %d"):format(where, i), row[1], formulas.lines)
    proses.check(("%s, notation %d"):format(where, i), row[2])
  end
  for _, name in ipairs { "title", "before", "after" } do
    proses.check(("%s, %s"):format(where, name), lesson[name])
  end
end

-- The lesson, checked; steps that are none are errors.
local function checked(given)
  local lesson = options_of.check(place_of(given) .. "lesson", given, LESSON)
  check_head(place_of(given) .. "lesson", lesson)
  local list = {}
  for i, step in ipairs(lesson.steps) do
    list[i] = check_step(("%slesson: step %d"):format(place_of(step), i), step, lesson)
  end
  if #list == 0 then
    error(place_of(given) .. "lesson: expected at least one step", 0)
  end
  lesson.steps = list
  return lesson
end

---@class Lesson
---@field order integer its place among the lessons
---@field title string
---@field before string what the learner can do before it
---@field after string what the learner can do after it
---@field minutes? integer that it takes
---@field needs? string[] = {}; the lessons that it builds on, by their names
---@field notation? string[][] = {}; {"R_m", "the turn by position m"}: a formula, and in prose what
---   it stands for
---@field given? table<string, string> what names stand for in identities that do not say it
---@field steps LessonStep[]

---@class LessonStep
---@field title string
---@field text string paragraphs of prose
---@field formula? string lines in the notation of formulas, shown by themselves
---@field code? string Lua, run and shown as if typed, with the variables of the steps before; in
---   none of these is a name that is a word at the lesson's prompt, such as again
---@field claims? table[] = {}; each {"Lua that is true", instead = {"code", "other code"}}: with
---   the other code in place of the first the claim must fail, or it would prove nothing
---@field identity? IdentityOptions
---@field figure? LessonFigure
---@field predict? LessonQuestion|LessonQuestion[] asked before the code, the claims and the figure
---   are shown; none of them open. The code is run unseen: it should call no `print`
---@field exercise? LessonQuestion|LessonQuestion[] asked after them

---@class LessonQuestion a choice, a number, a line of Lua, or open: with neither expect nor check
---@field question string prose, as the answer, the choices and the hints
---@field answer string shown afterwards: why
---@field choices? string[] answered by number or letter; by letter alone where one is a number
---@field expect? integer|string the number of the right choice; or Lua that gives a number, of the
---   variables after the step's code was run
---@field within? number = 0.01; so far off may a number be, as a share of the expected one; 1e-9 is
---   always allowed
---@field check? string Lua that is true where the line of an answer is right: of `it`, its value,
---   and the variables that it set
---@field sample? string a right line
---@field hints? table[]|string[] each {"Lua of `it`, the wrong answer (the number of a choice)",
---   "hint where that is true"}, or the hint for any other; one such at least unless it is open

---@class LessonFigure
---@field caption string what to see in it
---@field draw string Lua that draws with the step's variables, such as
---   "y = cosines(8) return plot.line(y, {format = format})"; what is not local is for the claims
---@field claims table[] one at least, of the numbers that are drawn: {"y[1] == 1", instead =
---   {"cosines(8)", "cosines(9)"}}; with the other code in draw the claim must fail, and the
---   picture be another
---@field play? LessonPlay what pages show in its place where scripts run

--- A lesson. The title and other texts are prose: `code` in backticks (the name of a lesson is a
--- link on pages), `$R_{i-n} v_i$` for a formula in the line, and for a paper
--- `[Su et al. 2021](arXiv:2104.09864)`.
---
--- Formulas are typed as they are read, `Σ_i a_{n,i} R_{i-n} v_i`. What follows `_` and `^` is an
--- index or a power: one run of letters and digits, or a group in `{...}` or `(...)`; those of
--- Unicode do as well, `v⁽¹⁾`, `θ₁`, `kᵀ`. Letters are variables, `mθ` is m times θ; three or more
--- in a row are a name, `cos`, `softmax`, `RoPE`, as are `ln` and `Re`; words stand in quotes,
--- `"for all"`. `ô` is an o with a hat, as other letters can have (U+0302). `{a + b}/{c}` is a
--- fraction with a bar, `√d` and `√{1 + x}` roots, `[cos mθ, -sin mθ; sin mθ, cos mθ]` a matrix.
--- One blank keeps factors a little apart, two or more part formulas of one line. Lines are aligned
--- at their `&`, where they have one; while a bracket is open, a line goes on in the next. Pages
--- break long lines before relation signs, + and -.
---
--- In a file of scripts/lessons, and in one of your own, it is handed to who reads the file
--- (`./roper lesson FILE.lua`); in a script or a session it is shown as a whole.
---
--- Errors: a field that is missing, misspelt or of another type; prose or a formula that cannot be
--- read; where the lesson is shown, a claim that fails.
---
---     > (pcall(roper.lesson, {title = "half a lesson"}))
---     false
---@param lesson Lesson
---@return Lesson? lesson where a file is read
function M.lesson(lesson)
  local ok, result = pcall(checked, lesson)
  if not ok then
    error(result, reading and 0 or 2)
  elseif reading then
    reading.lesson = result
    return result
  elseif not require("roper.lesson.show").all(result) then
    error("lesson: a claim fails", 0)
  end
end

local FOLDER <const> = require("roper.base.place").LIBRARY .. "/../lessons"

--- Read the lesson in a file.
---
--- Errors: what is no file or cannot be read; Lua that does not compile or fails; a file that
--- returns no lesson. They name the file and, where it can be told, the line.
---@param path string that ends in .lua
---@return table lesson
function M.read(path)
  local text = files.read(path) or error(("there is no file %s"):format(path), 0)
  local chunk, message = loadfile(path, "t", steps.scope())
  if not chunk then
    error(message, 0)
  end
  reading = { path = path, text = text }
  local ok, result = code.call(chunk)
  local lesson = reading.lesson
  reading = nil
  if not ok and result.interrupted then
    error("interrupted", 0)
  elseif not ok then
    local is_placed = result.message:sub(1, #path) == path
    error((is_placed and "" or path .. ": ") .. result.message, 0)
  elseif lesson == nil or result ~= lesson then
    error(("%s: expected a file that returns roper.lesson {...}"):format(path), 0)
  end
  lesson.name = path:match("([^/]*)%.lua$"):gsub("_", "-")
  return lesson
end

--- All lessons, in their order.
---@return table[] lessons with their `name`
function M.all()
  local lessons = {}
  for i, name in ipairs(require("roper.base.file").modules(FOLDER)) do
    lessons[i] = M.read(("%s/%s.lua"):format(FOLDER, name))
  end
  table.sort(lessons, function(a, b)
    return a.order < b.order or a.order == b.order and a.name < b.name
  end)
  return lessons
end

--- The lesson of a name, or of a number in the list of all.
---@param name string such as "relative-distance" or "5"
---@return table lesson
function M.find(name)
  local all, names = M.all(), {}
  if name:find "^%d+$" then
    return all[math.tointeger(tonumber(name))]
      or error(("no lesson %s; there are %d"):format(name, #all), 0)
  end
  for i, lesson in ipairs(all) do
    if lesson.name == name:gsub("_", "-") then
      return lesson
    end
    names[i] = lesson.name
  end
  error(("no lesson '%s'%s"):format(name, suggest.hint(name, names, "there are")), 0)
end

return M
