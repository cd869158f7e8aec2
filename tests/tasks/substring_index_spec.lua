local checks = require("tests.tasks.checks")
local golden = require("tests.fixtures.tasks")
local roper = require("roper")

-- The problems printed in the RoPER study.
local examples = {
  "?s='dyjeofuxvejmg'; s[8:]=='vejmg'#", "?s='syoktpufifxes'; s[0:]=='syoktpufifxes'#",
  "?s='xpbssshucfolp'; s[0:]=='xpbssshucfolp'#", "?s='wmyapfpvbqdih'; s[9:]=='qdih'#",
  "?s='pwndggwvwcueg'; s[3:]=='dggwvwcueg'#", "?s='liphezyxyaigw'; s[10:]=='igw'#",
  "?s='nsadijatrvnsg'; s[2:]=='adijatrvnsg'#", "?s='gbakpiyhgcycd'; s[12:]=='d'#",
  "?s='irrpifewmjbpu'; s[7:]=='wmjbpu'#", "?s='trdpewjdofkbf'; s[0:]=='trdpewjdofkbf'#",
  "?s='bwangjzypgdtw'; s[10:]=='dtw'#", "?s='lmmufvskwuiti'; s[4:]=='fvskwuiti'#",
  "?s='opllhzhjmliiu'; s[5:]=='zhjmliiu'#", "?s='gcakbhiepmknz'; s[0:]=='gcakbhiepmknz'#",
  "?s='cjnmugcjhvvla'; s[0:]=='cjnmugcjhvvla'#", "?s='ternjenddpljw'; s[5:]=='enddpljw'#",
  "?s='pvceminiczzjv'; s[10:]=='zjv'#",
}

local function problem(text, at)
  local question, string, index = text:match("^(%?s='(%l+)'; s%[(%d+):%]==')", at)
  if question then
    assert.is_true(#string == 13 and tonumber(index) <= 12 and not index:find("^0."))
    return question, string:sub(index + 1) .. "'#"
  end
  return assert.truthy(text:match("^%?s?=?'?%l*'?;? ?s?%[?%d*:?%]?=?=?$", at)), ""
end

checks.specify("substring_index", problem, golden.index_floors)

describe("substring_index:answer", function()
  it("writes the study's examples to the letter", function()
    local task = roper.tasks.substring_index({})
    for _, example in ipairs(examples) do
      local question = example:match("^.*=='")
      assert.equal(example, question .. task:answer(question))
    end
  end)

  it("agrees with an independent implementation", function()
    for _, case in ipairs(golden.suffixes) do
      local task = roper.tasks.substring_index({ letters = case.letters })
      assert.equal(case.answer, task:answer(case.question))
    end
  end)

  it("rejects strings and indices outside the task's range", function()
    local task = roper.tasks.substring_index({ letters = 11 })
    assert.equal("k'#", task:answer("?s='abcdefghijk'; s[10:]=='"))
    checks.refuses(task, "substring_index: expected a question", {
      "?s='abcdefghijk'; s[11:]=='", "?s='abcdefghijk'; s[100:]=='", "?s='abcdefghijk'; s[-1:]=='",
      "?s='abcdefghijk'; s[01:]=='", "?s='abcdefghijk'; s[:]=='", "?s='abcdefghijk'; s[1]=='",
      "?s='abcdefghij'; s[1:]=='", "?s='abcdefghijkl'; s[1:]=='", "?s='abcdefghijK'; s[1:]=='",
      "?s='abcdefghijk'; s[1:]==", "?s='abcdefghijk'; s[1:]==''", "?s='abcdefghijk'; s[",
      "?s='abcdefghijk'; s[!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!", "?s=\"abcdefghijk\"; s[1:]==\"",
    })
  end)
end)

describe("substring_index:question", function()
  it("draws letters and indices uniformly", function()
    local task = roper.tasks.substring_index({ seed = 1 })
    local indices, letters = {}, {}
    for _ = 1, 3000 do
      local string, index = task:question():match("'(%l+)'; s%[(%d+):")
      checks.count(indices, index)
      for letter in string:gmatch(".") do
        checks.count(letters, letter)
      end
    end
    checks.uniform(indices, 13)
    checks.uniform(letters, 26)
  end)
end)

describe("substring_index:vocabulary", function()
  it("is every character of the problems", function()
    local task = roper.tasks.substring_index({ letters = 1 })
    assert.equal(golden.index_characters, table.concat(task:vocabulary()))
    assert.equal("#", task:stop())
  end)
end)
