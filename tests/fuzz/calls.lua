-- Random calls of every public function and method, and of every function of the C module, without
-- a session: many more calls per second.

local core = require("roper.core")
local grammar = require("tests.fuzz.grammar")
local messages = require("tests.fuzz.messages")

local M = {}

local FRESH <const> = 200 -- calls after which all names are set to their initial values

-- Functions that would lift the limits of the process or start others.
local LEFT_OUT <const> = { interrupt_enable = true, interrupt_disable = true,
  interrupt_clear = true, memory_limit = true, memory_fail_after = true, ranks_join = true,
  prepare_readline = true, threads = true }

local SETUP <const> = grammar.SETUP .. [[
writer = core.corpus_create("tokens", 300, 1)
for part, text in ipairs{"some words", "and others"} do
  writer:bytes(text)
  writer:end_document(({"training", "validation"})[part], #text)
end
writer:finish()
writer = core.corpus_create("others", 300, 1)
corpus = core.corpus_open "tokens"
lock = core.lock "lock"
]]

local native = {} -- entries of the functions that only the library calls
for _, entry in ipairs(grammar.functions) do
  native[entry.value] = true -- public
end
local others = {}
for name, value in pairs(core) do
  if type(value) == "function" and not native[value] and not LEFT_OUT[name] then
    others[#others + 1] = "core." .. name
  end
end
for _, name in ipairs({ "about", "draw", "read", "rows" }) do
  others[#others + 1] = "corpus:" .. name
end
for _, name in ipairs({ "bytes", "ids", "end_document", "finish" }) do
  others[#others + 1] = "writer:" .. name
end
table.sort(others)

local globals = setmetatable({ core = core }, { __index = _G })
globals.os, globals.io, globals.print = false, false, function() end
local setup = assert(load(SETUP, "=setup", "t", globals))

local function call()
  if math.random(6) > 1 then
    return grammar.call(0)
  end
  local list = {}
  for i = 1, math.random(0, 4) do
    list[i] = grammar.value_of("any", 0)
  end
  return others[math.random(#others)] .. "(" .. table.concat(list, ", ") .. ")"
end

function M.next(number)
  if number % FRESH == 1 then
    repeat -- until Ctrl-C does not end it
    until core.interrupt_call(setup, tostring)
  end
  local text = call()
  if math.random(30) == 1 then
    text = "coroutine.wrap(function() return " .. text .. " end)()"
  end
  local failing = math.random(50) == 1 and math.random(0, 30) or -1 -- allocation
  local chunk = load("return " .. text, "=call", "t", globals)
  return failing < 0 and text or ("%s -- memory_fail_after(%d)"):format(text, failing), function()
    core.memory_fail_after(failing)
    local ok, problem = core.interrupt_call(chunk, messages.problem)
    core.memory_fail_after(-1)
    return not ok and problem ~= "not enough memory" and problem or nil -- without the handler
  end
end

core.interrupt_enable()
return M
