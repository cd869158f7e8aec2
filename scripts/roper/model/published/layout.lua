--- Parameters in a published layout: for each tensor of the files, its shape, the parameters of a
--- Transformer that it contains, and the functions that convert one to the other.
local core = require "roper.core"
local tables = require "roper.base.tables"

local M = {}

---@class LayoutForm
---@field split fun(tensor: tensor): tensor[] the parameters in a tensor of a file
---@field join fun(parts: tensor[]): tensor the inverse

---@class LayoutEntry
---@field there string name of the tensor in the files
---@field here string[] names of the parameters
---@field shape integer[] of the tensor in the files
---@field form LayoutForm

-- The tensor of the file is the parameter.
local SAME <const> = {
  split = function(tensor) return { tensor } end,
  join = function(parts) return parts[1] end,
}

-- A weight [inputs, outputs], as in GPT-2.
local TRANSPOSED <const> = {
  split = function(tensor) return { tensor:transpose(1, 2) } end,
  join = function(parts) return parts[1]:transpose(1, 2) end,
}

-- The tensor of the file is the parameter minus 1.
local OFFSET <const> = {
  split = function(tensor) return { tensor + 1 } end,
  join = function(parts) return parts[1] - 1 end,
}

-- Several parameters, one after the other in the first axis: their numbers of rows.
local function stacked(rows)
  return {
    split = function(tensor)
      local parts, first = {}, 1
      for i, count in ipairs(rows) do
        parts[i], first = tensor:narrow(1, first, count), first + count
      end
      return parts
    end,
    join = function(parts) return core.cat(parts, 1) end,
  }
end

-- The same, transposed.
local function transposed(form)
  return {
    split = function(tensor) return form.split(tensor:transpose(1, 2)) end,
    join = function(parts) return form.join(parts):transpose(1, 2) end,
  }
end

-- Several parameters with alternating rows: those of the first head of each, of the second, ...
local function by_heads(count, heads)
  return {
    split = function(tensor)
      local shape = tensor:shape()
      local rows = shape[1] // (count * heads)
      local all = tensor:view { heads, count, rows, -1 }
      local parts = {}
      for i = 1, count do
        local of_part = { shape[1] // count, shape[2] }
        parts[i] = all:narrow(2, i, 1):contiguous():view(of_part)
      end
      return parts
    end,
    join = function(parts)
      local shape = parts[1]:shape()
      local list = {}
      for i, part in ipairs(parts) do
        list[i] = part:contiguous():view { heads, 1, shape[1] // heads, -1 }
      end
      return core.cat(list, 2):view { count * shape[1], shape[2] }
    end,
  }
end

---@class Layout
---@field entries LayoutEntry[]
local Layout = {}
Layout.__index = Layout

--- An empty list of entries.
---@return Layout
function M.new()
  return setmetatable({ entries = {} }, Layout)
end

--- Adds one tensor that is one parameter.
---@param there string
---@param here string
---@param shape integer[]
function Layout:same(there, here, shape)
  self.entries[#self.entries + 1] = { there = there, here = { here }, shape = shape, form = SAME }
end

-- Adds the weight and the bias of one or several linear maps.
local function add(self, there, here, shape, forms, has_bias)
  local function names(field)
    local list = {}
    for i, name in ipairs(here) do
      list[i] = name .. field
    end
    return list
  end
  local list = self.entries
  list[#list + 1] = { there = there .. ".weight", here = names ".weight", shape = shape,
    form = forms.weight }
  if has_bias then
    list[#list + 1] = { there = there .. ".bias", here = names ".bias",
      shape = { forms.outputs }, form = forms.bias }
  end
end

--- Adds a linear map, its weight [outputs, inputs] as in torch.nn.Linear.
---@param there string
---@param here string
---@param outputs integer
---@param inputs integer
---@param has_bias boolean
function Layout:linear(there, here, outputs, inputs, has_bias)
  add(self, there, { here }, { outputs, inputs },
    { weight = SAME, bias = SAME, outputs = outputs }, has_bias)
end

--- Adds linear maps of GPT-2, with one weight [inputs, outputs] and a bias.
---@param there string
---@param here string[] one or several maps, each with an equal part of the outputs
---@param outputs integer of all
---@param inputs integer
function Layout:transposed(there, here, outputs, inputs)
  local rows = tables.map(here, function() return outputs // #here end)
  local form = stacked(rows)
  add(self, there, here, { inputs, outputs }, { outputs = outputs, bias = form,
    weight = #here == 1 and TRANSPOSED or transposed(form) }, true)
end

--- Adds one tensor with the weights of several linear maps without bias, one after the other.
---@param there string
---@param here string[] the weights
---@param outputs integer[] of each
---@param inputs integer
function Layout:stacked(there, here, outputs, inputs)
  local all = 0
  for _, count in ipairs(outputs) do
    all = all + count
  end
  self.entries[#self.entries + 1] = { there = there, here = here, shape = { all, inputs },
    form = stacked(outputs) }
end

--- Adds several linear maps of GPT-NeoX, with one weight [outputs, inputs] whose rows alternate
--- between the maps, head by head.
---@param there string
---@param here string[]
---@param outputs integer of all
---@param inputs integer
---@param heads integer
---@param has_bias boolean
function Layout:alternating(there, here, outputs, inputs, heads, has_bias)
  local form = by_heads(#here, heads)
  add(self, there, here, { outputs, inputs }, { outputs = outputs, weight = form, bias = form },
    has_bias)
end

--- Adds a norm.
---@param there string
---@param here string
---@param size integer
---@param has_bias boolean
---@param is_offset? boolean the file contains the gain minus 1
function Layout:norm(there, here, size, has_bias, is_offset)
  self:same(there .. ".weight", here .. ".gain", { size })
  self.entries[#self.entries].form = is_offset and OFFSET or SAME
  if has_bias then
    self:same(there .. ".bias", here .. ".bias", { size })
  end
end

return M
