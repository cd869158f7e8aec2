--- Compiles user code as an expression or as statements, and runs it: Ctrl-C interrupts it, and
--- errors are reported without the frames of this library.
local core = require "roper.core"
local diagnostics = require "roper.text.diagnostics"

local M = {}

-- Prefix of an expression. The to-be-closed variable prevents a tail call, which would remove the
-- frame from tracebacks.
local RETURN <const> = "local __frame <close> = nil return "

local MOST_TRIES <const> = 16 -- maximum number of semicolons after which an expression is tried
local MOST_NAMES <const> = 1000 -- maximum number of names at which a final call is tried

-- Compiles a chunk. If it fails, returns the message and whether more input could complete it.
local function try(source, name, globals)
  local chunk, message = load(source .. "\n", "=" .. name, "t", globals)
  return chunk, message, message ~= nil and message:find "<eof>'?$" ~= nil
end

-- Is the message about the first token of the source?
local function is_about_start(message, source)
  local token = message:match "near '?(.-)'?$"
  return token ~= nil and source:match("^%s*(.*)"):sub(1, #token) == token
end

-- Compiles statements followed by a semicolon and an expression, which they return.
local function try_return(source, name, globals)
  local tries = 0
  for from_end in source:reverse():gmatch "();" do
    local at = #source - from_end + 1
    local before, after = source:sub(1, at), source:sub(at + 1)
    local chunk = try(before .. " " .. RETURN .. after, name, globals)
    tries = tries + 1
    if chunk or tries == MOST_TRIES then
      return chunk, before .. " return " .. after
    end
  end
  return nil
end

-- Can a new statement begin after this text? False inside a comment and after `return`.
local function ends_statement(before)
  return load(before .. " local _ = nil") ~= nil and load(before .. " ?") == nil
end

-- The offsets at which a call statement may begin: at a name, which never continues a complete
-- statement, or at a parenthesis after a semicolon.
local function call_starts(source)
  local offsets = {}
  for at in source:gmatch "%f[%w_]()[%a_][%w_.]*" do
    offsets[#offsets + 1] = at
  end
  for at in source:gmatch ";%s*()%(" do
    offsets[#offsets + 1] = at
  end
  table.sort(offsets)
  return offsets
end

-- Compiles statements of which the last is a call, to return its results.
local function try_call(source, name, globals)
  local offsets = call_starts(source)
  for i = #offsets, math.max(1, #offsets - MOST_NAMES), -1 do
    local before, rest = source:sub(1, offsets[i] - 1), source:sub(offsets[i])
    if load("return " .. rest) and load(rest) and ends_statement(before) then
      return (try(before .. RETURN .. rest, name, globals))
    end
  end
  return nil
end

--- Compiles an expression or statements. Statements return the values of a final expression after a
--- semicolon and, with `with_call`, those of a final call.
---@param source string
---@param name string name of the source in messages
---@param globals table
---@param with_call boolean? return the values of a call at the end of statements
---@return function? chunk nil if the source does not compile
---@return "expression"|"statement"|"incomplete"|"wrong" kind incomplete: more lines could complete
---   it
---@return string? message why it does not compile
---@return string? statements the source with `return` before its final expression, if it has one
function M.compile(source, name, globals, with_call)
  local chunk, expression_message, expression_open = try(RETURN .. source, name, globals)
  if chunk then
    return chunk, "expression"
  end
  local statement_message, statement_open
  chunk, statement_message, statement_open = try(source, name, globals)
  if chunk then
    return with_call and try_call(source, name, globals) or chunk, "statement"
  end
  local statements
  chunk, statements = try_return(source, name, globals)
  if chunk then
    return chunk, "statement", nil, statements
  elseif expression_open or statement_open then
    return nil, "incomplete", statement_open and statement_message or expression_message
  elseif is_about_start(statement_message, source)
    and not is_about_start(expression_message, source)
    and not expression_message:find("<eof> expected", 1, true) then
    return nil, "wrong", expression_message
  end
  return nil, "wrong", statement_message
end

-- The results of interrupt_call. If memory ran out, diagnostics.of was not called.
local function settle(ok, result, ...)
  if not ok and type(result) ~= "table" then
    result = diagnostics.bare(tostring(result))
  end
  return ok, result, ...
end

--- Calls a function that Ctrl-C can interrupt.
---@param action function
---@param ... any its arguments
---@return boolean ok
---@return any ... its results, or a Failure
function M.call(action, ...)
  return settle(core.interrupt_call(action, diagnostics.of, ...))
end

M.trace = diagnostics.trace

return M
