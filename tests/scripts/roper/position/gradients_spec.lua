-- Values and gradients of schemes agree with independent code. The scripts beside the fixtures name
-- the published code that they were compared with, if there is any.
local models = require("tests.models")
local positions = require("tests.positions")
local roper = require("roper")

local FOLDER <const> = "tests/fixtures/positions/gradients"

-- The differences of a case's output and gradients from those of the fixture, by name.
local function differences(tensors, number, position, dtype)
  local prefix = number .. "."
  local function given(name)
    local tensor = tensors[prefix .. name]
    return tensor and tensor:detach():to(dtype)
  end
  local q, k, v, x = given("q"), given("k"), given("v"), given("x")
  local leaves = { q = q:parameter(), k = k:parameter(), v = v:parameter(), x = x:parameter() }
  local scheme = roper.position.resolve(position, { dim = q:size(4), heads = q:size(2),
    d_model = x:size(3) })
  for name in pairs(scheme:parameters()) do
    local value = assert(given("param." .. name), "the fixture has no param." .. name)
    assert.same(scheme[name]:shape(), value:shape(), name)
    scheme[name] = value:parameter()
    leaves["param." .. name] = scheme[name]
  end
  local o = roper.attention(leaves.q, leaves.k, leaves.v, { position = scheme, causal = true,
    input = leaves.x })
  o:backward(given("upstream"))
  local found = { y = models.difference(tensors[prefix .. "y"], o) }
  for name in pairs(tensors) do
    local leaf = name:match("^" .. number .. "%.grad%.(.*)")
    if leaf then
      found["grad." .. leaf] = models.difference(tensors[name],
        assert(leaves[leaf], leaf).grad or roper.zeros(leaves[leaf]:shape(), dtype))
    end
  end
  return found
end

describe("values and gradients agree with independent code:", function()
  for _, name in ipairs(positions.names(FOLDER, ".safetensors")) do
    local tensors, metadata = roper.load_safetensors(("%s/%s.safetensors"):format(FOLDER, name))
    for number, position in ipairs(require("roper.core").json_decode(metadata.position)) do
      it(("%s %d"):format(name, number), function()
        for dtype, tolerance in pairs({ float64 = 1e-10, float32 = 1e-5 }) do
          local missed = {}
          for result, difference in pairs(differences(tensors, number, position, dtype)) do
            if difference ~= difference or difference > tolerance then
              missed[#missed + 1] = ("%s in %s differs by %g"):format(result, dtype, difference)
            end
          end
          assert.same({}, missed)
        end
      end)
    end
  end
end)
