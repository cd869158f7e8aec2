-- Operations that return the storage of their argument: only those in the table of `?pytorch`.
local page = require("roper.workbench.help.pytorch")
local roper = require("roper")
local tables = require("roper.base.tables")

local methods = getmetatable(roper.zeros(1)).methods

-- Methods that write to their tensor, and return it.
local WRITE <const> = { backward = true, copy = true, fill = true }

-- Methods that return no tensor, or need other arguments than those below.
local OTHERS <const> = tables.set({ "count", "dtype", "is_contiguous", "is_mask", "is_parameter",
  "item", "numel", "rank", "shape", "size", "totable", "cat", "causal_convolution",
  "cross_entropy", "householder_scores", "householder_sums", "linear_cross_entropy", "outer",
  "rotate" })

-- Lists of arguments after x [1, 1]; for the methods that take them, most change nothing.
local function arguments_of(x)
  local index, row = roper.ones({ 1, 1 }, "int32"), roper.ones({ 1 }, x:dtype())
  return { {}, { x }, { index }, { 0 }, { 1 }, { 0, 1 }, { 0, 2 }, { 1, 0 }, { 1, 1 }, { 1, 2 },
    { 1, true }, { 1, 1, 1 }, { 1, index }, { 1, index:view(1) }, { row }, { row, row * 0 },
    { { 1, 2 }, true }, { { 1, 1 }, { 1, 1 } }, { "float32" }, { "float64" }, { "int32" },
    { "bfloat16" } }
end

-- True if a result shares storage with x: whether writing to it changes x.
local function shares(x, result)
  local before = x:clone()
  pcall(function() result:detach():fill(7) end)
  local changed = x ~= before
  x:copy(before)
  return changed
end

-- By name: whether some call returned a tensor, and whether some result shared storage.
local function found_of(name)
  local returns, found = false, false
  for _, dtype in ipairs({ "float32", "float64", "int32" }) do
    local x = roper.zeros({ 1, 1 }, dtype)
    for _, arguments in ipairs(arguments_of(x)) do
      local ok, result = pcall(methods[name], x, table.unpack(arguments))
      if ok and roper.format.is_tensor(result) then
        returns, found = true, found or shares(x, result)
      end
    end
  end
  return returns, found
end

describe("a method of tensors", function()
  local listed = {}
  for _, row in ipairs(page.storage) do
    for name in row[1]:gmatch(":(%a[%w_]*)") do
      listed[name] = listed[name] or row[2] == "shares"
    end
  end

  for _, name in ipairs(tables.keys(methods)) do
    if not WRITE[name] then
      it("shares storage only if the table says so: " .. name, function()
        local returns, found = found_of(name)
        assert.equal(listed[name] or false, found)
        assert.equal(not OTHERS[name], returns)
      end)
    end
  end
end)
