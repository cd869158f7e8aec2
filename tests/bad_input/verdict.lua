-- Runs a bad call and judges its error: it must name the function and the argument, must not come
-- from inside the library, and must leave the random generator as it was.

local catalogue = require("roper.workbench.help.catalogue")
local core = require("roper.core")
local stdout = require("tests.stdout")

local M = {}

-- Functions whose errors name another one, with the reason.
local NAMED_AS <const> = {
  -- They are rope with other defaults, in one function of the core.
  ["roper.rotary"] = "rope", ["roper.position.roper"] = "rope", ["roper.position.none"] = "rope",
  -- The options are passed on to the function of this name.
  ["Linear:cross_entropy"] = "linear_cross_entropy", ["roper.attention_weights"] = "attention",
}

-- Messages that name the function and the argument in another way: patterns, with the reason.
local OTHER_WORDS <const> = {
  -- A definition is often in a file, so messages begin with its kind and name.
  { "register$", "^task own_task: " }, { "register$", "^experiment own: " },
  { "register$", "^position: own_scheme: " },
  -- A scheme passes on the option `input` of attention as x.
  { "^Positions:", "^position: accumulated: expected the input of the layer, got " },
  -- The data of a plot have no name in a call.
  { "^roper%.plot%.", "^plot%.%a+: expected a vector" },
  { "^roper%.plot%.", "^plot%.%a+: expected a matrix" },
  { "^roper%.plot%.rotation$", "^plot%.rotation: position: " },
  { "^roper%.lesson$", "^lesson, %a+ %d+: " },
}

local STANDARD <const> = {} -- names of Lua's own functions
for _, library in ipairs({ _G, string, table, math, io, os, debug, utf8, coroutine }) do
  for name, value in pairs(library) do
    STANDARD[name] = type(value) == "function" or nil
  end
end

-- Is a message, without a place at its start, one of Lua, or about the inside of the library?
local function is_internal(message, name)
  local called = message:match("^bad argument #%d+ to '(.-)'")
  return message:find("attempt to ", 1, true) or message:find("^bad 'for' ")
    or message:find("roper/[%w_/]+%.lua:%d") or called == "?" or called == "for iterator"
    or called ~= name and STANDARD[called] or message:find("stack traceback", 1, true)
end

-- Does a message begin with a function's name, or name it as Lua does?
local function names(message, name)
  return message:find("^[%w_.:]-%f[%w_]" .. name .. ":") ~= nil
    or message:find("to '[%w_.:]-%f[%w_]" .. name .. "'") ~= nil
end

-- Does a message contain a word, or the number of an argument?
local function mentions(message, word, is_method)
  local number = tonumber(word:match("^#(%d+)$"))
  if number then
    return message:find("#" .. number .. " ", 1, true)
      or is_method and message:find("#" .. number + 1 .. " ", 1, true)
  elseif word:find("^[%w_]*$") then
    return word == "" or message:find("%f[%w_]" .. word .. "%f[^%w_]")
  end
  return message:find(word, 1, true)
end

local function is_worded_otherwise(path, message)
  for _, other in ipairs(OTHER_WORDS) do
    if path:find(other[1]) and message:find(other[2]) then
      return true
    end
  end
  return false
end

--- Judges the error of a call.
---@param call BadCall
---@param raised string
---@return string? problem
function M.of_error(call, raised)
  local message = raised:gsub("^[^%s:]*%.lua:%d+: ", ""):gsub("^call:%d+: ", "")
  local name, class = call.path:match("[%w_]+$"), call.path:match("^([%w_.]+):")
  if is_internal(message, name) then
    return "an internal error"
  elseif not call.must or is_worded_otherwise(call.path, message) then
    return nil
  elseif not (names(message, name) or class and names(message, class)
    or NAMED_AS[call.path] and names(message, NAMED_AS[call.path])) then
    return "does not name the function"
  end
  for _, word in ipairs(call.names) do
    if mentions(message, word, class ~= nil) then
      return nil
    end
  end
  return "does not name the argument"
end

local STEPS <const> = 3000000 -- of Lua; a call that takes longer is not one that was refused

--- Runs a call.
---@param call BadCall
---@param env table its globals
---@return string? problem nil if the call raised a good error, or may succeed and did
---@return boolean ok did it succeed?
function M.of_call(call, env)
  -- Not a tail call, so that Lua knows the name of the function.
  local f = assert(load("local result = " .. call.lua, "=call", "t", env))
  local seed, counter = core.random_state()
  local ok, raised
  stdout.capture_both(function()
    debug.sethook(function() error("takes too long", 0) end, "", STEPS)
    ok, raised = pcall(f)
    debug.sethook()
  end)
  local new_seed, new_counter = core.random_state()
  core.random_state(seed, counter)
  local problem
  if ok then
    problem = call.must and "accepted" or nil
  elseif call.must and (new_seed ~= seed or new_counter ~= counter) then
    problem = "moves the random generator"
  else
    problem = M.of_error(call, tostring(raised))
  end
  return problem and ("%s: %s: %s%s"):format(call.kind, problem, call.lua,
    ok and "" or "  -- " .. tostring(raised):match("^[^\n]*")), ok
end

--- The functions and methods of the catalogue that the table covers: all, but a function that is
--- also a method once, and without those that change what the tests run in.
---@return Entry[]
function M.entries()
  local list, left_out = {}, { ["roper.memory_limit"] = true, ["roper.threads"] = true }
  for _, entry in ipairs(catalogue.entries()) do
    local is_called = entry.kind == "function" or entry.kind == "method"
    list[#list + 1] = is_called and not entry.same and not left_out[entry.path] and entry or nil
  end
  return list
end

return M
