--- Interactive player of lessons at the terminal: shows the steps one by one, asks questions, and
--- runs any Lua in between.
local clock = require "roper.system.clock"
local document = require "roper.text.document"
local documents = require "roper.text.document.terminal"
local events = require "roper.system.events"
local resume_command = require "roper.workbench.session.resume_command"
local eval = require "roper.text.eval"
local progress = require "roper.workbench.session.lesson_progress"
local questions = require "roper.workbench.lesson.question"
local readers = require "roper.workbench.session.repl.reader"
local report = require "roper.identity.report"
local screenfuls = require "roper.workbench.session.screenful"
local sessions = require "roper.workbench.session.repl.session"
local show = require "roper.workbench.lesson.show"
local steps = require "roper.workbench.lesson.step"
local tables = require "roper.base.tables"
local terminal = require "roper.text.terminal"


local M = {}

local HELP <const> = document.paragraph(document.styled("dim", { "Press Enter to continue. In "
  .. "between you can run any Lua, with the variables of the lesson. At a question (?>), type the "
  .. "answer, or a > and any Lua to try first.", document.BREAK, "Commands: back, again, hint, "
  .. "answer, look (details of a check), notation, help, quit. If a variable has the name of a "
  .. "command, type %back, %again and so on." }))

local RESULTS <const> = {} -- among the parts of a step: its code, claims and figure

local PATIENCE <const> = 1 -- seconds after which a note says that the code still runs
local INTERVAL <const> = 100 -- instructions of Lua after which the time is checked

local Player = {}
Player.__index = Player

-- Shows lines or a document, a screenful at a time.
function Player:say(tree)
  self.screen:add(type(tree) == "string" and tree or documents.render(tree))
  self.screen:show()
end

-- Shows a document after an empty line, with the details of checks folded.
function Player:show(tree)
  local text = documents.render(tree, { is_folded = true })
  self:say(text == "" and "" or "\n" .. text)
end

-- Shows the output of a command at once, before the text that waits.
function Player:interject(tree)
  local text = type(tree) == "string" and tree or documents.render(tree)
  if self.screen:is_waiting() then
    io.stdout:write(text)
  else
    self:say(text)
  end
end

function Player:step()
  return self.lesson.steps[self.number]
end

-- Calls a function that runs code of the lesson, and reports an error. If it takes long, shows a
-- note until it ends. Returns whether it succeeded, and its failure.
function Player:attempt(f)
  local start, has_note = clock.seconds(), false
  local ok, failure = eval.call(function() -- which removes the hook
    debug.sethook(function()
      if clock.seconds() - start > PATIENCE then
        debug.sethook()
        has_note = true
        io.stdout:write "Computing, a few seconds …"
        io.stdout:flush()
      end
    end, "", INTERVAL)
    f()
  end)
  if has_note then
    io.stdout:write(terminal.is_capable(io.stdout) and "\r\27[K" or "\n")
    events.discard_keys()
  end
  if not ok and failure.interrupted then
    io.stdout:write(has_note and "" or "\n") -- after the terminal's ^C
    terminal.report("lesson", "interrupted; type again to repeat this step")
  elseif not ok then
    terminal.report("lesson", steps.located(self.lesson.path, failure.message))
  end
  return ok, failure
end

-- Runs code of the lesson in a layer of the scope. Returns the layer and the result.
function Player:execute(run, step)
  local layer = steps.layer(self.scope)
  return layer, steps.hidden(layer, run, step, layer)
end

-- Makes the variables of a layer visible to the reader.
function Player:reveal(layer)
  for name in next, layer do
    self.names[name] = true
  end
  steps.keep(layer)
  self.first_stale = self.first_stale + 1
end

-- Runs the step, after all earlier steps whose code has not run yet. Its variables are in the layer
-- `ahead` until it is shown. Does nothing if it has run. Returns whether it succeeded, and its
-- failure.
function Player:run()
  if self.result then
    return true
  end
  local ok, failure = self:attempt(function()
    while self.first_stale < self.number do
      self:reveal((self:execute(steps.prepare, self.lesson.steps[self.first_stale])))
    end
    local ahead, result = self:execute(steps.run, self:step())
    self.expected = {}
    for _, question in ipairs(questions.of(self:step())) do
      self.expected[question] = questions.expected(question, ahead)
    end
    self.ahead, self.result = ahead, result
  end)
  if not ok and not failure.interrupted then
    self.first_stale = self.number + 1 -- it would fail again
  end
  return ok, failure
end

function Player:show_results()
  if not self:run() then
    return false
  end
  self:reveal(self.ahead)
  return (self:attempt(function()
    local step = self:step()
    self:show { show.results(self.result), show.python(step),
      step.figure and show.figure(step.figure, self.scope) }
  end))
end

-- Asks a question. If it was answered before, shows its answer instead.
function Player:ask(question)
  self:show { show.question(question, self.is_shown and show.TRY or show.PREDICT) }
  if self.progress:is_answered(question) then
    self:show { show.answer(question, "You answered this before.") }
  else
    self.asked, self.hints, self.is_empty, self.is_new = question, 0, false, true
  end
end

-- Shows the following parts of the step, up to the next question.
function Player:advance()
  self.asked = nil
  while self.parts[1] and not self.asked do
    local part = table.remove(self.parts, 1)
    if part ~= RESULTS then
      self:ask(part)
    elseif self:show_results() then
      self.is_shown = true
    else
      self.parts = {}
    end
  end
end

-- Goes to a step and shows it up to its first question.
function Player:go(number)
  self.number, self.result, self.ahead, self.is_shown = number, nil, nil, false
  local step = self:step()
  self.parts = tables.joined(step.predict, { RESULTS }, step.exercise)
  self.progress:reach(number)
  self:show { show.introduction(self.lesson, number) }
  self:advance()
end

-- Goes to a step and runs all earlier steps again, which discards changes to their variables.
function Player:redo(number)
  for name in pairs(self.names) do
    self.scope[name] = nil
  end
  self.first_stale, self.names = 1, {}
  self.screen:drop()
  self:go(math.max(1, number))
end

function Player:next_step()
  if self.number == #self.lesson.steps then
    self.is_over = true
  else
    self:go(self.number + 1)
  end
end

-- Has all of the lesson been shown, with no question left?
function Player:is_done()
  return self.number == #self.lesson.steps and self.is_shown and not self.parts[1]
    and not self:is_asking() and not self.screen:is_waiting()
end

-- Is there a question that a line may answer?
function Player:is_asking()
  return self.asked ~= nil and self.asked.kind ~= "open" and not self.screen:is_waiting()
end

local words = {}

--- The commands of the prompt, by name: functions of the player.
M.words = words

words[""] = function(player)
  if player.screen:is_waiting() then
    player.screen:show()
  elseif player.asked and player.is_empty then
    words.answer(player)
  elseif player.asked then
    player:say(document.paragraph(questions.invitation(player.asked)
      .. "; Enter again shows the answer."))
    player.is_empty = true
  else
    player:next_step()
  end
end

function words.back(player)
  player:redo(player.number - 1)
end

function words.again(player)
  player.progress:forget()
  player:redo(player.number)
end

function words.hint(player)
  local question = player.asked
  local hint = question and question.further[player.hints + 1]
  if hint then
    player.hints = player.hints + 1
  end
  player:interject(hint and document.paragraphs(hint)
    or question and "There are no more hints. Type answer to see the answer.\n"
    or "There is no open question.\n")
end

function words.answer(player)
  if player.asked then
    player:interject(show.answer(player.asked, show.ANSWER))
    player:advance()
    return
  end
  local answers = tables.map(questions.of(player:step()), function(question)
    return show.answer(question, show.ANSWER)
  end)
  player:interject(answers[1] and answers or "This step has no question.\n")
end

function words.look(player)
  local found = player.is_shown and player.result.identity
  player:interject(found and report.document(found)
    or player.is_shown and "This step has no identity to look at.\n"
    or "Answer the question first, or type answer to see its answer.\n")
end

function words.notation(player)
  player:interject(show.notation(player.lesson) or "This lesson has no table of notation.\n")
end

function words.help(player)
  player:interject(HELP)
end

function words.quit(player)
  player.is_over = true
end

words.exit = words.quit

-- The command in a line, or nil. As in a session, parentheses may follow it: quit(). If a variable
-- has its name, the command needs a % in front.
local function word_of(line, scope)
  local sign, name = line:gsub("%(%)%s*$", ""):match "^%s*(%%?)(%a*)%s*$"
  return (sign == "%" or name and rawget(scope, name) == nil) and words[name:lower()] or nil
end

-- What an answer that was not Lua was read as, in front of a response.
local function read_as(verdict)
  return verdict.read and ("Read as `%s`. "):format(verdict.read) or ""
end

-- Responses to an answer, by the kind of the verdict: functions of the player and the verdict.
local respond = {}

function respond.right(player, verdict)
  local question = player.asked
  local expected = player.expected[question]
  player.progress:answer(question)
  local is_other = question.kind == "number" and verdict.it ~= expected
  player:say(show.answer(question, read_as(verdict)
    .. (is_other and ("Right, %.4g."):format(expected) or "Right.")))
  player:advance()
end

function respond.wrong(player, verdict)
  local question = player.asked
  local hint = verdict.hint
  if not hint then
    player.hints = math.min(player.hints + 1, #question.further)
    hint = question.further[player.hints]
  end
  player:say(document.paragraphs(read_as(verdict) .. "Not yet. " .. hint))
end

function respond.malformed(player, verdict)
  player:say(document.paragraph(("The question expects %s."):format(verdict.wanted)))
end

function respond.failed(_, verdict)
  local message = verdict.failure.message:gsub("^answer:%d+: ", "")
  terminal.report("error", verdict.failure.interrupted and "interrupted" or message)
end

function respond.tried(player)
  player:say(document.paragraph(("Not taken as an answer. The question expects %s."):format(
    questions.wanted(player.asked))))
end

-- Judges text that may be an answer and responds to it. Returns the kind of the verdict: "other" if
-- it is not an answer.
function Player:judge(text)
  local ran, failure = self:run()
  if not ran then
    if not failure.interrupted then
      self.parts, self.asked = {}, nil
    end
    return "failed"
  end
  local ok, verdict = eval.call(questions.judge, self.asked, text, self.scope,
    self.expected[self.asked], not self.is_shown and self.ahead or nil)
  if not ok then
    verdict = { kind = "failed", failure = verdict }
  end
  if respond[verdict.kind] then
    self:say(verdict.shown and verdict.shown .. "\n" or "")
    respond[verdict.kind](self, verdict)
  end
  return verdict.kind
end

-- Handles a line: a command, an answer, or Lua. `open` is the incomplete text of the lines before.
-- Returns the text so far if more lines must follow.
function Player:take(line, open)
  local word = not open and word_of(line, self.scope)
  self.screen:turn()
  self.is_empty = self.is_empty and word == words[""]
  if word then
    word(self)
    return nil
  end
  local text = open and open .. "\n" .. line or line
  local is_asking = self:is_asking()
  if open and is_asking and not line:find "%S" and self.asked.kind ~= "line" then
    respond.malformed(self, { wanted = questions.wanted(self.asked) })
    return nil
  end
  local kind = is_asking and self:judge(text) or "other"
  if kind ~= "other" then
    return kind == "incomplete" and text or nil
  end
  local rest = self.session:feed(text)
  self.is_over = self.is_over or self.session.is_over
  if is_asking and not rest and not text:find "^%s*>" then
    respond.tried(self)
  end
  return rest
end

function Player:prompt()
  return ("%s%s %d/%d%s> "):format(self.screen:is_waiting() and "-- more -- " or "",
    self.lesson.name, self.number, #self.lesson.steps, self:is_asking() and " ?" or "")
end

-- The words after the end of a lesson: the next lesson.
local function farewell(lesson)
  local names = require("roper.workbench.lesson").names()
  for i, name in ipairs(names) do
    if name == lesson.name and names[i + 1] then
      return " Next: ./roper lesson " .. names[i + 1]
    end
  end
  return " This was the last lesson."
end

--- Plays a lesson until its end, `quit` or Ctrl-D.
---@param lesson table
---@param first integer? step to begin with; by default the step where the user left off
---@param path string? file of the lesson, if it is not in scripts/lessons
function M.run(lesson, first, path)
  local scope = steps.scope()
  local lines = readers.new()
  local player = setmetatable({ lesson = lesson, scope = scope, first_stale = 1, is_over = false,
    names = {}, session = sessions.new(scope), screen = screenfuls.new(), parts = {},
    progress = progress.open(lesson, first, path) }, Player)
  player.screen:add(documents.render { show.head(lesson), HELP } .. player.progress.note)
  player:go(player.progress.number)
  local open
  while not player.is_over do
    io.stdout:flush()
    if player.is_new and not player.screen:is_waiting() then
      events.discard_keys()
      player.is_new = false
    end
    local prompt = player:prompt()
    local ok, line = eval.call(lines.read, lines,
      open and (" "):rep(#prompt - 3) .. ">> " or prompt)
    if not ok or line == readers.INTERRUPTED then
      open = nil
    elseif line == nil then
      break
    else
      open = player:take(line, open)
      lines:remember(line)
    end
  end
  if player:is_done() then
    io.stdout:write(player.progress:finish(), "The end of ", lesson.name, ".",
      path and "" or farewell(lesson), "\n")
  else
    io.stdout:write("To continue this lesson:\n",
      resume_command.lesson(path or lesson.name, player.number), "\n")
  end
end

return M
