--- The globals of a session: reading one that nobody has set is an error in typed code.
local diagnostics = require "roper.base.diagnostics"
local session_print = require "roper.workbench.session.repl.print"

local M = {}

local lua_print <const> = print

-- Python's constants, which are an error to read from files too: nil would be taken for the
-- absence of an option, as in {causal = True}.
local CONSTANTS <const> = { True = true, False = true, None = true }

-- Is code that was typed, at a prompt or after -e, at a level of the stack of the caller?
local function is_typed(level)
  local info = debug.getinfo(level + 1, "S")
  return info ~= nil and diagnostics.sources[info.source:match "^=(.*)"] ~= nil
end

--- Make reading an undefined global an error: any in typed code, Python's True, False and None in
--- files too. Other code of files, which may test whether a global is there, reads nil as ever. A
--- global that was assigned is defined, also to nil.
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
        error(("undefined variable %q"):format(name), 2)
      end
      return value
    end,
    __newindex = function(_, name, value)
      defined[name] = true
      rawset(globals, name, value)
    end,
  })
end

--- Prepare the globals of a session: guarded, with a print that shows tables.
---@param globals table
function M.prepare(globals)
  if globals.print == lua_print then
    rawset(globals, "print", session_print)
  end
  M.guard(globals)
end

return M
