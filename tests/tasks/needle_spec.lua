local checks = require("tests.tasks.checks")
local golden = require("tests.fixtures.tasks")
local roper = require("roper")

local make <const> = roper.tasks.needle

-- Distances from 5 to 11.
local NEAR <const> = { distance = 5, spread = 6, before = 2, alphabet = 4, length = 100, seed = 1 }

local function problem(text, at)
  local before, key, value, after, asked = text:match("^([a-d]*)(%u)(%d)([a-d]*)%?(%u)", at)
  if not asked then
    return assert.truthy(text:match("^[a-d]*%u?%d?[a-d]*%??$", at)), ""
  end
  assert.equal(key, asked)
  assert.equal(10, #before + #after)
  assert.is_true(#before >= 2 and #before <= 8)
  return before .. key .. value .. after .. "?" .. asked, value
end

checks.specify("needle", problem, golden.needle_floors, { batch = NEAR, graded = { spread = 9 } })

describe("needle:answer", function()
  it("is the value of the fact", function()
    local task = make({ distance = 7, spread = 2, before = 2 })
    assert.equal("7", task:answer("qkK7hzzabz?K"))
    assert.equal("0", task:answer("qkhzA0zabz?A"))
    assert.equal("5", make({ distance = 3, spread = 0, before = 0 }):answer("Q5?Q"))
  end)

  it("rejects facts and filler outside the task's range", function()
    local task = make({ distance = 7, spread = 2, before = 2, alphabet = 3 })
    assert.equal("7", task:answer("abK7cabcab?K"))
    checks.refuses(task, "needle: expected a question .*: 8 letters from a to c with a capital "
      .. "letter and a digit after 2 to 4 of them", {
        "aK7bcabcab?K", "abcabK7cab?K", "abK7cabca?K", "abK7cabcabc?K", "abK7cabcab?L",
        "abK7cabcab?", "abK7cabcab?K7", "abK7cabcab?k", "abK7cabcad?K", "adK7cabcab?K",
        "abk7cabcab?k", "abKKcabcab?K", "abKcabcabc?K", "ab77cabcab?7", "abK7caK7ab?K",
        "abK7ca7cab?K", "abcabcabcab?", "abK7cabcabK?", "abcabcabca?K",
      })
  end)
end)

describe("needle:batch", function()
  it("has answers at the given distances only, each equally often", function()
    local task = make(NEAR)
    local _, sources = task:explain((task:batch(400)))
    local distances = {}
    for _, row in ipairs(sources:totable()) do
      for at, source in ipairs(row) do
        if source >= 0 then
          checks.count(distances, at - 1 - source)
        end
      end
    end
    checks.uniform(distances, 7)
    assert.is_truthy(distances[5] and distances[11])
  end)
end)

describe("needle:question", function()
  it("draws keys, values and filler uniformly", function()
    local task = make({ distance = 3, spread = 3, alphabet = 5, seed = 1 })
    local keys, values, letters = {}, {}, {}
    for _ = 1, 3000 do
      local question, answer = task:question()
      checks.count(keys, question:match("%u"))
      checks.count(values, answer)
      for letter in question:gmatch("%l") do
        checks.count(letters, letter)
      end
    end
    checks.uniform(keys, 26)
    checks.uniform(values, 10)
    checks.uniform(letters, 5)
  end)
end)

describe("needle:explain", function()
  it("rejects rows with another answer, question, filler or place of the fact", function()
    checks.explains(make({ distance = 4, spread = 2, before = 1, alphabet = 3 }),
      "abK7ca?K7bA", {
        "abK7ca?K8", "abK7ca?Kb", "abK7ca?L", "abK7ca?7", "abK7caaK", "abK7c?K", "abK7cA",
        "abK7c7", "abKa", "abKK", "ab7", "ab?", "abca", "K7", "?",
      })
  end)
end)

describe("needle:vocabulary", function()
  it("is values, the sign, keys and the filler in use; no sign ends an answer", function()
    local task = make({ alphabet = 2 })
    assert.equal("0123456789?ABCDEFGHIJKLMNOPQRSTUVWXYZab", table.concat(task:vocabulary()))
    assert.is_nil(task:stop())
  end)
end)
