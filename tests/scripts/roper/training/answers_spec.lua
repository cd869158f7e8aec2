-- Training on answers only: loss = "answers".

local configuration = require("roper.workbench.study.experiment.configuration")
local experiment = require("roper.workbench.study.experiment")
local models = require("tests.models")
local roper = require("roper")
local scratch = require("tests.scratch")

describe('training with loss = "answers"', function()
  before_each(scratch.create)
  after_each(scratch.remove)

  local function sgd()
    return roper.optim.SGD({ rate = 0.5 })
  end

  -- Parameters after a step, and its loss.
  local function trained(options)
    local model = models.convert(models.small(), "float64")
    local done = roper.train({ model = model, task = options.task or models.task(), steps = 1,
      batch = options.batch or 4, accumulate = options.accumulate, optimizer = sgd(),
      loss = options.loss, progress = false })
    return model, done.loss
  end

  -- The same, by the definition of the loss.
  local function expected(task, batch)
    local model = models.convert(models.small(), "float64")
    local tokens, is_answer = task:batch(batch, { answers = true })
    local last = tokens:size(2) - 1
    local each = model:loss(tokens:narrow(2, 1, last):clone(),
      (task:targets(tokens) or tokens):narrow(2, 2, last), { reduction = "none" })
    local mask = is_answer:narrow(2, 2, last):to("float64")
    local loss = (each * mask):sum() / mask:sum()
    loss:backward()
    sgd():step(model:parameters())
    return model, loss:item()
  end

  local function assert_same(a, b)
    local others = b:parameters()
    for i, parameter in ipairs(a:parameters()) do
      assert.is_true(models.difference(parameter, others[i]) < 1e-12)
    end
  end

  it("takes the mean over the tokens of answers", function()
    local model, loss = trained({ loss = "answers" })
    local by_hand, by_hand_loss = expected(models.task(), 4)
    assert.is_true(math.abs(loss - by_hand_loss) < 1e-12)
    assert_same(model, by_hand)
    local _, all = trained({ loss = "all" })
    assert.is_true(math.abs(all - loss) > 1e-3)
  end)

  it("is the same in parts, which have different numbers of answers", function()
    local model, loss = trained({ loss = "answers" })
    for _, parts in ipairs({ 2, 4 }) do
      local other, other_loss = trained({ loss = "answers", accumulate = parts })
      assert.is_true(math.abs(loss - other_loss) < 1e-12)
      assert_same(model, other)
    end
  end)

  it("takes the targets of a task that has some", function()
    local options = { kind = "parity", length = 12, seed = 2 }
    local task = roper.tasks.state_tracking(options)
    local words = task:vocabulary()
    local function small()
      return models.convert(models.small({ vocabulary = words }), "float64")
    end
    local model = small()
    local done = roper.train({ model = model, task = task, steps = 1, batch = 3, loss = "answers",
      optimizer = sgd(), progress = false })
    local tokens, is_answer = roper.tasks.state_tracking(options):batch(3, { answers = true })
    local last = tokens:size(2) - 1
    local each = small():loss(tokens:narrow(2, 1, last):clone(),
      task:targets(tokens):narrow(2, 2, last), { reduction = "none" })
    local mask = is_answer:narrow(2, 2, last):to("float64")
    assert.is_true(math.abs(done.loss - ((each * mask):sum() / mask:sum()):item()) < 1e-12)
  end)

  it("is part of the configuration and of the identity of a run", function()
    local run = scratch.path("run")
    local function train(loss, steps)
      return roper.train({ model = models.small(), task = models.task(), steps = steps, batch = 2,
        optimizer = sgd(), loss = loss, run = run, resume = true, progress = false })
    end
    train("answers", 2)
    assert.equal(3, train("answers", 3).step)
    assert.error_matches(function() train("all", 4) end, "loss")
    local function hash(loss)
      return configuration.hash(experiment.configure("copy", { loss = loss }))
    end
    assert.equal(hash(), hash("all"))
    assert.not_equal(hash(), hash("answers"))
  end)

  it("trains on the answers of a text", function()
    local lines = {}
    for i = 1, 12 do
      lines[i] = ('{"text": "%d + %d = ", "answer": "%d"}'):format(i, i, 2 * i)
    end
    local path = scratch.write("sums.jsonl", table.concat(lines, "\n"))
    local options = { files = path, tokenizer = "bytes", length = 20, validation = 0.2, seed = 3,
      cache = scratch.path("cache") }
    local task = roper.tasks.text(options)
    assert.is_true(task:has_answers())
    local tokens, is_answer = task:batch(4, { answers = true })
    for row = 1, 4 do
      local is_inside
      for i, id in ipairs(tokens[row]:totable()) do
        local char = string.char(id)
        if is_inside ~= nil or char == "\0" then
          assert.equal((char == "\0" or is_inside) and 1 or 0, is_answer[row][i]:item())
        end
        if char == "\0" then
          is_inside = false
        elseif is_inside ~= nil then
          local text = task:decode(tokens[row]:narrow(1, 1, i))
          is_inside = text:match("[^%z]*$"):find("= ", 1, true) ~= nil
        end
      end
    end
    local function small()
      return models.convert(models.small({ vocabulary = 256 }), "float64")
    end
    local done = roper.train({ model = small(), task = roper.tasks.text(options), steps = 1,
      batch = 4, loss = "answers", optimizer = sgd(), progress = false })
    local each = small():loss(tokens:narrow(2, 1, 19):clone(), tokens:narrow(2, 2, 19):clone(),
      { reduction = "none" })
    local mask = is_answer:narrow(2, 2, 19):to("float64")
    assert.is_true(math.abs(done.loss - ((each * mask):sum() / mask:sum()):item()) < 1e-12)
  end)

  it("refuses lines of JSON of which only some have answers, or with other answers", function()
    for message, text in pairs({
      ['line 2: expected a string "answer", as in the documents before'] =
        '{"text": "a", "answer": "b"}\n{"text": "a"}',
      ['line 2: expected no "answer", as in the documents before'] =
        '{"text": "a"}\n{"text": "a", "answer": "b"}',
      ['line 1: expected a string "answer"'] = '{"text": "a", "answer": 5}' }) do
      local path = scratch.write("bad.jsonl", text)
      local ok, got = pcall(roper.tasks.text, { files = path, tokenizer = "bytes", length = 2,
        validation = 0, cache = scratch.path("cache") })
      assert.is_false(ok)
      assert.matches(message, got, 1, true)
    end
  end)

  it("is refused for a text without answers", function()
    local path = scratch.write("text.txt", ("so many words in a row\n"):rep(20))
    local task = roper.tasks.text({ files = path, tokenizer = "bytes", documents = "paragraphs",
      length = 9, validation = 0, cache = scratch.path("cache") })
    assert.error_matches(function()
      roper.train({ model = models.small({ vocabulary = task:vocabulary() }), task = task,
        steps = 1, optimizer = sgd(), loss = "answers", progress = false })
    end, 'train: loss = "answers" needs a task with answers, got text')
  end)
end)
