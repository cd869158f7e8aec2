local checks = require("tests.tasks.checks")
local golden = require("tests.fixtures.tasks")
local roper = require("roper")

local KINDS <const> = { "parity", "flip_flop", "s3", "a5", "s5" }

local function task_of(kind, more)
  local options = { kind = kind, length = 41, seed = 3 }
  for name, value in pairs(more or {}) do
    options[name] = value
  end
  return roper.tasks.state_tracking(options)
end

describe("state_tracking:answer", function()
  it("is the state after every token, as an independent computation finds it", function()
    for _, case in ipairs(golden.tracked) do
      assert.equal(case.answer, task_of(case.kind):answer(case.question))
    end
  end)

  it("applies permutations in the order of the tokens", function()
    -- 1 and 2 are exchanged, then 2 and 3: 1 goes to 2, and on to 3.
    assert.equal("213312", task_of("s3"):answer("213132"))
    assert.equal("132231", task_of("s3"):answer("132213"))
    -- Each goes to the next, then 1 and 2 are exchanged.
    assert.equal("2345113452", task_of("s5"):answer("2345121345"))
  end)

  it("rejects texts that are not 1 to length - 1 tokens", function()
    local refused = "state_tracking: expected a question"
    checks.refuses(task_of("parity", { length = 5 }), refused, { "", "01011", "2", "0-1", "0 1" })
    checks.refuses(task_of("flip_flop", { length = 5 }), refused, { "", "-----", "2", "r" })
    checks.refuses(task_of("s3", { length = 3 }), refused,
      { "", "12", "1232", "123123123", "113", "124", "012", "12\0" })
    checks.refuses(task_of("a5"), refused, { "21345", "1234", "12346", "11345" })
    checks.refuses(task_of("s5"), refused, { "1234", "12346", "11345", "123455" })
  end)
end)

describe("state_tracking:targets", function()
  it("are the states after the tokens before, so the last token is never read", function()
    for _, case in ipairs(golden.tracked) do
      local task = task_of(case.kind)
      local tokens = task:encode(case.question)
      local count = tokens:count()
      local targets = task:targets(tokens:view({ 1, count }))
      assert.equal("int32", targets:dtype())
      assert.same({ 1, count }, targets:shape())
      local text = task:decode(targets:view({ count }))
      local width = #case.question // count
      assert.equal(case.answer:sub(1, -width - 1), text:sub(width + 1))
    end
  end)

  it("agree with the answers to questions", function()
    for _, kind in ipairs(KINDS) do
      local task = task_of(kind)
      local tokens = task:batch(8)
      local targets = task:targets(tokens)
      for row = 1, 8 do
        local read = task:decode(tokens[row]:narrow(1, 1, 40))
        assert.equal(task:answer(read), task:decode(targets[row]:narrow(1, 2, 40)))
      end
    end
  end)

  it("are nil for tasks that predict their own tokens", function()
    for _, name in ipairs({ "addition", "copy", "recall" }) do
      local task = roper.tasks[name]()
      assert.is_nil(task:targets(task:batch(1)))
      assert.is_nil(task:chance())
    end
  end)

  it("reject tensors of another dtype or rank, and other ids", function()
    local task = task_of("s3")
    assert.error_matches(function() task:targets(roper.zeros({ 3 }, "int32")) end,
      "task:targets: expected int32 tokens %[rows, time%], got int32 %[3%]")
    assert.error_matches(function() task:targets(roper.zeros({ 1, 3 })) end, "got float32 %[1, 3%]")
    for _, id in ipairs({ -1, 6 }) do
      assert.error_matches(function() task:targets(roper.tensor({ { 0, id } }, "int32")) end,
        "task:targets: expected token ids from 0 to 5, got %-?%d at index 2")
    end
  end)
end)

describe("state_tracking:batch", function()
  it("marks every token but the first of a row as one with a state to predict", function()
    local _, answers = task_of("a5"):batch(3, { answers = true })
    assert.same({ 0, 1, 1 }, answers[2]:narrow(1, 1, 3):totable())
    assert.equal(3 * 40, answers:sum():item())
  end)

  it("draws tokens uniformly; flip_flop keeps with the given probability", function()
    for _, kind in ipairs(KINDS) do
      local task, counts = task_of(kind, { length = 401 }), {}
      for _, row in ipairs(task:batch(60):totable()) do
        for _, id in ipairs(row) do
          checks.count(counts, id)
        end
      end
      if kind == "flip_flop" then
        -- Off by more than 4 standard errors with probability 6e-5.
        assert.near(0.8, counts[0] / (60 * 401), 4 * (0.8 * 0.2 / (60 * 401)) ^ 0.5)
        counts[0] = nil
        checks.uniform(counts, 2)
      else
        checks.uniform(counts, #task:vocabulary())
      end
    end
    assert.is_nil(task_of("flip_flop", { ignore = 0 }):question():find("-", 1, true))
  end)

  it("makes states of a group uniform", function()
    local task, counts = task_of("s3", { length = 400 }), {}
    for _, row in ipairs(task:targets(task:batch(20)):totable()) do
      for i = 2, #row do
        checks.count(counts, row[i])
      end
    end
    checks.uniform(counts, 6)
  end)
end)

describe("state_tracking:question", function()
  it("has the tokens that a row reads", function()
    for _, kind in ipairs(KINDS) do
      local task = task_of(kind)
      local question, answer = task:question()
      assert.equal(40, task:encode(question):count())
      assert.equal(answer, task:answer(question))
      assert.is_true(task:poses(question))
      assert.is_false(task_of(kind, { length = 40 }):poses(question))
    end
  end)
end)

describe("state_tracking:grade", function()
  it("rejects every corruption: all states must be right", function()
    checks.grades(task_of("parity"), 5)
    checks.grades(task_of("s3"), 2)
  end)
end)

describe("state_tracking:floor and :chance", function()
  it("is 0: the tokens determine the state", function()
    for _, kind in ipairs(KINDS) do
      assert.same({ 0, 0 }, { task_of(kind):floor() })
    end
  end)

  it("agrees with the law of the state after each number of tokens", function()
    for _, case in ipairs(golden.tracked_chances) do
      local right, nats = task_of(case.kind, { length = case.length, ignore = case.ignore })
        :chance()
      assert.near(case.right, right, 1e-11)
      assert.near(case.nats, nats, 1e-11)
    end
  end)
end)

describe("state_tracking:vocabulary", function()
  it("is the permutations in lexicographic order, even ones for a5", function()
    for kind, words in pairs(golden.tracked_words) do
      local task = task_of(kind)
      assert.equal(words, table.concat(task:vocabulary()))
      assert.is_nil(task:stop())
      local ids = task:encode(words)
      assert.equal(#task:vocabulary(), ids:count())
      assert.equal(words, task:decode(ids))
    end
  end)

  it("rejects words that are not in it", function()
    local task = task_of("s5")
    for text, got in pairs({ ["1234512346"] = '"12346" at index 6', ["123"] = '"123" at index 1',
      ["12345\n2345"] = '"\\n2345" at index 6' }) do
      assert.error_matches(function() task:encode(text) end,
        'expected tokens of state_tracking, such as "12345" and "12354", got ' .. got)
    end
  end)
end)

describe("state_tracking:explain", function()
  it("finds the last write of flip_flop as the source of each state", function()
    local task = task_of("flip_flop")
    local nats, sources = task:explain(task:encode("--1--0-1"):view({ 1, 8 }))
    assert.same({ -1, -1, -1, 2, 2, 2, 5, 5 }, sources:totable()[1])
    assert.equal(0, nats:abs():max():item())
  end)

  it("finds none for the others: a state depends on all tokens", function()
    for _, kind in ipairs({ "parity", "s3", "a5", "s5" }) do
      local task = task_of(kind)
      local nats, sources = task:explain(task:batch(4))
      assert.equal(-1, sources:max():item())
      assert.equal(0, nats:abs():max():item())
    end
  end)
end)

