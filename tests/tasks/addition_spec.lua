local checks = require("tests.tasks.checks")
local golden = require("tests.fixtures.tasks")
local roper = require("roper")

-- The problems printed in the RoPER study.
local examples = {
  "?d=77+38446365; 7e0+5e0+0e0==12e0 and 7e1+6e1+1e1==14e1 and 0e2+3e2+1e2==4e2 and "
    .. "0e3+6e3+0e3==6e3 and 0e4+4e4+0e4==4e4 and 0e5+4e5+0e5==4e5 and 0e6+8e6+0e6==8e6 and "
    .. "0e7+3e7+0e7==3e7 and d==38446442#",
  "?d=66623+401; 3e0+1e0+0e0==4e0 and 2e1+0e1+0e1==2e1 and 6e2+4e2+0e2==10e2 and "
    .. "6e3+0e3+1e3==7e3 and 6e4+0e4+0e4==6e4 and d==67024#",
  "?d=25481082+3301219; 2e0+9e0+0e0==11e0 and 8e1+1e1+1e1==10e1 and 0e2+2e2+1e2==3e2 and "
    .. "1e3+1e3+0e3==2e3 and 8e4+0e4+0e4==8e4 and 4e5+3e5+0e5==7e5 and 5e6+3e6+0e6==8e6 and "
    .. "2e7+0e7+0e7==2e7 and d==28782301#",
  "?d=577790+20083146; 0e0+6e0+0e0==6e0 and 9e1+4e1+0e1==13e1 and 7e2+1e2+1e2==9e2 and "
    .. "7e3+3e3+0e3==10e3 and 7e4+8e4+1e4==16e4 and 5e5+0e5+1e5==6e5 and 0e6+0e6+0e6==0e6 and "
    .. "0e7+2e7+0e7==2e7 and d==20660936#",
}

-- The answer to a + b, from the operands' decimal digits.
local function steps(a, b)
  local parts, sum, carry = {}, "", 0
  for place = 0, math.max(#a, #b) do
    local x = tonumber(a:sub(-place - 1, -place - 1)) or 0
    local y = tonumber(b:sub(-place - 1, -place - 1)) or 0
    local total = x + y + carry
    if place < math.max(#a, #b) or carry > 0 then
      parts[#parts + 1] = ("%de@+%de@+%de@==%de@"):format(x, y, carry, total):gsub("@", place)
      sum = total % 10 .. sum
      carry = total // 10
    end
  end
  return " " .. table.concat(parts, " and ") .. " and d==" .. sum .. "#"
end

local function problem(text, at)
  local question, a, b = text:match("^(%?d=([1-9]%d*)%+([1-9]%d*);)", at)
  if question then
    assert.is_true(#a <= 8 and #b <= 8)
    return question, steps(a, b)
  end
  return assert.truthy(text:match("^%?d?=?%d*%+?%d*$", at)), ""
end

describe("addition:answer", function()
  it("writes the study's examples to the letter", function()
    local task = roper.tasks.addition({})
    for _, example in ipairs(examples) do
      local question = example:match("^[^;]*;")
      assert.equal(example, question .. task:answer(question))
    end
  end)

  it("agrees with an independent implementation", function()
    local task = roper.tasks.addition({ max_digits = 18 })
    for _, case in ipairs(golden.additions) do
      assert.equal(case.answer, task:answer(case.question))
    end
  end)

  it("rejects operands outside the task's range", function()
    local task = roper.tasks.addition({ max_digits = 3 })
    checks.refuses(task, "addition: expected a question", {
      "?d=1234+1;", "?d=1+1234;", "?d=01+1;", "?d=0+1;", "?d=1+0;", "?d=+1;", "?d=1+;", "?d=-1+1;",
      "?d=1+1", "?d=1+1; ", " ?d=1+1;", "?d=1 + 1;", "?d=1-1;", "?d=1.5+1;", "d=1+1;", "1+1",
    })
  end)
end)

describe("addition:batch", function()
  it("packs whole problems and marks all after the semicolon", function()
    for seed = 1, 5 do
      checks.rows(roper.tasks.addition({ seed = seed }), 40, problem)
    end
    checks.rows(roper.tasks.addition({ length = 3 }), 2, problem)
  end)
end)

describe("addition:question", function()
  it("draws numbers of digits, first digits and others uniformly", function()
    local task = roper.tasks.addition({ seed = 1 })
    local digits, first, last = {}, {}, {}
    for _ = 1, 5000 do
      for number in task:question():gmatch("%d+") do
        checks.count(digits, #number)
        checks.count(first, number:sub(1, 1))
        if #number > 1 then
          checks.count(last, number:sub(-1))
        end
      end
    end
    checks.uniform(digits, 8)
    checks.uniform(first, 9)
    checks.uniform(last, 10)
  end)

  it("reaches both ends of max_digits", function()
    local task = roper.tasks.addition({ max_digits = 18, seed = 3 })
    local longest = 0
    for _ = 1, 200 do
      local question, answer = task:question()
      local a, b = question:match("^%?d=(%d+)%+(%d+);$")
      longest = math.max(longest, #a, #b)
      assert.equal(steps(a, b), answer)
    end
    assert.equal(18, longest)
  end)
end)

describe("addition:grade", function()
  local task = roper.tasks.addition({ max_digits = 3, seed = 5 })

  it("rejects every corruption of the final result", function()
    for _ = 1, 20 do
      local question, answer = task:question()
      local before, result = answer:match("^(.*)(d==%d+#)$")
      for _, corrupted in ipairs(checks.corruptions(result, task:vocabulary())) do
        -- a character put before it is one of the steps', unless it is a stop sign
        local is_right = corrupted:sub(2) == result and corrupted:sub(1, 1) ~= "#"
        assert.equal(is_right, task:grade(question, before .. corrupted))
      end
    end
  end)

  it("checks the final result only, as in the study", function()
    assert.is_true(task:grade("?d=12+34;", "d==46#"))
    assert.is_true(task:grade("?d=12+34;", " nonsense d==47 d==46#"))
    assert.is_false(task:grade("?d=12+34;", "d==46# d==46#"))
    assert.is_false(task:grade("?d=12+34;", "#d==46#"))
    assert.is_false(task:grade("?d=12+34;", "d==046#"))
    assert.is_false(task:grade("?d=12+34;", "d==46 #"))
    assert.is_false(task:grade("?d=12+34;", "d==46d==#"))
    assert.is_false(task:grade("?d=12+34;", "d=46#"))
    assert.is_false(task:grade("?d=12+34;", "46#"))
    assert.is_false(task:grade("?d=12+34;", "#"))
  end)
end)

describe("addition:floor", function()
  it("agrees with listing every row, and with an independent computation", function()
    checks.floors(roper.tasks.addition, golden.addition_floors)
  end)
end)

describe("addition:positions", function()
  local task = roper.tasks.addition({ max_digits = 18, coupled = true, length = 500, seed = 4 })

  local function positions(text)
    return task:positions(task:encode(text):view({ 1, -1 })):totable()[1]
  end

  it("agrees with an independent computation, wherever a row is truncated", function()
    for _, case in ipairs(golden.coupled) do
      assert.same(case.positions, positions(case.row), case.row)
    end
  end)

  it("does not depend on later tokens, except for digits of a truncated operand", function()
    local text = task:decode(task:batch(1)[1])
    local whole = positions(text)
    for n = 1, #text do
      local cut, number = positions(text:sub(1, n)), text:sub(1, n):match("%?d=[%d+]-()%d+$")
      for i = 1, (number or n + 1) - 1 do
        assert.equal(whole[i], cut[i], text:sub(1, n))
      end
    end
  end)

  it("rejects ids outside the vocabulary", function()
    assert.error_matches(function() task:positions(roper.tensor({ { 1, 20 } }, "int32")) end,
                         "task:positions: expected token ids from 0 to 19, got 20 at index 2")
  end)
end)

describe("addition:vocabulary", function()
  it("is every character of the problems", function()
    local task = roper.tasks.addition({})
    assert.equal(golden.addition_characters, table.concat(task:vocabulary()))
    assert.equal("#", task:stop())
  end)
end)
