local roper = require "roper"

-- Returns the texts of the marked tokens of each row, "." for the others.
local function marked(task, options)
  local tokens, is_answer, is_beyond = task:batch(3, options)
  local answers = is_answer:totable()
  local texts = {}
  for row, marks in ipairs(is_beyond:totable()) do
    local ids, parts = tokens[row]:totable(), {}
    for i, mark in ipairs(marks) do
      assert.is_true(mark == 0 or answers[row][i] == 1)
      parts[i] = mark == 1 and task:decode { ids[i] } or "."
    end
    texts[row] = table.concat(parts)
  end
  return texts, tokens
end

describe("task:batch with beyond", function()
  it("marks the answers of problems that training could not pose", function()
    local trained = roper.tasks.copy { letters = 4, length = 20 }
    local task = roper.tasks.copy { letters = 8, length = 40, seed = 3 }
    local texts, tokens = marked(task, { beyond = trained })
    local counts = { 0, 0 }
    for row, text in ipairs(texts) do
      local whole = task:decode(tokens[row])
      for at, question, first, answer in whole:gmatch "()(%l+>)()(%l*#?)" do
        local is_long = #question > 5
        counts[is_long and 1 or 2] = counts[is_long and 1 or 2] + 1
        assert.equal(("."):rep(#question) .. (is_long and answer or ("."):rep(#answer)),
          text:sub(at, first + #answer - 1))
      end
    end
    assert.is_true(counts[1] > 0 and counts[2] > 0)
  end)

  it("marks positions if only the rows are longer", function()
    for name, options in pairs { state_tracking = { kind = "parity" },
      substring_prefix = { random_length = 2, substring_length = 3 } } do
      local function of(length)
        options.length = length
        return roper.tasks[name](options)
      end
      local _, is_answer, is_beyond = of(40):batch(3, { beyond = of(16) })
      assert.equal(0, is_beyond:narrow(2, 1, 16):sum():item())
      assert.is_true(is_beyond:narrow(2, 17, 24):eq(is_answer:narrow(2, 17, 24)):all())
      assert.is_true(is_beyond:sum():item() > 0)
    end
  end)

  it("draws the same rows, and marks nothing for the same task", function()
    local function draw(options)
      return roper.tasks.addition({ max_digits = 2, length = 60 }):batch(2, options)
    end
    local tokens, _, is_beyond = draw { beyond = roper.tasks.addition { max_digits = 2,
      length = 60 } }
    assert.is_true(tokens:eq((draw())):all())
    assert.equal(0, is_beyond:sum():item())
  end)

  it("refuses another kind of task, and a text", function()
    local copy = roper.tasks.copy()
    local before = { copy:random() }
    assert.error_matches(function() copy:batch(1, { beyond = roper.tasks.recall() }) end,
      "task:batch: option beyond: expected a task of the kind copy, got recall")
    assert.same(before, { copy:random() })
    assert.error_matches(function()
      roper.tasks.text({ tokenizer = "bytes" }):batch(1, { beyond = copy })
    end, "task:batch: ")
  end)
end)

describe("evaluation.answers with beyond", function()
  -- A model of the parity that is right about the first `length` - 1 targets only.
  local function right_until(task, length)
    local Half = roper.nn.class "BeyondSpecHalf"
    function Half.new(class)
      return class:create()
    end
    function Half.forward(_, tokens)
      local columns = tokens:size(2)
      local whole = roper.cat({ tokens, tokens:narrow(2, 1, 1) }, 2)
      local logits = task:targets(whole):narrow(2, 2, columns):totable()
      for _, row in ipairs(logits) do
        for i, target in ipairs(row) do
          local guess = i < length and target or 1 - target
          row[i] = { 1 - guess, guess }
        end
      end
      return roper.tensor(logits)
    end
    return Half()
  end

  it("averages only over what is beyond", function()
    local function of(length)
      return roper.tasks.state_tracking { kind = "parity", length = length }
    end
    local found = roper.evaluate.longer(right_until(of(17), 17), of(17), { { length = 33 },
      { length = 65 } }, { problems = 1, sequences = 4 })
    assert.same({ 0.5, 0 }, { found[1].accuracy, found[1].accuracy_beyond })
    assert.same({ 0.25, 0 }, { found[2].accuracy, found[2].accuracy_beyond })
    local answers = roper.evaluate.answers(right_until(of(65), 17), of(33), { sequences = 4,
      beyond = of(9) })
    assert.same({ 0.5, 8 / 24 }, { answers.accuracy, answers.accuracy_beyond })
    assert.is_nil(roper.evaluate.answers(right_until(of(65), 17), of(33), {
      sequences = 4 }).accuracy_beyond)
  end)
end)
