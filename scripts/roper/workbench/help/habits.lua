--- Answers to habits from PyTorch and Python: the rows of `?pytorch` that fit an error message and
--- the line it is about, and a colon where a dot calls a method.
local names_of = require "roper.base.names"
local rows_of = require "roper.workbench.help.pytorch"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"

local M = {}

-- What a row calls its receivers, by what they are here.
local RECEIVERS <const> = { tensor = "[xyvwst]", Module = "model", optimizer = "adam",
  library = "%u?%l*" }

---@class Habit
---@field typed string
---@field here string
---@field row Translation

-- The items of "f(a, b), c", which are apart at commas outside of brackets.
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

local habits ---@type Habit[]?

-- All rows, those with several items as one habit each.
local function all()
  if habits then
    return habits
  end
  habits = {}
  for _, group in ipairs(rows_of.groups) do
    for _, row in ipairs(group.rows) do
      local typed, here = items_of(row[1]), items_of(row[2])
      if #here > 1 and #here ~= #typed then
        typed, here = { row[1] }, { row[2] }
      end
      for i, text in ipairs(typed) do
        habits[#habits + 1] = { typed = text, here = here[i] or here[1], row = row }
      end
    end
  end
  return habits
end

local function answer(habit)
  local row = habit.row
  return ("%s's %s is %s here%s"):format(row.language or "PyTorch", habit.typed, habit.here,
    row.note and ": " .. row.note or "")
end

-- The first habit with a pattern in what is typed.
local function find(pattern)
  for _, habit in ipairs(all()) do
    if habit.typed:find(pattern) then
      return habit
    end
  end
  return nil
end

-- The row that a line is, but for blanks and a `;` at its end.
local function typed_row(line)
  local text = line:gsub("%s*;?%s*$", "")
  for _, habit in ipairs(all()) do
    if habit.row[1] == text then
      return { typed = text, here = habit.row[2], row = habit.row }
    end
  end
  return nil
end

-- That with a name as a field or a method: of a receiver, else of any.
local function member_habit(name, receiver)
  local member = "%." .. name .. "%f[^%w_]"
  return receiver and find("%f[%w_]" .. receiver .. member) or find(member)
end

-- That with a name by itself, such as True, or called, such as len(x).
local function bare_habit(name)
  return find("^" .. name .. "$") or find("%f[%w_.]" .. name .. "[%('\"]")
end

-- That about a form of Python that a line has.
local function syntax_habit(line)
  local code = line:gsub("([\"'])[^\"']*%1", "''")
  for _, habit in ipairs(all()) do
    if habit.row.syntax and code:find(habit.row.syntax) then
      return habit
    end
  end
  return nil
end

-- What is here under the name of a function or a class of PyTorch.
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

-- About a global that nobody has set.
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
  local first, rest = path:match "^([%a_][%w_]*)(.*)$"
  local value
  for _, variable in ipairs(frame.variables or {}) do
    value = variable[1] == first and variable or value
  end
  if value then
    value = value[2]
  else
    value = names_of.resolve(first, frame.globals or _G)
  end
  for name, place in rest:gmatch "%.?([%w_]*)%[?(%-?%d*)%]?" do
    if name ~= "" then
      value = names_of.resolve("v." .. name, { v = value })
    end
    if place ~= "" then
      local ok, found = pcall(function() return value[math.tointeger(place)] end)
      value = ok and found or nil
    end
  end
  return value
end

-- A method that a value has from its class; nil for functions in a table.
local function method_of(object, name)
  if type(object) == "table" and rawget(object, name) ~= nil then
    return nil
  end
  local found = names_of.resolve("v." .. name, { v = object })
  return type(found) == "function" and debug.getmetatable(object) and found or nil
end

-- The call with a colon, and the row about it where that is something else.
local function with_colon(holder, name, arguments, line)
  local call = ("%s:%s%s"):format(holder, name, arguments)
  local habit = typed_row(line) or arguments ~= "()" and find("%." .. name .. "%([^)]")
  return ("%s.%s: call it with a colon: %s%s"):format(holder, name, call,
    habit and habit.here ~= call and "; " .. answer(habit) or "")
end

-- Is a function a method of the library with a name, whatever it is called on?
local function is_method(f, name)
  local catalogue = require "roper.workbench.help.catalogue"
  local entry = type(f) == "function" and catalogue.of_value(f)
  return entry and entry.path:match "[%w_]+$" == name
    and (entry.kind == "method" or catalogue.aliases(entry)[1] ~= nil)
end

-- About a method that was called with a dot.
local function about_dot(frame)
  local line = frame.line
  for holder, name, at in line:gmatch "([%a_][%w_.%[%]%-]*)%.([%a_][%w_]*)%s*()[%({\"']" do
    local object = resolve(holder, frame)
    local method = method_of(object, name)
    if method and method == frame.called and not rawequal(object, frame.first) then
      local arguments = line:match("^%b()", at) or line:match("^%b{}", at) or "(…)"
      return with_colon(holder, name, arguments, line)
    end
  end
  local name = line:match "[%)}]%.([%a_][%w_]*)%s*[%({\"']"
  return name and is_method(frame.called, name) and with_colon("(…)", name, "(…)", line) or nil
end

--- What to type for a method that was read without a call; nil if it is none.
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

-- About a method that was used as a value: x.shape[1].
local function about_value(name, frame)
  for path in frame.line:gmatch("([%a_][%w_.]*%." .. name .. ")%f[^%w_]") do
    local text = M.about_method(path, frame)
    if text then
      return text
    end
  end
  return nil
end

-- What a value is called in messages, and the receiver in rows; nil for what is not of the library.
local function called(object)
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

-- About a field or a method that is nil: with the receiver in place of Lua's message where the
-- library made it.
local function about_member(kind, name, message, frame)
  local path = frame.line:match("([%a_][%w_.]*)[.:]" .. name .. "%f[^%w_]")
  local object = path and resolve(path, frame)
  local who, receiver = called(object)
  local habit = typed_row(frame.line) or object ~= nil and member_habit(name, receiver)
  if who then
    local place = message:match "^[^\n]-:%d+: " or ""
    message = ("%s%s has no %s %q"):format(place, who:gsub("^a (%f[AEIOU])", "an %1"), kind, name)
    local found = names_of.after("v.", { v = object })
    return message .. (habit and "; " .. answer(habit) or suggest.hint(name,
      tables.map(found, function(one) return one:sub(3) end)))
  end
  return habit and message .. "; " .. answer(habit)
end

-- Without the suggestion at its end, for which an answer stands in.
local function bare(message)
  return (message:gsub('; did you mean "[^"]*"%?$', "")
    :gsub('; did you mean "[^"]*"%? It takes', "; it takes"))
end

-- About the options and arguments of a function.
local function about_arguments(message, line)
  local name, option = message:match "([%w_]+): unknown option ([%w_]+);"
  if name and not tonumber(option) then
    return find(name .. "%(.*%f[%w_]" .. option .. "=")
  end
  name = name or message:match "([%w_]+): expected a table of options, got %a+$"
    or message:match "bad argument #%d+ to '([%w_]+)' %([%w ]+expected, got [%w_. ]+%)$"
    or message:match "([%w_]+): expected [^\n]*, got [%w_.]+$"
  local path = name and line:match("([%w_.]*)[.:]" .. name .. "%f[^%w_]")
  local is_elsewhere = path and path:find "^roper%." and path ~= "roper.nn"
    and path ~= "roper.optim"
  return path and not is_elsewhere and find("%." .. name .. "%(")
end

--- An error message with what to type here in place of what was typed; that takes the place of a
--- guess at a misspelt name.
---@param message string
---@param frame Frame of the code that the message is about
---@param caller Frame? of the code that called this
---@return string? advised nil without advice
function M.advise(message, frame, caller)
  local line = frame.line
  if not line then
    return nil
  end
  local advised = about_dot(frame) or caller and caller.line and about_dot(caller)
  if advised then
    return advised
  end
  local kind, name = message:match "nil value %((%a+) '([%w_]+)'%)$"
  if kind == "method" or kind == "field" then
    advised = about_member(kind, name, message, frame)
  end
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

--- A message about code that does not compile, with what is typed here for what Python has.
---@param message string
---@param line string that it is about
---@return string? advised
function M.advise_syntax(message, line)
  local habit = typed_row(line) or syntax_habit(line)
  return habit and message .. "; " .. answer(habit)
end

--- Is it the first line of a block of Python, which Lua takes for one that goes on?
---@param text string
---@return boolean
function M.is_python(text)
  local word = text:match "^%s*(%a+)%s[^\n]*:%f[%s\0]"
  return word == "for" or word == "if" or word == "elif" or word == "while" or word == "with"
end

return M
