-- The position schemes of the library, and golden values from independent implementations.

local assert = require("luassert")
local models = require("tests.models")
local roper = require("roper")
local uv = require("luv")

local M = {}

local CONTEXT = { dim = 8, heads = 3, d_model = 24, length = 16 }
local QUERIES, KEYS = 5, 7

--- The names of the files with an ending in a folder, without the ending, sorted.
---@param folder string
---@param ending string such as ".lua"
---@return string[]
function M.names(folder, ending)
  local list = {}
  for file in uv.fs_scandir_next, assert(uv.fs_scandir(folder)) do
    list[#list + 1] = file:sub(-#ending) == ending and file:sub(1, -#ending - 1) or nil
  end
  table.sort(list)
  return list
end

--- The schemes of the library: each file of their folder is one.
---@return string[]
function M.schemes()
  return M.names("scripts/roper/position/schemes", ".lua")
end

--- The content of a fixture.
---@param name string
---@return {tensors: table<string, userdata>, position: table}
function M.fixture(name)
  local tensors, metadata = roper.load_safetensors(
    ("tests/fixtures/positions/%s.safetensors"):format(name))
  return { tensors = tensors,
    position = require("roper.core").json_decode(metadata.position) }
end

-- The scheme of a fixture, in a dtype.
local function make(fixture, position, dtype)
  local scheme = roper.position.resolve(position, CONTEXT)
  local parameters = type(scheme) == "table" and scheme:parameters() or {}
  for name in pairs(parameters) do
    assert(fixture.tensors["param." .. name], "the fixture has no param." .. name)
  end
  for name, tensor in pairs(fixture.tensors) do
    local field = name:match("^param%.(.*)")
    if field then
      assert(parameters[field], field .. " is not trained")
      assert.same(parameters[field]:shape(), tensor:shape(), field)
      scheme[field] = tensor:to(dtype):detach():parameter()
    end
  end
  return scheme
end

-- The output of attention for the inputs of a fixture; all positions are shifted by `far`.
local function output(fixture, scheme, dtype, causal, far)
  local t = fixture.tensors
  local key = roper.arange(far, far + KEYS, 1, "float64")
  local how = { position = scheme, causal = causal, key_positions = key,
    query_positions = key:narrow(1, KEYS - QUERIES + 1, QUERIES) }
  how.input = t.x and t.x:to(dtype)
  return roper.attention(t.q:to(dtype), t.k:to(dtype), t.v:to(dtype), how)
end

--- The differences of a scheme from the results of a fixture.
---@param fixture table
---@param position table options of the scheme
---@param dtype string
---@return table<string, number> difference by the name of the result
function M.differences(fixture, position, dtype)
  local t, found = fixture.tensors, {}
  local scheme = make(fixture, position, dtype)
  if t.q == nil then
    local places = roper.arange(0, KEYS, 1, "float64"):view({ 1, KEYS })
    found.y = models.difference(t.y, scheme:embed(t.x:to(dtype), places))
    return found
  end
  for name, how in pairs({ y = { false, 0 }, y_causal = { true, 0 }, y_far = { true, 1000 } }) do
    if t[name] then
      found[name] = models.difference(t[name],
        output(fixture, scheme, dtype, how[1], how[2]))
    end
  end
  return found
end

return M
