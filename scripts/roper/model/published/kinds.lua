--- Kinds of layers in published models: those with a sliding window, and those that do not rotate.
--- Each way to write them in config.json reads the fields and writes them.
local config = require "roper.model.published.config"
local core = require "roper.core"
local tables = require "roper.base.tables"

local M = {}

local NULL <const> = core.json_null
local FULL <const>, SLIDING <const> = "full_attention", "sliding_attention"

---@class LayerKinds
---@field windows (integer|false)[] the window of each layer
---@field rotated boolean[] whether each layer rotates queries and keys

---@class KindsForm
---@field fields string[] the fields that it reads
---@field read fun(path: string, given: table, count: integer): LayerKinds
---@field write fun(kinds: LayerKinds): table?, string? fields; nil and a problem

-- A list with the same value for each layer.
local function all(count, value)
  local list = {}
  for i = 1, count do
    list[i] = value
  end
  return list
end

-- The size of the window in a field; false for null.
local function size_of(path, given, default)
  local size = given.sliding_window
  if size == nil then
    size = default
  elseif size == NULL then
    return false
  end
  if size and (math.type(size) ~= "integer" or size < 1) then
    config.refuse(path, "sliding_window", size, "a positive integer or null")
  end
  return size
end

-- The windows of the layers from the field layer_types, or from a function of the layer, from 1.
local function windows_of(path, given, count, size, has_window)
  local types, windows = given.layer_types, {}
  if types == NULL then
    types = nil
  elseif types ~= nil and (type(types) ~= "table" or #types ~= count) then
    config.refuse(path, "layer_types", types, ("a list of %d kinds"):format(count))
  end
  for i = 1, count do
    local kind = types and types[i] or has_window(i) and SLIDING or FULL
    if kind ~= FULL and kind ~= SLIDING then
      config.refuse(path, "layer_types", kind, FULL .. " or " .. SLIDING)
    elseif kind == SLIDING and not size then
      config.refuse(path, "layer_types", kind, FULL .. ", since there is no window")
    end
    windows[i] = kind == SLIDING and size
  end
  return windows
end

-- The one size of all windows; false without windows; nil and a problem for several.
local function one_size(windows)
  local found = false
  for _, size in ipairs(windows) do
    if size and found and size ~= found then
      return nil, ("windows of %d and %d have no counterpart; expected one size"):format(found,
        size)
    end
    found = size or found
  end
  return found
end

-- The field layer_types.
local function types_of(windows)
  return core.json_array(tables.map(windows, function(size) return size and SLIDING or FULL end))
end

-- Does every layer rotate? Also returns the problem if not.
local function all_rotate(kinds)
  for _, rotated in ipairs(kinds.rotated) do
    if not rotated then
      return false, "layers without rotation have no counterpart"
    end
  end
  return true
end

-- A form in which all layers have the same window, or none.
local function every(default)
  return { fields = { "sliding_window" },
    read = function(path, given, count)
      return { windows = all(count, size_of(path, given, default)), rotated = all(count, true) }
    end,
    write = function(kinds)
      local rotate, problem = all_rotate(kinds)
      if not rotate then
        return nil, problem
      end
      for _, size in ipairs(kinds.windows) do
        if size ~= kinds.windows[1] then
          return nil, "windows in some of the layers have no counterpart; expected all or none"
        end
      end
      return { sliding_window = kinds.windows[1] or NULL }
    end }
end

--- Mistral: a window in every layer, of 4,096 tokens if the field is missing.
M.EVERY = every(4096) ---@type KindsForm

--- Phi-3: the same, without a window if the field is missing.
M.EVERY_OR_NONE = every(false) ---@type KindsForm

-- Writes fields with `layer_types`.
local function write_types(kinds, size)
  return { use_sliding_window = size ~= false, sliding_window = size or NULL,
    layer_types = types_of(kinds.windows) }
end

--- Qwen2: with use_sliding_window, a window in the layers from max_window_layers on.
M.UPPER = { fields = { "use_sliding_window", "sliding_window", "max_window_layers", "layer_types" },
  read = function(path, given, count)
    local size = given.use_sliding_window == true and size_of(path, given, 4096)
    local first = given.max_window_layers
    first = math.type(first) and first or 28
    return { rotated = all(count, true), windows = windows_of(path, given, count, size,
      function(i) return size and i > first end) }
  end,
  write = function(kinds)
    local rotate, problem = all_rotate(kinds)
    local size, other = one_size(kinds.windows)
    if not rotate or size == nil then
      return nil, problem or other
    end
    local fields, first = write_types(kinds, size), 0
    while first < #kinds.windows and not kinds.windows[first + 1] do
      first = first + 1
    end
    fields.max_window_layers = first
    return fields
  end } ---@type KindsForm

--- Gemma 2: a window in every other layer, from the first on.
M.ALTERNATING = { fields = { "sliding_window", "layer_types" },
  read = function(path, given, count)
    local size = size_of(path, given, 4096)
    return { rotated = all(count, true), windows = windows_of(path, given, count, size,
      function(i) return i % 2 == 1 end) }
  end,
  write = function(kinds)
    local rotate, problem = all_rotate(kinds)
    local size, other = one_size(kinds.windows)
    if not rotate or size == nil then
      return nil, problem or other
    end
    return { sliding_window = size or 4096, layer_types = types_of(kinds.windows) }
  end } ---@type KindsForm

-- Which layers rotate, from the fields of SmolLM3.
local function rotated_of(path, given, count)
  local list, interval = given.no_rope_layers, given.no_rope_layer_interval
  interval = interval == nil and 4 or interval
  if list == NULL or type(list) == "table" and #list == 0 then
    list = nil
  elseif list ~= nil and (type(list) ~= "table" or #list < count) then
    config.refuse(path, "no_rope_layers", list, ("a list of %d times 0 or 1"):format(count))
  elseif math.type(interval) ~= "integer" or interval < 1 then
    config.refuse(path, "no_rope_layer_interval", interval, "a positive integer")
  end
  local rotated = {}
  for i = 1, count do
    local value = not list and (i % interval ~= 0 and 1 or 0) or list[i]
    if value ~= 0 and value ~= 1 then
      config.refuse(path, "no_rope_layers", value, "0 or 1")
    end
    rotated[i] = value == 1
  end
  return rotated
end

--- SmolLM3: some layers do not rotate; with use_sliding_window, these have the windows.
M.SOME_ROTATED = { fields = { "no_rope_layers", "no_rope_layer_interval", "use_sliding_window",
    "sliding_window", "layer_types" },
  read = function(path, given, count)
    local rotated = rotated_of(path, given, count)
    local size = given.use_sliding_window == true and size_of(path, given, false)
    return { rotated = rotated, windows = windows_of(path, given, count, size,
      function(i) return size and not rotated[i] end) }
  end,
  write = function(kinds)
    local size, problem = one_size(kinds.windows)
    if size == nil then
      return nil, problem
    end
    local fields = write_types(kinds, size)
    fields.no_rope_layers = core.json_array(tables.map(kinds.rotated,
      function(rotated) return rotated and 1 or 0 end))
    return fields
  end } ---@type KindsForm

--- The fields for kinds of layers; nil and a problem if they have no counterpart.
---@param form KindsForm? nil for families whose layers are all the same
---@param kinds LayerKinds
---@return table? fields
---@return string? problem
function M.fields(form, kinds)
  if form then
    return form.write(kinds)
  end
  local rotate, problem = all_rotate(kinds)
  if not rotate or one_size(kinds.windows) ~= false then
    return nil, problem or "sliding windows have no counterpart"
  end
  return {}
end

--- The option `position` of a Transformer with kinds of layers.
---@param scheme table {type = name, ...}
---@param kinds LayerKinds
---@return any position the scheme of all layers, or the shortest list that repeats
function M.position(scheme, kinds)
  local list, keys = {}, {}
  for i, size in ipairs(kinds.windows) do
    local window, rotated = size and { type = "window", size = size }, kinds.rotated[i]
    list[i] = window and (rotated and { type = "join", parts = { window, scheme } } or window)
      or rotated and scheme or { type = "none" }
    keys[i] = ("%s %s"):format(size, rotated)
  end
  for period = 1, #list do
    local fits = true
    for i = 1, #list do
      fits = fits and keys[i] == keys[(i - 1) % period + 1]
    end
    if fits then
      return period == 1 and list[1] or table.move(list, 1, period, 1, {})
    end
  end
end

return M
