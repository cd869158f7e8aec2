--- Runs a step of a lesson: executes its code as if typed, and checks its claims and its identity.
local eval = require "roper.text.eval"
local core = require "roper.core"
local format = require "roper.text.format"
local identity = require "roper.identity"
local public = require "roper.base.public"
local tables = require "roper.base.tables"

local M = {}

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

--- Moves the variables of a layer to the scope below. Functions that were defined in the layer then
--- set variables there.
function M.keep(layer)
  local below = getmetatable(layer).__index
  for name, value in next, layer do
    below[name], layer[name] = value, nil
  end
  getmetatable(layer).__newindex = below
end

-- The scopes below a layer, down to Lua's globals, each with a copy of its variables.
local function variables_below(layer)
  local copies, scope = {}, layer
  while scope do
    local metatable = getmetatable(scope) or {}
    scope = metatable.methods or metatable.__index -- methods: in a scope that a session guards
    copies[#copies + 1] = type(scope) == "table" and { scope, tables.merged(scope) } or nil
  end
  return copies
end

--- Calls a function whose effects the reader must not see (yet). Afterwards, all scopes below a
--- layer have the variables that they had before. Those that functions of the lesson set there are
--- set in the layer instead.
---@param layer table
---@param run function
---@param ... any its arguments
---@return any ... its results
function M.hidden(layer, run, ...)
  local copies = variables_below(layer)
  local _ <close> = setmetatable({}, { __close = function()
    for _, copy in ipairs(copies) do
      local scope, before = table.unpack(copy)
      for name, value in next, scope do
        if value ~= before[name] and rawget(layer, name) == nil then
          rawset(layer, name, value)
        end
        rawset(scope, name, before[name])
      end
      for name, value in next, before do
        rawset(scope, name, value)
      end
    end
  end })
  return run(...)
end

-- Splits code into the pieces that would run one after the other if the lines were typed. `name`
-- names the code in messages; the number of its first line is `first`.
local function pieces(text, scope, name, first)
  local list, open, start, number = {}, nil, first, first
  for line in (text:gsub("%s+$", "") .. "\n"):gmatch "(.-)\n" do
    if not open then
      start = number
    end
    open = open and open .. "\n" .. line or line
    local action, kind, message = eval.compile(("\n"):rep(start - 1) .. open, name, scope)
    if action then
      if open:find "%S" then
        list[#list + 1] = { source = open, action = action }
      end
      open = nil
    elseif kind ~= "incomplete" then
      error(message, 0)
    end
    number = number + 1
  end
  if open then
    error(("%s:%d: incomplete code: %s"):format(name, start, open), 0)
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

--- Compiles code.
---
--- Errors: it does not compile, or is not complete.
---@param name string? = "code"; names the code in messages
---@return {source: string, action: function}[] pieces that run one after the other
function M.compile(text, scope, name)
  local _, above = text:match("^\n*"):gsub("\n", "") -- empty lines that `unindented` removes
  return pieces(M.unindented(text), scope, name or "code", above + 1)
end

--- Runs code in a scope. The results of an expression are kept as text, unless it ends with a ;.
---@param name string? = "code"; names the code in messages
---@return {source: string, output: string?}[] transcript
function M.execute(text, scope, name)
  local transcript = {}
  for i, piece in ipairs(M.compile(text, scope, name)) do
    local results = table.pack(piece.action())
    local is_muted = results.n == 0 or piece.source:find ";%s*$"
    transcript[i] = { source = piece.source, output = not is_muted and format.results(results)
      or nil }
  end
  return transcript
end

--- The name of a field in messages: "step 2, figure, draw".
---@param owner {where: string?} a step, figure, claim or question that was checked
function M.name_of(owner, field)
  return (owner.where and owner.where .. ", " or "") .. field
end

--- Evaluates Lua that the reader does not see in a layer, as `hidden` does.
---@param name string names the source in messages
function M.evaluate(source, layer, name)
  local action, _, message = eval.compile(source, name, layer)
  if not action then
    error(message, 0)
  end
  return M.hidden(layer, action)
end

--- Draws a figure of a step whose code was run.
---@param figure {draw: string, where: string?} draw: Lua that draws with `plot` and passes
---   `format = format`
---@param kind "svg"|"text"|nil nil shows the figure on the terminal
---@return string? picture
---@return table variables a scope with the variables that the drawing set
function M.draw(figure, scope, kind)
  local variables = M.layer(scope, { format = kind })
  return (M.evaluate(figure.draw, variables, M.name_of(figure, "draw"))), variables
end

--- The value of the option `data` of an interactive figure, for a step whose code was run.
---@param figure {play: table?, where: string?}
---@return any data nil without this option
function M.data(figure, scope)
  local source = figure.play and figure.play.data
  return source and M.evaluate(source, M.layer(scope), M.name_of(figure, "play, data"))
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
---@param claim {text: string, where: string?}
---@return {text: string, value: string, holds: boolean} result value: the left side of the
---   comparison, with enough digits to see whether the claim holds
function M.judge(claim, scope)
  local name = claim.where or "claim"
  local left = claim.text:match "^(.-)%s*[<>=~]=?%s*[^=]*$"
  if not left or not eval.compile(left, name, scope) then
    left = claim.text
  end
  local inner = M.layer(scope)
  local value, holds = M.evaluate(left, inner, name), M.evaluate(claim.text, inner, name) == true
  local text = math.type(value) == "float" and digits(value, function(rounded)
    return M.evaluate(rounded .. claim.text:sub(#left + 1), inner, name) == holds
  end) or format.value(value)
  return { text = claim.text, value = text, holds = holds }
end

--- Runs only the code of a step, with a fixed seed: its results are always the same.
---@param text string? = step.code; the code to run
function M.prepare(step, scope, text)
  core.seed(1)
  return M.execute(text or step.code or "", scope, M.name_of(step, "code"))
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

--- Adds the file to a message about a lesson, which names the step: "step 2, code:3: …".
---@param path string? of the lesson's file
---@param message string
---@return string message unchanged without a file, or if it begins with the file
function M.located(path, message)
  return (not path or message:sub(1, #path) == path) and message or ("%s: %s"):format(path, message)
end

return M
