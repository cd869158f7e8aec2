local arrays = require("tests.arrays")
local core = require("roper.core")
local page = require("roper.workbench.help.pytorch")
local roper = require("roper")
local scratch = require("tests.scratch")
local stdout = require("tests.stdout")

-- The variables of the rows, and of rows that are not compared with PyTorch.
local function names()
  local env = setmetatable({ print = function() end, roper = roper, plot = roper.plot,
    q = roper.ones(1, 1, 2, 4), k = roper.ones(1, 1, 2, 4),
    model = roper.nn.Linear({ inputs = 3, outputs = 2 }),
    adam = roper.optim.Adam(), PATH = scratch.path("x.npy"),
    FOLDER = "tests/fixtures/published/gpt2" }, { __index = _G })
  assert(load(page.NAMES, "names", "t", env))()
  return env
end

-- The result of a row; for an assignment, x after it.
local function results(code, env)
  local expression = load("return " .. code, code, "t", env)
  local values = table.pack((expression or assert(load(code, code, "t", env)))())
  return values.n > 0 and values or { n = 1, env.x }
end

-- A Lua value as a tensor.
local function tensor_of(value)
  if type(value) == "boolean" then
    return roper.tensor(value and 1 or 0)
  end
  return roper.format.is_tensor(value) and value or roper.tensor(value)
end

describe("the page ?pytorch", function()
  local golden = core.load_safetensors("tests/fixtures/pytorch.safetensors")
  local asked = {}

  setup(scratch.create)
  teardown(scratch.remove)

  -- Compares the result of a row with that of PyTorch.
  local function check(row)
    local got
    stdout.capture(function()
      got = results(row[2], names())
    end)
    assert(golden[row[1] .. ".1"] ~= nil or row.kind == "other", row[1])
    for i = 1, got.n do
      local name = ("%s.%d"):format(row[1], i)
      if golden[name] then
        local value = tensor_of(got[i])
        value = row.kind == "random" and roper.tensor(value:shape()) or value
        arrays.close(golden[name], value, 1e-5, row[2])
        asked[name] = true
      end
    end
  end

  it("has rows with the same results as PyTorch", function()
    for _, group in ipairs(page.groups) do
      for _, row in ipairs(group.rows) do
        check(row)
      end
    end
    for name in pairs(golden) do
      assert.is_true(asked[name], name)
    end
  end)

  it("says which operations share storage and which copy", function()
    local function values_of(env)
      return { x = env.x:clone(), v = env.v:clone(), s = env.s:clone() }
    end
    for _, row in ipairs(page.storage) do
      for k = 1, select("#", load("return " .. row[1], row[1], "t", names())()) do
        local env = names()
        local before = values_of(env)
        local written = select(k, load("return " .. row[1], row[1], "t", env)()):detach()
        while written:rank() > 1 do -- a tensor from `expand` refuses writes, its slices do not
          written = written[1]
        end
        written:fill(-5)
        local shares = false
        for name, values in pairs(values_of(env)) do
          shares = shares or values ~= before[name]
        end
        assert.equal(row[2], shares and "shares" or "copies", row[1] .. ": result " .. k)
      end
    end
  end)

  it("fits 80 columns", function()
    local shown = require("roper.text.document.terminal").render(page.page(),
      { width = 80 })
    for line in shown:gmatch("[^\n]+") do
      assert.is_true(utf8.len(line) <= 80, line)
    end
    assert.truthy(shown:find("\n  x%[x > 5%] = 0 +x%[x:gt%(5%)%] = 0\n"))
  end)
end)
