--- Lua code from outside: compiled as an expression or as statements, run so that
--- Ctrl-C can end it, its errors told without the frames of this library.
local core = require "roper.core"
local diagnostics = require "roper.base.diagnostics"

local M = {}

-- In front of an expression: what is to be closed keeps its frame during a call in it.
local RETURN <const> = "local __frame <close> = nil return "

local MOST_TRIES <const> = 16 -- semicolons behind which an expression may begin
local MOST_NAMES <const> = 1000 -- names that a call at the end may begin with

-- The message and whether more input could mend it; no message when it compiles.
local function try(source, name, globals)
  local chunk, message = load(source .. "\n", "=" .. name, "t", globals)
  return chunk, message, message ~= nil and message:find "<eof>'?$" ~= nil
end

-- Does the message complain about the first word of the source?
local function is_about_start(message, source)
  local token = message:match "near '?(.-)'?$"
  return token ~= nil and source:match("^%s*(.*)"):sub(1, #token) == token
end

-- Statements and, after a semicolon, an expression, which becomes what they return.
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

-- Does a new statement begin after this text? Not inside a comment, which hides anything, nor
-- after `return`.
local function ends_statement(before)
  return load(before .. " local _ = nil") ~= nil and load(before .. " ?") == nil
end

-- The places where a call as a statement may begin: at a name, which never continues a complete
-- statement, or at a parenthesis after a semicolon.
local function call_starts(source)
  local places = {}
  for at in source:gmatch "%f[%w_]()[%a_][%w_.]*" do
    places[#places + 1] = at
  end
  for at in source:gmatch ";%s*()%(" do
    places[#places + 1] = at
  end
  table.sort(places)
  return places
end

-- Statements whose last is a call: they return what it does.
local function try_call(source, name, globals)
  local places = call_starts(source)
  for i = #places, math.max(1, #places - MOST_NAMES), -1 do
    local before, rest = source:sub(1, places[i] - 1), source:sub(places[i])
    if load("return " .. rest) and load(rest) and ends_statement(before) then
      return (try(before .. RETURN .. rest, name, globals))
    end
  end
  return nil
end

--- Compile an expression, or else statements. They return the values of an expression that follows
--- a semicolon at their end and, if asked for, of a call there.
---@param source string
---@param name string stands for the source in messages
---@param globals table
---@param with_call boolean? return the values of a call at the end of statements
---@return function? chunk nil where it does not compile
---@return "expression"|"statement"|"incomplete"|"wrong" kind incomplete: more lines could mend it
---@return string? message why it does not compile
---@return string? statements where they were made from the source: with `return` before the
---   expression at its end
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

-- The results of interrupt_call; diagnostics.of did not see an error that left no memory.
local function settle(ok, result, ...)
  if not ok and type(result) ~= "table" then
    result = diagnostics.bare(tostring(result))
  end
  return ok, result, ...
end

--- Run a function; Ctrl-C ends it.
---@param action function
---@param ... any its arguments
---@return boolean ok
---@return any ... its results, or a Failure
function M.call(action, ...)
  return settle(core.interrupt_call(action, diagnostics.of, ...))
end

M.trace = diagnostics.trace

return M
