--- Reads and checks lessons. Each file in scripts/lessons that returns `roper.lesson { ... }` is a
--- lesson; there is no other list of them.
local arguments = require "roper.options.arguments"
local eval = require "roper.text.eval"
local files = require "roper.system.file"
local options_of = require "roper.options.rows"
local paths = require "roper.system.paths"
local formulas = require "roper.text.formula.parse"
local play = require "roper.workbench.lesson.play"
local proses = require "roper.workbench.lesson.prose"
local questions = require "roper.workbench.lesson.question"
local steps = require "roper.workbench.lesson.step"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"

local M = {}

local LESSON <const> = options_of.define("Lesson", {
  { "order", "integer", nil, "position in the list of lessons, which is sorted by it; a literal "
    .. "number" },
  { "title", "string" },
  { "before", "string", nil, "what the learner can do before the lesson" },
  { "after", "string", nil, "what the learner can do after the lesson" },
  { "summary", "string?", nil, "what the learner does, for the map of the lessons; by default, "
    .. "`after`" },
  { "minutes", "size?", nil, "time that the lesson takes" },
  { "needs", "table", {}, "names of the built-in lessons that it builds on", type = "string[]" },
  { "notation", "table", {}, '{"R_m", "the rotation by position m"}: a formula and its meaning in '
    .. "prose", type = "string[][]" },
  { "given", "table?", nil, "kinds of the variables in identities without a `given`",
    type = "table<string, string>" },
  { "steps", "table", type = "LessonStep[]" },
})

local QUESTIONS <const> = "LessonQuestion|LessonQuestion[]"

local STEP <const> = options_of.define("LessonStep", {
  { "title", "string" },
  { "text", "string", nil, "paragraphs of prose" },
  { "formula", "string?", nil, "lines in the notation of formulas, shown below the text" },
  { "code", "string?", nil, "Lua, run and shown as if typed, with the variables of the steps "
    .. "before. It must not set a variable with the name of a command at the lesson's prompt, such "
    .. "as again" },
  { "claims", "table", {}, 'each {"Lua that is true", instead = {"code", "other code"}}: if the '
    .. "other code replaces the first, the claim must fail, otherwise it would prove nothing",
    type = "table[]" },
  { "python", "string?", nil, "a program for PyTorch, shown after the output of the code but not "
    .. "run" },
  { "identity", "table?", type = "IdentityOptions" },
  { "figure", "table?", type = "LessonFigure" },
  { "predict", "table?", nil, "asked before the code, the claims and the figure are shown; open "
    .. "questions are not allowed. The code is run before, so it should not print. Answers cannot "
    .. "use its variables", type = QUESTIONS },
  { "exercise", "table?", nil, "asked after the code, the claims and the figure",
    type = QUESTIONS },
})

local FIGURE <const> = options_of.define("LessonFigure", {
  { "caption", "string", nil, "prose" },
  { "draw", "string", nil, "Lua that draws with the step's variables, such as "
    .. '"y = cosines(8) return plot.line(y, {format = format})"; the claims can use its globals' },
  { "claims", "table", {}, 'at least one, about the numbers that are drawn: {"y[1] == 1", instead '
    .. '= {"cosines(8)", "cosines(9)"}}; if the other code replaces the first, the claim must fail '
    .. "and the picture must change", type = "table[]" },
  { "play", "table?", nil, "interactive figure that pages show instead if scripts are enabled",
    type = play.TYPES },
})

local reading -- the file that `read` is loading: {name, is_builtin, lesson}

-- The name of a part of a lesson without "lesson: " in front, as in the messages of its code.
local function named(where)
  return (where:gsub("^lesson: ", ""))
end

-- A claim as {text, instead = {from, to}}. `source` must contain `from`; messages call it `name`.
local function check_claim(where, claim, name, source)
  local text, instead
  if type(claim) == "table" then
    text, instead = claim[1], claim.instead
  end
  if type(text) ~= "string" or type(instead) ~= "table" or type(instead[2]) ~= "string" then
    error(("%s: expected {\"claim\", instead = {\"code\", \"broken code\"}}, got %s"):format(where,
      type(claim) ~= "table" and options_of.shown(claim) or type(text) ~= "string"
        and "no claim" or "no such instead"), 0)
  elseif not source:find(tostring(instead[1]), 1, true) then
    error(("%s: instead: %s does not contain '%s'; copy the code to replace from it"):format(where,
      name, tostring(instead[1])), 0)
  end
  questions.check_source(where, text)
  return { text = text, instead = instead, where = named(where) }
end

local function check_figure(where, given)
  local figure = options_of.check(where, given, FIGURE, 0)
  proses.check(where .. ", caption", figure.caption)
  questions.check_source(where .. ", draw", figure.draw, true)
  if #figure.claims == 0 then
    error(where .. ": expected at least one claim about the numbers that it draws, got none", 0)
  end
  for i, claim in ipairs(figure.claims) do
    figure.claims[i] = check_claim(("%s, claim %d"):format(where, i), claim, "draw", figure.draw)
  end
  figure.play = figure.play and play.check(where .. ", play", figure.play)
  proses.check(where .. ", play, caption", figure.play and figure.play.caption or "")
  if figure.play and figure.play.data then
    questions.check_source(where .. ", play, data", figure.play.data)
  end
  figure.where = named(where)
  return figure
end

local function check_step(where, given, lesson)
  local step = options_of.check(where, given, STEP, 0)
  proses.check(where .. ", title", step.title)
  proses.check(where .. ", text", step.text)
  proses.check(where .. ", formula", step.formula or "", formulas.lines)
  if step.identity and not step.identity.given then
    step.identity.given = lesson.given
  end
  steps.compile(step.code or "", {}, where .. ", code")
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
      error(("%s, predict %d: expected choices and expect, expect, or check and sample, got none; "
        .. "an open question must be an exercise"):format(where, i), 0)
    end
  end
  step.where = named(where)
  return step
end

-- The folder of the built-in lessons, beside the library.
local function folder()
  return paths.LIBRARY:match "^(.*)/" .. "/lessons"
end

local function file_of(name)
  return ("%s/%s.lua"):format(folder(), (name:gsub("-", "_")))
end

-- The names in the field `needs` of a built-in lesson. Only the text of the file is read.
local function needs_of(name)
  local list = {}
  local text = files.peek(file_of(name)) or ""
  for _, one in (text:match "%f[%w]needs%s*=%s*(%b{})" or ""):gmatch "([\"'])([%w-]+)%1" do
    list[#list + 1] = one
  end
  return list
end

-- The names along a circle of needs from a built-in lesson to `target`; nil if there is none.
local function circle(name, target, visited)
  if name == target or visited[name] then
    return name == target and { name } or nil
  end
  visited[name] = true
  for _, needed in ipairs(needs_of(name)) do
    local rest = circle(needed, target, visited)
    if rest then
      return { name, table.unpack(rest) }
    end
  end
end

-- Checks the name of a lesson that the lesson in the file being read needs.
local function check_need(where, name)
  local known, own = M.names(), reading or {}
  local is_known = tables.set(known)[name]
  local problem
  if type(name) ~= "string" then
    problem = "expected the name of a lesson, got " .. options_of.shown(name)
  elseif name == own.name and (own.is_builtin or not is_known) then
    problem = "expected an earlier lesson, got the lesson itself; remove it"
  elseif not is_known then
    problem = ('expected the name of a built-in lesson, got "%s"%s'):format(name,
      suggest.hint(name, known, "there are"))
  else
    local found = own.is_builtin and circle(name, own.name, {})
    problem = found and ("expected an earlier lesson, got a circle: %s needs %s; remove one of "
      .. "them"):format(own.name, table.concat(found, ", which needs "))
  end
  if problem then
    error(("%s: %s"):format(where, problem), 0)
  end
end

local function check_head(where, lesson)
  for i, name in ipairs(lesson.needs) do
    check_need(("%s, needs %d"):format(where, i), name)
  end
  for i, row in ipairs(lesson.notation) do
    if type(row) ~= "table" or type(row[1]) ~= "string" or type(row[2]) ~= "string" then
      error(('%s, notation %d: expected {"formula", "its meaning"}, got %s'):format(where, i,
        options_of.shown(row)), 0)
    end
    proses.check(("%s, notation %d"):format(where, i), row[1], formulas.lines)
    proses.check(("%s, notation %d"):format(where, i), row[2])
  end
  for _, name in ipairs { "title", "before", "after", "summary" } do
    proses.check(("%s, %s"):format(where, name), lesson[name] or "")
  end
end

local function checked(given)
  local lesson = options_of.check("lesson", given, LESSON, 0)
  check_head("lesson", lesson)
  for name, kind in pairs(lesson.given or {}) do
    arguments.check("lesson", "option given: " .. tostring(name), "string", kind)
  end
  local list = {}
  for i, step in ipairs(lesson.steps) do
    list[i] = check_step(("lesson: step %d"):format(i), step, lesson)
  end
  if #list == 0 then
    error("lesson: expected at least one step, got none", 0)
  end
  lesson.steps = list
  return lesson
end

--- Defines a lesson. The title and other texts are prose: `code` in backticks (on pages, the name
--- of a lesson becomes a link), `$R_{n-m} v_n$` for an inline formula,
--- `[Su et al. 2021](arXiv:2104.09864)` for a paper, and `[issue 251](https://...)` for a page.
---
--- Formulas are typed as they are read: `Σ_n a_{m,n} R_{n-m} v_n`. `_` and `^` begin an index or a
--- power: a run of letters and digits, or a group in `{...}` or `(...)`. The characters of Unicode
--- work as well: `v⁽¹⁾`, `θ₁`, `kᵀ`. A letter is a variable, and `mθ` is m times θ. Three or more
--- letters are a name, `cos`, `softmax`, `RoPE`, and so are `ln` and `Re`. Words are in quotes,
--- `"for all"`. `ô` is an o with a hat; other letters take a combining hat (U+0302). `{a + b}/{c}`
--- is a fraction with a bar, `√d` and `√{1 + x}` are roots, `[cos mθ, -sin mθ; sin mθ, cos mθ]` is
--- a matrix. One blank adds a small space between factors, two or more separate the formulas of a
--- line. Lines are aligned at `&`. While a bracket is open, a formula continues in the next line.
--- Pages break long lines before relation signs, + and -.
---
--- A file with a whole lesson:
---
---     return roper.lesson {
---       order = 1, title = "The length of a vector", minutes = 5,
---       before = "You know the theorem of Pythagoras.",
---       after = "You can compute the length of a vector.",
---       summary = "Measure an arrow without a ruler.",
---       needs = {"rotation"},
---       notation = {{"|x|", "the length of $x$"}},
---       given = {m = "position"}, -- for identities
---       steps = {{
---         title = "Two components",
---         text = "A pair $x$ is an arrow. Its length follows from the theorem.",
---         formula = "|x| = √{x₁² + x₂²}",
---         predict = {question = "What is the length of $(3, 4)$?",
---           expect = "length", within = 0, answer = "$√{9 + 16} = 5$.",
---           hints = {{"it == 7", "Square the components before you add."},
---             "Square both, add, and take the root."}},
---         code = [[
---           x = roper.tensor({3, 4}, "float64")
---           length = x:square():sum():item() ^ 0.5]],
---         claims = {{"length == 5", instead = {"{3, 4}", "{3, 5}"}}},
---         python = "print(torch.tensor([3.0, 4.0]).norm())",
---         identity = {"cos(m)*cos(m) + sin(m)*sin(m) == 1",
---           wrong = {"cos(m)*cos(m) - sin(m)*sin(m) == 1"}},
---         figure = {caption = "The arrow.",
---           draw = "y = x:totable() return plot.arrows({y}, {format = format})",
---           claims = {{"y[2] == 4", instead = {"x:totable()", "{3, 5}"}}},
---           play = {kind = "rotation", vectors = {{3, 4}},
---             caption = "Rotate it: its length stays the same."}},
---         exercise = {
---           {question = "Which is longer?", choices = {"(3, 4)", "(0, 6)"},
---             expect = 2, answer = "$√{0 + 36} = 6$.",
---             hints = {{"it == 1", "It has length 5."}, "Compute both."}},
---           {question = "Set z to a pair of the same length.",
---             check = "z[1] ^ 2 + z[2] ^ 2 == 25", sample = "z = {0, 5}",
---             form = {"z = {0, ___}", {"5", "7"}}, -- for pages and paper
---             answer = "Such as {0, 5} or {4, 3}.",
---             hints = {"The sum of the squares must be 25."}}},
---       }},
---     }
---
--- `./roper lesson FILE.lua` plays it, and `./roper lesson --check FILE.lua` checks its claims,
--- questions and figures. In a script or a session, `roper.lesson` shows the whole lesson.
---
--- Code that is not shown, of claims, figures and questions, can set variables. The learner and
--- later steps do not see them. It must not change tables and tensors of the code that is shown.
---
--- Errors: a field that is missing, misspelled or of the wrong type; prose or a formula that does
--- not follow the notation; Lua that does not compile; a name in `needs` that is not a built-in
--- lesson; a claim that fails while the lesson is shown. For a file, messages begin with the file
--- and the line of the field.
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
--- not return a lesson. Messages contain the file.
---@param path string ends in .lua
---@return table lesson
function M.read(path)
  if not files.read(path) then
    error(("no file %s"):format(path), 0)
  end
  local chunk, message = loadfile(path, "t", steps.scope())
  if not chunk then
    error(message, 0)
  end
  local name = path:match("([^/]*)%.lua$"):gsub("_", "-")
  reading = { name = name,
    is_builtin = files.real(path) == files.real(file_of(name)) }
  local ok, result = eval.call(chunk)
  local lesson = reading.lesson
  reading = nil
  if not ok then
    error(result.interrupted and "interrupted" or steps.located(path, result.message), 0)
  elseif lesson == nil or result ~= lesson then
    error(("%s: expected a file that returns roper.lesson {...}"):format(path), 0)
  end
  lesson.name, lesson.path = name, path
  return lesson
end

--- The names of the lessons in scripts/lessons, sorted by their `order`. Only the text of the files
--- is read, so an error in one of them does not affect the others.
---@return string[] names
function M.names()
  local orders = {}
  for _, name in ipairs(files.modules(folder())) do
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

--- Finds the name of a built-in lesson by the name or by its number in the list of all lessons.
---
--- Errors: no lesson has this name or number.
---@param name string such as "relative-distance", "relative_distance" or "5"
---@return string name
function M.resolve(name)
  local names = M.names()
  local found = name:gsub("_", "-")
  if name:find "^%d+$" then
    found = names[math.tointeger(tonumber(name))]
      or error(("no lesson %s; there are %d"):format(name, #names), 0)
  elseif not tables.set(names)[found] then
    error(("no lesson '%s'%s"):format(name, suggest.hint(name, names, "there are")), 0)
  end
  return found
end

--- Finds a lesson by its name or by its number in the list of all lessons.
---
--- Errors: those of `resolve` and `read`.
---@param name string such as "relative-distance" or "5"
---@return table lesson
function M.find(name)
  return M.read(file_of(M.resolve(name)))
end

return M
