--- Reads and checks lessons. Each file in scripts/lessons that returns `roper.lesson { ... }` is a
--- lesson; there is no other list of them.
local eval = require "roper.base.eval"
local files = require "roper.base.file"
local options_of = require "roper.base.options"
local paths = require "roper.base.paths"
local formulas = require "roper.base.formula.parse"
local play = require "roper.workbench.lesson.play"
local proses = require "roper.workbench.lesson.prose"
local questions = require "roper.workbench.lesson.question"
local steps = require "roper.workbench.lesson.step"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"

local M = {}

local LESSON <const> = { order = "integer", title = "string", before = "string",
  after = "string", minutes = "size?", needs = { "table", {} }, notation = { "table", {} },
  given = "table?", steps = "table" }
local STEP <const> = { title = "string", text = "string", formula = "string?", code = "string?",
  claims = { "table", {} }, python = "string?", identity = "table?", figure = "table?",
  predict = "table?", exercise = "table?" }
local FIGURE <const> = { caption = "string", draw = "string", claims = { "table", {} },
  play = "table?" }

local reading -- the file that `read` is loading: {path, text, lesson}

-- The position of a table in that file, found by the table's longest text: "FILE:LINE: ".
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

-- A claim as {text, instead = {from, to}}. `source` must contain `from`; messages call it `name`.
local function check_claim(where, claim, name, source)
  local text, instead
  if type(claim) == "table" then
    text, instead = claim[1], claim.instead
  end
  if type(text) ~= "string" or type(instead) ~= "table" or type(instead[2]) ~= "string" then
    error(where .. ": expected {\"claim\", instead = {\"code\", \"broken code\"}}", 0)
  elseif not source:find(tostring(instead[1]), 1, true) then
    error(("%s: instead: %s does not contain '%s'"):format(where, name, tostring(instead[1])), 0)
  end
  return { text = text, instead = instead }
end

local function check_figure(where, given)
  local figure = options_of.check(where, given, FIGURE)
  proses.check(where .. ", caption", figure.caption)
  if #figure.claims == 0 then
    error(where .. ": expected at least one claim about the numbers that it draws, got none", 0)
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

local function check_head(where, lesson)
  for i, name in ipairs(lesson.needs) do
    if type(name) ~= "string" then
      error(("%s, needs %d: expected the name of a lesson, got %s"):format(where, i,
        options_of.shown(name)), 0)
    end
  end
  for i, row in ipairs(lesson.notation) do
    if type(row) ~= "table" or type(row[1]) ~= "string" or type(row[2]) ~= "string" then
      error(('%s, notation %d: expected {"formula", "its meaning"}'):format(where, i), 0)
    end
    proses.check(("%s, notation %d"):format(where, i), row[1], formulas.lines)
    proses.check(("%s, notation %d"):format(where, i), row[2])
  end
  for _, name in ipairs { "title", "before", "after" } do
    proses.check(("%s, %s"):format(where, name), lesson[name])
  end
end

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
---@field order integer position in the list of lessons, which is sorted by it; a literal number
---@field title string
---@field before string what the learner can do before the lesson
---@field after string what the learner can do after the lesson
---@field minutes? integer time that the lesson takes
---@field needs? string[] = {}; names of the lessons that it builds on
---@field notation? string[][] = {}; {"R_m", "the rotation by position m"}: a formula and its
---   meaning in prose
---@field given? table<string, string> kinds of the variables in identities without a `given`
---@field steps LessonStep[]

---@class LessonStep
---@field title string
---@field text string paragraphs of prose
---@field formula? string lines in the notation of formulas, shown below the text
---@field code? string Lua, run and shown as if typed, with the variables of the steps before. It
---   must not set a variable with the name of a command at the lesson's prompt, such as again
---@field claims? table[] = {}; each {"Lua that is true", instead = {"code", "other code"}}: if the
---   other code replaces the first, the claim must fail, otherwise it would prove nothing
---@field python? string a program for PyTorch, shown after the output of the code but not run
---@field identity? IdentityOptions
---@field figure? LessonFigure
---@field predict? LessonQuestion|LessonQuestion[] asked before the code, the claims and the figure
---   are shown; open questions are not allowed. The code is run before, so it should not print
---@field exercise? LessonQuestion|LessonQuestion[] asked after the code, the claims and the figure

---@class LessonQuestion a choice, a number, a line of Lua, or open: with neither expect nor check
---@field question string prose, like the answer, the choices and the hints
---@field answer string explanation that is shown afterwards
---@field choices? string[] answered by number or letter; only by letter if a choice is a number
---@field expect? integer|string the number of the right choice; or a Lua expression of the expected
---   number, evaluated after the step's code
---@field within? number = 0.01; largest relative error of a right number; errors up to 1e-9 are
---   always allowed
---@field check? string Lua expression that is true if the answer, a line of Lua, is right. It can
---   use `it`, the value of the line, and the variables that the line sets
---@field sample? string a right line of Lua
---@field hints? table[]|string[] each {"Lua condition", "hint"}, shown if the condition is true of
---   `it`, the wrong answer (of a choice, its number), or a hint for any other wrong answer. At
---   least one hint without a condition is required, unless the question is open

---@class LessonFigure
---@field caption string
---@field draw string Lua that draws with the step's variables, such as
---   "y = cosines(8) return plot.line(y, {format = format})"; the claims can use its globals
---@field claims table[] at least one, about the numbers that are drawn: {"y[1] == 1", instead =
---   {"cosines(8)", "cosines(9)"}}; if the other code replaces the first, the claim must fail and
---   the picture must change
---@field play? LessonPlay interactive figure that pages show instead if scripts are enabled

--- Defines a lesson. The title and other texts are prose: `code` in backticks (on pages, the name
--- of a lesson becomes a link), `$R_{i-n} v_i$` for an inline formula,
--- `[Su et al. 2021](arXiv:2104.09864)` for a paper, and `[issue 251](https://...)` for a page.
---
--- Formulas are typed as they are read: `Σ_i a_{n,i} R_{i-n} v_i`. `_` and `^` begin an index or a
--- power: a run of letters and digits, or a group in `{...}` or `(...)`. The characters of Unicode
--- work as well: `v⁽¹⁾`, `θ₁`, `kᵀ`. A letter is a variable, and `mθ` is m times θ. Three or more
--- letters are a name, `cos`, `softmax`, `RoPE`, and so are `ln` and `Re`. Words are in quotes,
--- `"for all"`. `ô` is an o with a hat; other letters take a combining hat (U+0302). `{a + b}/{c}`
--- is a fraction with a bar, `√d` and `√{1 + x}` are roots, `[cos mθ, -sin mθ; sin mθ, cos mθ]` is
--- a matrix. One blank adds a small space between factors, two or more separate the formulas of a
--- line. Lines are aligned at `&`. While a bracket is open, a formula continues in the next line.
--- Pages break long lines before relation signs, + and -.
---
--- In a lesson file, `roper.lesson` returns the lesson to the program that reads the file
--- (`./roper lesson FILE.lua`). In a script or a session it shows the whole lesson.
---
--- Errors: a field that is missing, misspelled or of the wrong type; prose or a formula that does
--- not follow the notation; a claim that fails while the lesson is shown.
---
---     > (pcall(roper.lesson, {title = "half a lesson"}))
---     false
---@param lesson Lesson
---@return Lesson? lesson if a file is being read
function M.lesson(lesson)
  local ok, result = pcall(checked, lesson)
  if not ok then
    error(result, reading and 0 or 2)
  elseif reading then
    reading.lesson = result
    return result
  elseif not require("roper.workbench.lesson.show").all(result) then
    error("lesson: a claim fails", 0)
  end
end

--- Reads the lesson in a file.
---
--- Errors: the file does not exist or cannot be read; its Lua does not compile or fails; it does
--- not return a lesson. Messages contain the file and, if known, the line.
---@param path string ends in .lua
---@return table lesson
function M.read(path)
  local text = files.read(path) or error(("no file %s"):format(path), 0)
  local chunk, message = loadfile(path, "t", steps.scope())
  if not chunk then
    error(message, 0)
  end
  reading = { path = path, text = text }
  local ok, result = eval.call(chunk)
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

local function file_of(name)
  return ("%s/../lessons/%s.lua"):format(paths.LIBRARY, (name:gsub("-", "_")))
end

--- The names of the lessons in scripts/lessons, sorted by their `order`. Only the text of the files
--- is read, so an error in one of them does not affect the others.
---@return string[] names
function M.names()
  local orders = {}
  for _, name in ipairs(files.modules(paths.LIBRARY .. "/../lessons")) do
    local text = files.peek(file_of(name)) or ""
    orders[name:gsub("_", "-")] = tonumber(text:match "%f[%w]order%s*=%s*(%d+)") or math.huge
  end
  local names = tables.keys(orders)
  table.sort(names, function(a, b)
    return orders[a] < orders[b] or orders[a] == orders[b] and a < b
  end)
  return names
end

--- All lessons of scripts/lessons, in the order of their names.
---@return table[] lessons each with its `name`
function M.all()
  return tables.map(M.names(), function(name) return M.read(file_of(name)) end)
end

--- Finds a lesson by its name or by its number in the list of all lessons.
---
--- Errors: no lesson has this name or number; those of `read`.
---@param name string such as "relative-distance" or "5"
---@return table lesson
function M.find(name)
  local names = M.names()
  local found = name:gsub("_", "-")
  if name:find "^%d+$" then
    found = names[math.tointeger(tonumber(name))]
      or error(("no lesson %s; there are %d"):format(name, #names), 0)
  elseif not tables.set(names)[found] then
    error(("no lesson '%s'%s"):format(name, suggest.hint(name, names, "there are")), 0)
  end
  return M.read(file_of(found))
end

return M
