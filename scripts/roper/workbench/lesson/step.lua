--- Runs a step of a lesson: executes its code as if typed, and checks its claims and its identity.
local eval = require "roper.base.eval"
local core = require "roper.core"
local format = require "roper.base.format"
local identity = require "roper.identity"
local public = require "roper.base.public"

local M = {}

local NAME <const> = "lesson" -- the chunk name of the code in messages

-- The global names of Lua. os.exit raises an error: otherwise a lesson could end its own check with
-- status 0.
local NAMES <const> = setmetatable({ os = setmetatable({ exit = function()
  error("os.exit: a lesson cannot end the program; at its prompt, type quit to leave", 2)
end }, { __index = os }) }, { __index = _G })

--- A scope for the variables of a lesson, with the names that a session begins with.
function M.scope()
  return setmetatable({ roper = public.root, plot = public.root.plot },
    { __index = NAMES })
end

--- A scope on top of another. Setting a variable in it does not change the scope below.
---@param names table? initial variables
function M.layer(scope, names)
  return setmetatable(names or {}, { __index = scope })
end

-- Splits code into the pieces that would run one after the other if the lines were typed.
local function pieces(text, scope)
  local list, open = {}, nil
  for line in (text:gsub("%s+$", "") .. "\n"):gmatch "(.-)\n" do
    open = open and open .. "\n" .. line or line
    local action, kind, message = eval.compile(open, NAME, scope)
    if action then
      if open:find "%S" then
        list[#list + 1] = { source = open, action = action }
      end
      open = nil
    elseif kind ~= "incomplete" then
      error(message, 0)
    end
  end
  if open then
    error(("%s: incomplete code: %s"):format(NAME, open), 0)
  end
  return list
end

--- Removes the indentation that all lines of a text have in common.
function M.unindented(text)
  local indent
  for space in ("\n" .. text):gmatch "\n( *)[^ \n]" do
    indent = (not indent or #space < #indent) and space or indent
  end
  return (("\n" .. text):gsub("\n" .. (indent or ""), "\n"):gsub("^\n+", ""):gsub("%s+$", ""))
end

--- Runs code in a scope. The results of an expression are kept as text, unless it ends with a ;.
---@return {source: string, output: string?}[] transcript
function M.execute(text, scope)
  local transcript = {}
  for i, piece in ipairs(pieces(M.unindented(text), scope)) do
    local results = table.pack(piece.action())
    local is_muted = results.n == 0 or piece.source:find ";%s*$"
    transcript[i] = { source = piece.source, output = not is_muted and format.results(results)
      or nil }
  end
  return transcript
end

--- Evaluates an expression.
function M.evaluate(source, scope)
  local action, _, message = eval.compile(source, NAME, scope)
  if not action then
    error(message, 0)
  end
  return action()
end

--- Draws a figure of a step whose code was run.
---@param figure {draw: string} Lua that draws with `plot` and passes `format = format`
---@param kind "svg"|"text"|nil nil shows the figure on the terminal
---@return string? picture
---@return table variables a scope with the variables that the drawing set
function M.draw(figure, scope, kind)
  local variables = M.layer(scope, { format = kind })
  return (M.evaluate(figure.draw, variables)), variables
end

--- Plants a fault in code.
---@param instead string[] {code, other code}; the text must contain the code
---@return string text with the first occurrence of the code replaced
function M.planted(text, instead)
  local first, last = text:find(instead[1], 1, true)
  return text:sub(1, first - 1) .. instead[2] .. text:sub(last + 1)
end

-- A float with at least 3 digits, with all before the decimal point (up to 15), and with as many as
-- `is_enough(text)` requires.
local function digits(value, is_enough)
  local is_finite = value - value == 0
  local before = math.abs(value) < 1e15 and #("%.0f"):format(math.abs(value)) or 0
  local text
  for count = math.max(before, 3), 17 do
    text = ("%%.%dg"):format(count):format(value)
    if not is_finite or is_enough(text) then
      break
    end
  end
  return text
end

--- Evaluates a claim in a scope.
---@param claim {text: string}
---@return {text: string, value: string, holds: boolean} result value: the left side of the
---   comparison, with enough digits to see whether the claim holds
function M.judge(claim, scope)
  local left = claim.text:match "^(.-)%s*[<>=~]=?%s*[^=]*$"
  if not left or not eval.compile(left, NAME, scope) then
    left = claim.text
  end
  local value, holds = M.evaluate(left, scope), M.evaluate(claim.text, scope) == true
  local text = math.type(value) == "float" and digits(value, function(rounded)
    return M.evaluate(rounded .. claim.text:sub(#left + 1), scope) == holds
  end) or format.value(value)
  return { text = claim.text, value = text, holds = holds }
end

--- Runs only the code of a step, with a fixed seed: its results are always the same.
---@param text string? = step.code; the code to run
function M.prepare(step, scope, text)
  core.seed(1)
  return M.execute(text or step.code or "", scope)
end

--- Runs a step.
---@return table result transcript, claims, identity, and whether all of them hold
function M.run(step, scope)
  local result = { transcript = M.prepare(step, scope), claims = {}, holds = true }
  for i, claim in ipairs(step.claims) do
    result.claims[i] = M.judge(claim, scope)
    result.holds = result.holds and result.claims[i].holds
  end
  if step.identity then
    result.identity = identity.identity(step.identity)
    result.holds = result.holds and result.identity.holds
  end
  return result
end

return M
