local checks = require("tests.tasks.checks")
local golden = require("tests.fixtures.tasks")
local roper = require("roper")

local function problem(text, at)
  local scattered = text:match("^([%l.]+)>", at)
  if scattered then
    assert.equal(20, #scattered)
    local letters = scattered:gsub("%.", "")
    assert.equal(5, #letters)
    return scattered .. ">", letters .. "#"
  end
  return assert.truthy(text:match("^[%l.]+$", at)), ""
end

checks.specify("selective_copy", problem, golden.selective_floors, {
  batch = { letters = 5, filler = 15 }, graded = { letters = 6 } })

describe("selective_copy:answer", function()
  it("repeats the letters in order", function()
    local task = roper.tasks.selective_copy({ letters = 3, filler = 4 })
    assert.equal("bab#", task:answer("..b.a.b>"))
    assert.equal("abb#", task:answer("abb....>"))
    assert.equal("aaa#", roper.tasks.selective_copy({ letters = 3, filler = 0 }):answer("aaa>"))
  end)

  it("rejects other numbers of letters and of dots", function()
    local task = roper.tasks.selective_copy({ letters = 3, filler = 4, alphabet = 5 })
    checks.refuses(task, "selective_copy: expected a question .*3 letters from a to e among 4 dots",
      {
        "..b.a..>", "..b.abb>", "..b.a.b", "..b.a.b>#", "..b.a.b>b", "..b.a.f>", "..b>a.b>",
        "..b.a.b.>", ".b.a.b>", "..b.a.B>", "#.b.a.b>", ">",
      })
  end)
end)

describe("selective_copy:question", function()
  it("draws letters and their places uniformly", function()
    local task = roper.tasks.selective_copy({ letters = 2, filler = 4, alphabet = 4, seed = 1 })
    local places, letters = {}, {}
    for _ = 1, 3000 do
      local scattered = task:question():sub(1, -2)
      checks.count(places, (scattered:gsub("%l", "x")))
      for letter in scattered:gmatch("%l") do
        checks.count(letters, letter)
      end
    end
    checks.uniform(places, 15)
    checks.uniform(letters, 4)
  end)
end)

describe("selective_copy:explain", function()
  it("rejects rows with another answer, separator or number of letters", function()
    checks.explains(roper.tasks.selective_copy({ letters = 3, filler = 4, alphabet = 4 }),
      "..b.a.b>bab#b", {
        "..b.a.b>bbb", "..b.a.b>aab", "..b.a.b>b.", "..b.a.b>ba#", "..b.a.b>babb", "..b.a.b>bab>",
        "..b.a.b#b", "..b.a.bb", "..b.a..", "..b.abb", "..b>a.b", "baba", ".....",
      })
  end)
end)

describe("selective_copy:vocabulary", function()
  it("is the signs, the filler and the letters in use", function()
    local task = roper.tasks.selective_copy({ alphabet = 3 })
    assert.equal("#.>abc", table.concat(task:vocabulary()))
    assert.equal("#", task:stop())
  end)
end)
