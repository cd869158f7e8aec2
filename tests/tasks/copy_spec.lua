local checks = require("tests.tasks.checks")
local golden = require("tests.fixtures.tasks")
local roper = require("roper")

local function problem(text, at)
  local question = text:match("^%l+>", at)
  if question then
    assert.is_true(#question <= 21)
    return question, question:sub(1, -2) .. "#"
  end
  return assert.truthy(text:match("^%l+$", at)), ""
end

checks.specify("copy", problem, golden.copy_floors)

describe("copy:answer", function()
  it("repeats the string", function()
    local task = roper.tasks.copy()
    assert.equal("kqhzz#", task:answer("kqhzz>"))
    assert.equal("a#", task:answer("a>"))
  end)

  it("rejects strings outside the task's range", function()
    local task = roper.tasks.copy({ letters = 4, alphabet = 5 })
    assert.equal("abce#", task:answer("abce>"))
    checks.refuses(task, "copy: expected a question .* of 1 to 4 letters from a to e",
      { ">", "abcde>", "abf>", "abc", "abc>#", "abc>a", "ab c>", "ABC>", "a>b>" })
  end)
end)

describe("copy:question", function()
  it("draws lengths and letters uniformly", function()
    local task = roper.tasks.copy({ letters = 13, alphabet = 4, seed = 1 })
    local lengths, letters = {}, {}
    for _ = 1, 3000 do
      local string = task:question():match("^(%l+)>$")
      checks.count(lengths, #string)
      for letter in string:gmatch(".") do
        checks.count(letters, letter)
      end
    end
    checks.uniform(lengths, 13)
    checks.uniform(letters, 4)
  end)
end)

describe("copy:vocabulary", function()
  it("is the signs and the letters in use", function()
    local task = roper.tasks.copy({ alphabet = 3 })
    assert.equal("#>abc", table.concat(task:vocabulary()))
    assert.equal("#", task:stop())
  end)
end)
