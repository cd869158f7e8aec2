local checks = require("tests.tasks.checks")
local golden = require("tests.fixtures.tasks")
local roper = require("roper")

-- The problem that begins at the last "?" up to `at`, as a table from key to value and its size.
local function pairs_before(text, at)
  local list = text:sub(1, at):match("^.*%?([^>]*)")
  local values, count = {}, 0
  for key, value in list:gmatch("(%a)(%d)") do
    assert.is_nil(values[key])
    values[key] = value
    count = count + 1
  end
  return values, count
end

local function problem(text, at)
  local first, key = text:match("^(%?[%a%d]+>)(%a)", at)
  if not first then
    key = text:match("^%a", at)
    if not key then
      return assert.truthy(text:match("^%?[%a%d]*>?$", at)), ""
    end
    first = ""
  end
  local values, count = pairs_before(text, at + #first)
  assert.is_true(count >= 1 and count <= 12)
  return first .. key, values[key]
end

checks.specify("recall", problem, golden.recall_floors)

describe("recall:answer", function()
  it("is the value of the key", function()
    local task = roper.tasks.recall()
    assert.equal("3", task:answer("?k3Q8b1>k"))
    assert.equal("8", task:answer("?k3Q8b1>b1k3Q"))
    assert.equal("0", task:answer("?k0>k"))
  end)

  it("rejects pairs and queries outside the task's range", function()
    local task = roper.tasks.recall({ pairs = 3 })
    checks.refuses(task, "recall: expected a question", {
      "?k3Q8b1>", "?k3Q8b1>c", "?k3Q8b1>b2k", "?k3Q8b1>b1b", "?k3Q8b1>b1", "?k3Q8b1>b1k3Q8b",
      "?k3Q8b1>bk", "?k3k8>k", "?k3Q8b1z2>k", "?k3Q>k", "?>k", "?33>3", "?kk>k", "k3>k", "?k3k",
      "?k3 >k", "?k3>k3?a2>a",
    })
  end)
end)

describe("recall:batch", function()
  it("asks for every key once", function()
    local task = roper.tasks.recall({ length = 400 })
    local text = task:decode(task:batch(1)[1])
    local problems = 0
    for given, asked in text:gmatch("%?([%a%d]+)>([%a%d]+)%f[?]") do
      local values, again = {}, {}
      for pair in given:gmatch("..") do
        values[#values + 1] = pair
      end
      for pair in asked:gmatch("..") do
        again[#again + 1] = pair
      end
      table.sort(values)
      table.sort(again)
      assert.same(values, again)
      problems = problems + 1
    end
    assert.is_true(problems > 3)
  end)
end)

describe("recall:question", function()
  it("draws numbers of pairs, keys, values and the position of the answer uniformly", function()
    local task = roper.tasks.recall({ pairs = 4, seed = 1 })
    local counts, keys, values, places, orders = {}, {}, {}, {}, {}
    for _ = 1, 6000 do
      local given, asked = task:question():match("^%?(.*)>(.*)$")
      checks.count(counts, #given // 2)
      for key, value in given:gmatch("(%a)(%d)") do
        checks.count(keys, key)
        checks.count(values, value)
      end
      if #given == 8 then
        checks.count(places, #asked // 2)
        checks.count(orders, (given:find(asked:sub(1, 1), 1, true) - 1) // 2)
      end
    end
    checks.uniform(counts, 4)
    checks.uniform(keys, 52)
    checks.uniform(values, 10)
    checks.uniform(places, 4)
    checks.uniform(orders, 4)
  end)
end)

describe("recall:vocabulary", function()
  it("is values, signs and keys; no sign ends an answer", function()
    local task = roper.tasks.recall()
    assert.equal(64, #task:vocabulary())
    assert.is_nil(task:stop())
  end)
end)
