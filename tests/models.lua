-- Small models, and differences between tensors.

local roper = require("roper")

local M = {}

--- A task with short rows.
---@param options table? of the task, seed and length among them
---@return userdata
function M.task(options)
  local all = { letters = 4, length = 30, seed = 1 }
  for name, value in pairs(options or {}) do
    all[name] = value
  end
  return roper.tasks.substring_index(all)
end

--- A Transformer of a few thousand parameters for `M.task`.
---@param options table? of the Transformer, and `seed` = 1
---@return table
function M.small(options)
  local all = { vocabulary = M.task():vocabulary(), d_model = 16, heads = 2, layers = 2,
    d_ff = 24 }
  for name, value in pairs(options or {}) do
    all[name] = value
  end
  roper.seed(all.seed or 1)
  all.seed = nil
  return roper.nn.Transformer(all)
end

--- An addition whose digits share positions, and a small Transformer for it.
---@param options table? of the Transformer
---@return userdata task
---@return table model
function M.coupled(options)
  local task = roper.tasks.addition({ max_digits = 2, length = 50, coupled = true, seed = 3 })
  local all = { vocabulary = task:vocabulary() }
  for name, value in pairs(options or {}) do
    all[name] = value
  end
  return task, M.small(all)
end

--- Replace the parameter with a name of `named_parameters`.
---@param model table
---@param name string
---@param tensor userdata
function M.replace(model, name, tensor)
  local owner, field = model, nil
  for part in name:gmatch("[^.]+") do
    owner = field and owner[field] or owner
    field = math.tointeger(tonumber(part)) or part
  end
  owner[field] = tensor
end

--- Convert every parameter of a model to another dtype.
---@param model table
---@param dtype string
---@return table model
function M.convert(model, dtype)
  for _, entry in ipairs(model:named_parameters()) do
    M.replace(model, entry.name, entry.tensor:detach():to(dtype):parameter())
  end
  return model
end

--- The largest difference between elements of two tensors; infinite if the shapes differ or an
--- element is NaN.
---@param a userdata
---@param b userdata
---@return number
function M.difference(a, b)
  if table.concat(a:shape(), " ") ~= table.concat(b:shape(), " ") then
    return math.huge
  end
  local largest = (a:detach():to("float64") - b:detach():to("float64")):abs():max():item()
  return largest == largest and largest or math.huge
end

--- The names of a model's parameters, in their order.
---@param model table
---@return string[]
function M.names(model)
  local list = {}
  for i, entry in ipairs(model:named_parameters()) do
    list[i] = entry.name
  end
  return list
end

--- The numbers of all parameters, for comparison by `assert.same`.
---@param model table
---@return table<string, table>
function M.values(model)
  local values = {}
  for _, entry in ipairs(model:named_parameters()) do
    values[entry.name] = entry.tensor:totable()
  end
  return values
end

return M
