--- The globals of a session. Reading an undefined global is an error in typed code.
local diagnostics = require "roper.text.diagnostics"
local format = require "roper.text.format"

local M = {}

local lua_print <const> = print

-- Python's constants. Reading them is an error in files too, since {causal = True} would silently
-- omit the option.
local CONSTANTS <const> = { True = true, False = true, None = true }

-- Was the function at a stack level typed, at a prompt or after -e? Level 1 is the caller of
-- `is_typed`.
local function is_typed(level)
  local info = debug.getinfo(level + 1, "S")
  return info ~= nil and diagnostics.sources[info.source:match "^=(.*)"] ~= nil
end

--- Makes reading an undefined global an error in typed code. Code in files reads nil, since it may
--- test whether a global exists, except for Python's True, False and None. A global is defined once
--- a value was assigned, even nil.
---@param globals table
function M.guard(globals)
  local before = getmetatable(globals)
  if before and before.is_guard then
    return
  end
  local inherited, defined = before and before.__index, { _ = true, _1 = true, _2 = true }
  setmetatable(globals, {
    is_guard = true,
    methods = type(inherited) == "table" and inherited or nil, -- for completion
    __index = function(_, name)
      local value = inherited and inherited[name]
      if value == nil and type(name) == "string" and not defined[name]
        and (CONSTANTS[name] or is_typed(2)) then
        error(("undefined variable %q%s"):format(name, diagnostics.global_hint(name)), 2)
      end
      return value
    end,
    __newindex = function(_, name, value)
      defined[name] = true
      rawset(globals, name, value)
    end,
  })
end

--- Defines `roper`, `plot`, `help` and `apropos`. Errors then suggest names, and Lua for lines of
--- PyTorch.
---@param globals table
function M.define(globals)
  local roper = require "roper"
  globals.roper, globals.plot = roper, require "roper.workbench.plot"
  globals.help, globals.apropos = roper.help, roper.apropos
  require("roper.workbench.help").name_in_failures()
  M.guard(globals)
end

--- Lua's print, but tables print as at the prompt. Scripts have Lua's own print.
---
---     > print("sizes", {2, 3})
---     sizes	{2, 3}
---@param ... any
local function print(...)
  local texts = table.pack(...)
  for i = 1, texts.n do
    local metatable = debug.getmetatable(texts[i])
    local has_text = type(metatable) == "table" and rawget(metatable, "__tostring")
    texts[i] = type(texts[i]) == "table" and not has_text and format.value(texts[i])
      or tostring(texts[i])
  end
  io.stdout:write(table.concat(texts, "\t"), "\n")
end

--- Guards the globals of a session and replaces Lua's `print`.
---@param globals table
function M.prepare(globals)
  if globals.print == lua_print then
    rawset(globals, "print", print)
  end
  M.guard(globals)
end

return M
