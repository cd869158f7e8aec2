--- Hints in error messages for habits from PyTorch and Python: finds the row of `?pytorch` for the
--- message and the line with the error, and suggests a colon if a method was called with a dot.
local arity = require "roper.options.arity"
local names_of = require "roper.base.names"
local rows_of = require "roper.workbench.help.pytorch"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"

local M = {}

-- The names of receivers in the rows, by their class.
local RECEIVERS <const> = { tensor = "[xyvwst]", Module = "model", optimizer = "adam",
  library = "%u?%l*" }

---@class Habit
---@field typed string what is typed in Python
---@field here string what to type here
---@field row Translation

-- Splits "f(a, b), c" at commas outside brackets.
local function items_of(text)
  local items, depth, from = {}, 0, 1
  for at, sign in text:gmatch "()([%(%[{,%)%]}])" do
    depth = depth + (sign:find "[%(%[{]" and 1 or sign == "," and 0 or -1)
    if sign == "," and depth == 0 then
      items[#items + 1] = text:sub(from, at - 1)
      from = at + 2
    end
  end
  items[#items + 1] = text:sub(from)
  return items
end

local habits = {} ---@type Habit[] one for each item of a row
local lines = {} ---@type table<string, Habit> the whole rows, by their Python

for _, group in ipairs(rows_of.groups) do
  for _, row in ipairs(group.rows) do
    local typed, here = items_of(row[1]), items_of(row[2])
    local whole = { typed = row[1], here = row[2], row = row }
    lines[row[1]] = lines[row[1]] or whole
    if #here > 1 and #here ~= #typed then
      habits[#habits + 1] = whole
    else
      for i, text in ipairs(typed) do
        habits[#habits + 1] = { typed = text, here = here[i] or here[1], row = row }
      end
    end
  end
end

local function answer(habit)
  local row = habit.row
  return ("%s's %s is %s here%s"):format(row.language or "PyTorch", habit.typed, habit.here,
    row.note and ": " .. row.note or "")
end

local function find(pattern)
  for _, habit in ipairs(habits) do
    if habit.typed:find(pattern) then
      return habit
    end
  end
  return nil
end

-- The row that equals a line, apart from spaces and a final `;`.
local function typed_row(line)
  return lines[line:match "^(.-)%s*;?%s*$"]
end

-- The habit with a field or method, of the given receiver if possible.
local function member_habit(name, receiver)
  local member = "%." .. name .. "%f[^%w_]"
  return receiver and find("%f[%w_]" .. receiver .. member) or find(member)
end

-- The habit with a name alone, such as True, or called, such as len(x).
local function bare_habit(name)
  return find("^" .. name .. "$") or find("%f[%w_.]" .. name .. "[%('\"]")
end

local function syntax_habit(line)
  local code = line:gsub("([\"'])[^\"']*%1", "''")
  for _, habit in ipairs(habits) do
    if habit.row.syntax and code:find(habit.row.syntax) then
      return habit
    end
  end
  return nil
end

-- The public name that equals the name of a function or class of PyTorch.
local function namesake(name)
  local catalogue = require "roper.workbench.help.catalogue"
  for _, path in ipairs { "roper.", "roper.nn.", "roper.optim.", "tensor:" } do
    local entry = catalogue.entry(path .. name)
    if entry then
      return entry.path:gsub("^tensor:", "x:")
    end
  end
  return nil
end

local function about_global(name, line)
  local path = line:match("%f[%w_.]" .. name .. "[%w_.]*") or name
  local last = path:match "%.([%w_]+)$"
  if not rows_of.modules[name] then
    local habit = bare_habit(name) or line:find "^%s*#%s" and syntax_habit(line)
    return habit and answer(habit)
  end
  local habit = last and (find("%f[%w_]" .. path:gsub("%.", "%%.") .. "%f[^%w_]")
    or member_habit(last, RECEIVERS.library))
  local here = last and not habit and namesake(last)
  return habit and answer(habit) or here and ("%s is %s here"):format(path, here)
    or "?pytorch lists what to use instead"
end

-- The value of a path such as "model.layers[1].norm" in a frame.
local function resolve(path, frame)
  local scope = setmetatable({}, { __index = frame.globals or _G })
  for _, variable in ipairs(frame.variables or {}) do
    scope[variable[1]] = variable[2]
  end
  return (names_of.at_end(path, scope))
end

-- The method of a value's class with a name; nil for a function in a table.
local function method_of(object, name)
  if type(object) == "table" and rawget(object, name) ~= nil then
    return nil
  end
  local found = names_of.at_end("v." .. name, { v = object })
  return type(found) == "function" and debug.getmetatable(object) and found or nil
end

-- A hint to call with a colon, and the row for the call if it suggests something else.
local function with_colon(holder, name, arguments, line)
  local call = ("%s:%s%s"):format(holder, name, arguments)
  local habit = typed_row(line) or arguments ~= "()" and find("%." .. name .. "%([^)]")
  return ("%s.%s: call it with a colon: %s%s"):format(holder, name, call,
    habit and habit.here ~= call and "; " .. answer(habit) or "")
end

-- Is a function a method of the library with this name?
local function is_method(f, name)
  local catalogue = require "roper.workbench.help.catalogue"
  local entry = type(f) == "function" and catalogue.of_value(f)
  return entry and entry.path:match "[%w_]+$" == name
    and (entry.kind == "method" or catalogue.aliases(entry)[1] ~= nil)
end

-- The answer to a method that was called with a dot.
local function about_dot(frame)
  local line = frame.line
  for holder, name, at in line:gmatch "([%a_][%w_.%[%]%-]*)%.([%a_][%w_]*)%s*()[%({\"']" do
    local object = resolve(holder, frame)
    local method = method_of(object, name)
    if method and arity.original(method) == frame.called and not rawequal(object, frame.first) then
      local arguments = line:match("^%b()", at) or line:match("^%b{}", at) or "(…)"
      return with_colon(holder, name, arguments, line)
    end
  end
  local name = line:match "[%)}]%.([%a_][%w_]*)%s*[%({\"']"
  return name and is_method(frame.called, name) and with_colon("(…)", name, "(…)", line) or nil
end

--- A hint for a method that was read but not called; nil if it is not a method.
---@param path string such as "x.shape"
---@param frame table with `variables` or `globals`
---@return string? text
function M.about_method(path, frame)
  local holder, name = path:match "^([%a_][%w_.]*)%.([%a_][%w_]*)$"
  if not holder or not method_of(resolve(holder, frame), name) then
    return nil
  end
  return ("%s is a method: call %s:%s()"):format(path, holder, name)
end

-- The answer to a method that was used as a value, as in x.shape[1].
local function about_value(name, frame)
  for path in frame.line:gmatch("([%a_][%w_.]*%." .. name .. ")%f[^%w_]") do
    local text = M.about_method(path, frame)
    if text then
      return text
    end
  end
  return nil
end

-- The name of a library object in messages, and its receiver in rows; nil for other values.
local function described(object)
  local catalogue = require "roper.workbench.help.catalogue"
  local entry = type(object) == "table" and catalogue.of_value(object)
  if entry then
    return entry.path, RECEIVERS.library
  end
  local metatable = debug.getmetatable(object)
  if type(object) ~= "table" or not metatable then
    return nil
  elseif metatable.is_module then
    return "a " .. tostring(metatable.name), RECEIVERS.Module
  end
  entry = catalogue.class_of(object)
  return entry and "a " .. entry.path, RECEIVERS.optimizer
end

-- The answer to a field or method that is nil. For library objects, it replaces Lua's message.
local function about_member(kind, name, message, frame)
  local path = frame.line:match("([%a_][%w_.]*)[.:]" .. name .. "%f[^%w_]")
  local object = path and resolve(path, frame)
  local owner, receiver = described(object)
  local habit = typed_row(frame.line) or object ~= nil and member_habit(name, receiver)
  if owner then
    local place = message:match "^[^\n]-:%d+: " or ""
    message = ("%s%s has no %s %q"):format(place, owner:gsub("^a (%f[AEIOU])", "an %1"), kind, name)
    local found = names_of.after("v.", { v = object })
    return message .. (habit and "; " .. answer(habit) or suggest.hint(name,
      tables.map(found, function(one) return one:sub(3) end)))
  end
  return habit and message .. "; " .. answer(habit)
end

-- A message without its suggestion, which an answer replaces.
local function bare(message)
  return (message:gsub('; did you mean "[^"]*"%?$', "")
    :gsub('; did you mean "[^"]*"%? It takes', "; it takes"))
end

-- The habit for wrong options or arguments of a function.
local function about_arguments(message, line)
  local name, option = message:match "%f[%w_]([%w_]+): unknown option ([%w_]+);"
  if name and not tonumber(option) then
    return find(name .. "%(.*%f[%w_]" .. option .. "=")
  end
  name = name or message:match "%f[%w_]([%w_]+): expected a table of options, got %a+$"
    or message:match "bad argument #%d+ to '([%w_]+)' %([%w ]+expected, got [%w_. ]+%)$"
    or message:match "%f[%w_]([%w_]+): expected [^\n]*, got [%w_.]+$"
  local path = name and line:match("([%w_.]*)[.:]" .. name .. "%f[^%w_]")
  local is_elsewhere = path and path:find "^roper%." and path ~= "roper.nn"
    and path ~= "roper.optim"
  return path and not is_elsewhere and find("%." .. name .. "%(")
end

--- An error message with a correction, which replaces the suggestion of a similar name.
---@param message string
---@param frame Frame of the code with the error
---@param caller Frame? of its caller
---@return string? advised nil without a correction
function M.advise(message, frame, caller)
  local line = frame.line
  if not line then
    return nil
  end
  local kind, name = message:match "nil value %((%a+) '([%w_]+)'%)$"
  local advised = about_dot(frame) or caller and caller.line and about_dot(caller)
    or (kind == "method" or kind == "field") and about_member(kind, name, message, frame)
  local habit = typed_row(line)
  local unset = message:match 'undefined variable "([%w_]+)"'
  local value = message:match "function value %(%a+ '([%w_]+)'%)$"
  local field = bare(message):match 'has no field "([%a_][%w_]*)"$'
  local text
  if advised then
    return advised
  elseif habit then
    text = answer(habit)
  elseif unset then
    text = about_global(unset, line)
  elseif value then
    text = about_value(value, frame)
  else
    habit = field and member_habit(field, message:find "a tensor" and RECEIVERS.tensor
      or RECEIVERS.library) or not field and about_arguments(message, line)
    text = habit and answer(habit)
  end
  return text and bare(message) .. "; " .. text
end

--- The message about code that does not compile, with the Lua for the Python in its line.
---@param message string
---@param line string
---@return string? advised
function M.advise_syntax(message, line)
  local habit = typed_row(line) or syntax_habit(line)
  return habit and message .. "; " .. answer(habit)
end

--- Is a text the first line of a block in Python? Lua would wait for more lines.
---@param text string
---@return boolean
function M.is_python(text)
  local word = text:match "^%s*(%a+)%s[^\n]*:%f[%s\0]"
  return word == "for" or word == "if" or word == "elif" or word == "while" or word == "with"
end

return M
