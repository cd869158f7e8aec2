-- Bad calls of a function, from the types in its documentation: the rows that make its help.

local options_of = require("roper.options.rows")
local sources = require("roper.workbench.help.sources")
local values = require("tests.bad_input.values")

local M = {}

-- Values outside the range of a kind of `options.mismatch`.
local OUTSIDE <const> = {
  size = { "0", "-1" }, count = { "-1" }, number = { "0/0", "1/0" }, amount = { "-1", "0/0" },
  positive = { "0", "-1", "0/0" }, factor = { "0.5", "0/0" }, share = { "-0.1", "1.1", "0/0" },
  probability = { "-0.1", "1", "0/0" },
}

-- Values outside the range of a declared option.
local function outside_row(class, name)
  local ok, rows = pcall(options_of.rows, class)
  local kind = ok and rows[name] and rows[name][2]
  if type(kind) == "table" and kind.smallest then
    return { tostring(kind.smallest - 1), tostring(kind.largest + 1) }
  end
  return type(kind) == "string" and OUTSIDE[kind:gsub("%?$", "")] or {}
end

-- Values outside the range that a description states, such as "from 2 to 26".
local function outside_text(parameter)
  local text, list = ", " .. parameter.text, {}
  local function add(low, high)
    list[#list + 1] = low and tostring(tonumber(low) - 1)
    list[#list + 1] = high and tostring(tonumber(high) + 1)
  end
  if parameter.type:find("^integer$") or parameter.type:find("^number$") then
    add(text:match("[,;] at least (%d+)"), text:match("at least %d+ and below (%d+)"))
    add(text:match(" from (%d+) to (%d+)"))
    add(nil, text:match(", up to (%d+)"))
  end
  return list
end

---@class BadCall
---@field path string of the function
---@field lua string the call
---@field kind string such as "too few"
---@field must boolean must it fail? Otherwise the value has the documented type, or another dtype,
---   shape or sign, and may fail
---@field names string[] of which the message contains one; "#2" for an argument by its number

-- The words by which a message can name the parameter at an index, or one after it.
local function words_of(parameters, first, last)
  local words = {}
  for i = first, last do
    local name, kind = parameters[i].name, parameters[i].type
    words[#words + 1] = name
    words[#words + 1] = "#" .. i
    if kind:find("%[%]") or kind:find("^table<") then -- "element 1", or "axis" for `axes`
      words[#words + 1] = "element"
      words[#words + 1] = name:gsub("s$", "")
      words[#words + 1] = name:gsub("es$", "is")
    elseif values.is_plain(kind) then -- "unknown option"; "expected a table of options"
      words[#words + 1] = "option"
      words[#words + 1] = "options"
    end
  end
  words[#words + 1] = #parameters == 1 and "" or nil -- it cannot be another
  return words
end

-- Adds calls with bad options of a class. `add` gets the kind, whether the call must fail, the
-- changed fields and the words of the message.
local function add_options(class, add)
  local fields, longest = values.is_record(class) and {} or sources.fields(class), ""
  for _, field in ipairs(fields) do
    longest = #field.name > #longest and field.name or longest
  end
  if class:find("Options$") then
    add("unknown option", true, { "zzz = 1" }, { "zzz" })
    add("misspelt option", #longest > 3, { longest:sub(1, 1) .. longest .. " = 1" },
      { 'did you mean "' .. longest .. '"' })
  end
  for _, field in ipairs(fields) do
    local name, words = field.name, { field.name, (field.name:gsub("s$", "")) }
    local function try(kind, must, list)
      for _, lua in ipairs(list) do
        add(kind, must, { [name] = lua }, words)
      end
    end
    local bad, doubtful = values.bad(field)
    try("missing option", not field.optional, field.optional and {} or { "nil" })
    try("option of wrong type", true, bad)
    try("doubtful option", false, doubtful)
    try("option out of range", true, outside_row(class, name))
    try("option out of range", true, outside_text(field))
  end
end

local SHAPES <const> = { "i", "roper.ones{7}", "roper.tensor(1)", "roper.ones{1, 1, 1, 1, 1, 1}",
  "roper.ones{0, 3}" }

-- Adds calls with bad values of one argument.
local function add_values(parameter, words, add)
  local function try(kind, must, list)
    for _, lua in ipairs(list) do
      add(kind, must, lua, words)
    end
  end
  local bad, doubtful = values.bad(parameter)
  try("wrong type", true, bad)
  try("doubtful", false, doubtful)
  try("out of range", true, outside_text(parameter))
  try("doubtful", false, parameter.type:find("^integer") and { "0", "-1", "-99" } or {})
  try("dtype or shape", false, parameter.type:find("^tensor") and SHAPES or {})
end

-- Functions that create runs in the current folder if they succeed: they get no doubtful values.
local CREATES_RUNS <const> = { ["roper.sweep.prepare"] = true, ["roper.sweep.run"] = true }

--- The bad calls of a function or a method.
---@param entry Entry
---@return BadCall[]
function M.of(entry)
  local calls, given, plain, most, is_open = {}, {}, {}, 0, false
  local class, method = entry.path:match("^([%w_.]+):([%w_]+)$")
  local parameters = {}
  for _, parameter in ipairs(entry.comment.parameters) do
    if parameter.name:find("^%.%.%.") then
      is_open = parameter.type ~= "nil"
    else
      most = most + 1
      local place = entry.path .. " " .. parameter.name
      parameters[most], given[most] = parameter, values.good(parameter.type, place)
      plain[most] = parameter.optional and not values.is_exact(place) and "nil" or given[most]
    end
  end
  local function add(kind, must, arguments, names)
    if CREATES_RUNS[entry.path] and not must then
      return
    end
    local called = class and values.object(class) .. ":" .. method or entry.path
    calls[#calls + 1] = { path = entry.path, kind = kind, must = must, names = names,
      lua = ("%s(%s)"):format(called, table.concat(arguments, ", ")) }
  end
  -- The arguments with another one at an index, without optional ones at the end.
  local function with(list, at, lua)
    local changed = table.move(list, 1, most, 1, {})
    changed[at] = lua
    while changed[#changed] == "nil" and #changed > at do
      changed[#changed] = nil
    end
    return changed
  end
  for i, parameter in ipairs(parameters) do
    if not parameter.optional and parameter.type ~= "any" then
      local words = words_of(parameters, i, most)
      add("too few", true, table.move(given, 1, i - 1, 1, {}), words)
      add("nil in the middle", true, with(given, i, "nil"), words)
    end
    local is_partial = parameter.text:find("may be missing")
    add_values(parameter, words_of(parameters, i, i), function(kind, must, lua, words)
      add(kind, must, with(plain, i, lua), words)
    end)
    for _, one in ipairs(values.alternatives(parameter.type)) do
      if values.is_plain(one) then
        add_options(one, function(kind, must, changes, words)
          add(kind, must and not (is_partial and kind == "missing option"),
            with(plain, i, values.options(one, changes)), words)
        end)
      end
    end
  end
  if not is_open then
    add("too many", true, table.move({ "5" }, 1, 1, most + 1, table.move(plain, 1, most, 1, {})),
      { "" })
  end
  if class then
    calls[#calls + 1] = { path = entry.path, kind = "wrong object", must = true, names = { "" },
      lua = ("%s.%s(5)"):format(values.object(class), method) }
  end
  return calls
end

return M
