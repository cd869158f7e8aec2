local evaluation = require("roper.training.evaluation")
local generate = require("roper.model.generate")
local models = require("tests.models")
local roper = require("roper")
local train = require("roper.training")

local linear = roper.nn.Linear({ inputs = 1, outputs = 1 }) -- a model that is not called
local tasks = {
  roper.tasks.addition({ max_digits = 3, length = 150, seed = 5 }),
  roper.tasks.substring_index({ length = 150, seed = 5 }),
  roper.tasks.substring_prefix({ substring_length = 8, length = 60, seed = 5 }),
}

describe("evaluation.fresh", function()
  it("is the same task with other draws", function()
    for _, task in ipairs(tasks) do
      local before = { task:random() }
      local fresh = evaluation.fresh(task, 77)
      local options = task:options()
      options.seed = 77
      assert.same(options, fresh:options())
      assert.equal(task:name(), fresh:name())
      fresh:batch(2)
      assert.same(before, { task:random() })
    end
  end)
end)

describe("evaluation.solve", function()
  local sample = generate.generate

  after_each(function() generate.generate = sample end)

  -- `answer(task, question, i)` takes the place of a model's samples.
  local function cheat(answer)
    generate.generate = function(_, questions, options)
      local texts = {}
      for i, question in ipairs(questions) do
        texts[i] = answer(options.task, question, i)
      end
      return texts
    end
  end

  it("counts all problems as solved for correct answers", function()
    for _, task in ipairs(tasks) do
      cheat(function(asked, question) return asked:answer(question) end)
      local solved, samples = evaluation.solve(linear, task)
      assert.equal(128, solved)
      assert.equal(128, #samples)
      for _, one in ipairs(samples) do
        assert.is_true(one.solved)
        assert.is_true(task:grade(one.question, one.text))
        assert.is_true(task:grade(one.question, one.answer))
      end
    end
  end)

  it("counts almost correct answers as wrong", function()
    for _, task in ipairs(tasks) do
      cheat(function(asked, question, i)
        local answer = asked:answer(question)
        return i % 2 == 0 and answer:sub(1, -2) or answer .. answer:sub(-1)
      end)
      assert.equal(0, (evaluation.solve(linear, task, { problems = 20 })))
    end
  end)

  it("counts solved problems", function()
    for _, task in ipairs(tasks) do
      cheat(function(asked, question, i) return i % 4 == 0 and asked:answer(question) or "" end)
      local solved, samples = evaluation.solve(linear, task, { problems = 20 })
      assert.equal(5, solved)
      assert.is_true(samples[4].solved)
      assert.is_false(samples[5].solved)
    end
  end)

  it("lets a model write answers of any length, and samples as requested", function()
    local task = tasks[2]
    generate.generate = function(_, questions, options)
      local longest = 0
      for _, question in ipairs(questions) do
        longest = math.max(longest, #options.task:answer(question))
      end
      assert.equal(longest, options.limit)
      assert.equal(0.5, options.temperature)
      assert.equal(9, options.seed)
      return questions
    end
    assert.equal(0, (evaluation.solve(linear, task, { temperature = 0.5, seed = 9 })))
  end)

  it("depends on the seed only", function()
    local task = models.task()
    local model = models.small()
    local before = { task:random() }
    local function texts(seed)
      local list = {}
      for i, one in ipairs(select(2, evaluation.solve(model, task, { seed = seed,
                                                                     problems = 6 }))) do
        list[i] = one.question .. one.text
      end
      return list
    end
    local first = texts(3)
    assert.same(before, { task:random() })
    roper.seed(99)
    task:question()
    assert.same(first, texts(3))
    assert.not_same(first, texts(4))
    assert.is_true(model.is_training)
  end)

  it("poses the problems of the seed", function()
    cheat(function() return "" end)
    for _, task in ipairs(tasks) do
      for _, seed in ipairs({ 3, 4 }) do
        local fresh = evaluation.fresh(task, seed)
        local _, samples = evaluation.solve(linear, task, { seed = seed, problems = 3 })
        assert.equal(3, #samples)
        for _, one in ipairs(samples) do
          assert.same({ fresh:question() }, { one.question, one.answer })
        end
      end
    end
  end)
end)

describe("evaluation.answers", function()
  local SEED <const> = 12

  -- A model that knows the sequences to come; `spoil(right, is_answer)` changes its predictions.
  local function oracle(task, spoil)
    local twin = evaluation.fresh(task, SEED)
    local count = #task:vocabulary()
    local model = roper.nn.class("Oracle")()
    function model.forward(_, tokens)
      local all, is_answer = twin:batch(tokens:size(1), { answers = true })
      local last = all:size(2) - 1
      assert.same(all:narrow(2, 1, last):totable(), tokens:totable())
      local guess = spoil(all:narrow(2, 2, last), is_answer:narrow(2, 2, last), count)
      return guess:unsqueeze(3):eq(roper.arange(0, count, 1, "int32")):to("float32") * 100
    end
    return model
  end

  local function measure(task, spoil, options)
    options = options or {}
    options.seed = SEED
    return evaluation.answers(oracle(task, spoil), task, options)
  end

  local function other(id, count)
    return (id + 1) - (id:eq(count - 1)) * count
  end

  it("returns 1 for correct predictions", function()
    for _, task in ipairs(tasks) do
      local found = measure(task, function(right) return right end)
      assert.equal(1, found.accuracy)
      assert.is_true(found.loss < 1e-6)
    end
  end)

  it("measures accuracy on answers only, but the loss on all tokens", function()
    for _, task in ipairs(tasks) do
      local found = measure(task, function(right, is_answer, count)
        return right * is_answer + other(right, count) * (is_answer * -1 + 1)
      end)
      assert.equal(1, found.accuracy)
      assert.is_true(found.loss > 10)
      found = measure(task, function(right, is_answer, count)
        return other(right, count) * is_answer + right * (is_answer * -1 + 1)
      end)
      assert.equal(0, found.accuracy)
      assert.is_true(found.loss > 10)
    end
  end)

  it("separates the loss of answers from that of questions", function()
    for _, task in ipairs(tasks) do
      local found = measure(task, function(right, is_answer, count)
        return other(right, count) * is_answer + right * (is_answer * -1 + 1)
      end)
      assert.near(100, found.loss_answers, 1e-4) -- the logits of what is not predicted are 0
      assert.is_true(found.loss_questions < 1e-6)
    end
  end)

  it("weights answers and questions by their shares, for loss and floor", function()
    for _, task in ipairs(tasks) do
      local model = models.small({ vocabulary = task:vocabulary() })
      local found = evaluation.answers(model, task, { seed = SEED, sequences = 8 })
      local tokens, is_answer = evaluation.fresh(task, SEED):batch(8, { answers = true })
      local width = tokens:size(2) - 1
      local marks = is_answer:narrow(2, 2, width)
      local share = marks:sum():item() / (8 * width)
      local nats = task:explain(tokens):narrow(2, 2, width)
      for whole, parts in pairs({ loss = { found.loss_answers, found.loss_questions },
                                  floor = { found.floor_answers, found.floor_questions } }) do
        assert.near(found[whole], share * parts[1] + (1 - share) * parts[2], 1e-6)
      end
      assert.near(nats:mean():item(), found.floor, 1e-12)
      assert.near((nats * marks:to("float64")):sum():item() / marks:sum():item(),
                  found.floor_answers, 1e-12)
    end
  end)

  it("passes the task's positions to the model", function()
    local task, model = models.coupled({ position = "rope" })
    local found = evaluation.answers(model, task, { seed = SEED, sequences = 4 })
    local tokens = evaluation.fresh(task, SEED):batch(4)
    local told = train.loss(model, tokens, task:positions(tokens)):item()
    assert.near(told, found.loss, 1e-5)
    assert.is_true(math.abs(train.loss(model, tokens):item() - told) > 1e-4)
    local nats = task:explain(tokens):narrow(2, 2, task:length() - 1)
    assert.near(nats:mean():item(), found.floor, 1e-12)
  end)

  it("counts correct tokens by the distance to the repeated one", function()
    local task = roper.tasks.substring_index({ letters = 4, length = 60, seed = 5 })
    -- Right if the same letter is 14 places before, else wrong. The suffix from index i
    -- begins 15 - i places after the letter it begins with.
    local found = measure(task, function(right, _, count)
      local near = roper.zeros(right:shape(), "int32")
      near:narrow(2, 15, right:size(2) - 14):copy(right:narrow(2, 1, right:size(2) - 14))
      local is_far = right:eq(near)
      return right * is_far + other(right, count) * (is_far * -1 + 1)
    end, { sequences = 40 })
    local counts = {}
    for i, entry in ipairs(found.by_distance) do
      counts[entry.distance] = entry
      assert.is_true(i == 1 or entry.distance > found.by_distance[i - 1].distance)
      assert.is_true(entry.right <= entry.count)
    end
    -- The suffix from index i begins 11 + 4 - i places after its first letter.
    for distance in pairs(counts) do
      assert.is_true(distance >= 12 and distance <= 15)
    end
    assert.equal(counts[14].count, counts[14].right)
    for _, distance in ipairs({ 12, 13, 15 }) do
      assert.is_true(counts[distance].right < counts[distance].count / 2)
    end
  end)

  it("measures and trains any module that returns logits, and rejects other results", function()
    local Own, made, task = roper.nn.class "Own", nil, models.task()
    function Own:init() self.inner = models.small() end
    function Own:forward(...) return made and made(...) or self.inner(...) end
    local model = Own()
    local function answers()
      return evaluation.answers(model, task, { sequences = 4 })
    end
    local function trained()
      return train.train({ model = model, task = task, batch = 2, steps = 1, progress = false,
        optimizer = roper.optim.Adam() })
    end
    local before = answers()
    assert.same(evaluation.answers(model.inner, task, { sequences = 4 }), before)
    trained()
    assert.is_true(answers().loss ~= before.loss)
    made = function(tokens) return tokens end
    assert.error_matches(answers, "model: expected logits %[4, 29, vocabulary%], got %[4, 29%]")
    assert.error_matches(trained, "model: expected logits %[2, 29, vocabulary%], got %[2, 29%]")
  end)

  it("weights every sequence equally, for any batch size", function()
    local model, task = models.small(), models.task()
    local whole = evaluation.answers(model, task, { sequences = 10, seed = 2, batch = 10 })
    for _, batch in ipairs({ 1, 3, 64 }) do
      local found = evaluation.answers(model, task, { sequences = 10, seed = 2, batch = batch })
      assert.equal(whole.accuracy, found.accuracy)
      assert.is_true(math.abs(whole.loss - found.loss) < 1e-6)
    end
    local untrained = math.log(#task:vocabulary())
    assert.is_true(math.abs(whole.loss - untrained) < 1.5)
  end)

  it("applies no dropout, and restores model, task and recording", function()
    local model, task = models.small({ dropout = 0.5 }), models.task()
    local before = { task:random() }
    assert.same(evaluation.answers(model, task), evaluation.answers(model, task))
    assert.same(before, { task:random() })
    assert.is_true(model.is_training)
    assert.is_true(model.layers[2].is_training)
    assert.is_true(roper.is_recording())
    model:training(false)
    evaluation.answers(model, task)
    assert.is_false(model.is_training)
  end)

  it("leaves the model in training after an error", function()
    local model, other_task = models.small({ vocabulary = 3 }), models.task()
    assert.error_matches(function() evaluation.answers(model, other_task) end, "embedding")
    assert.is_true(model.is_training)
    assert.is_true(roper.is_recording())
  end)

  it("rejects sequences without answers, and bad options", function()
    local short = roper.tasks.substring_index({ length = 10 })
    local model = models.small({ vocabulary = short:vocabulary() })
    assert.error_matches(function() evaluation.answers(model, short, { sequences = 3 }) end,
      "answers: expected sequences with answers, got none in 3 of length 10")
    assert.is_true(model.is_training)
    assert.error_matches(function() evaluation.answers(model, short, { sequences = 0 }) end,
                         "answers: option sequences: expected a positive integer, got 0")
  end)
end)

describe("evaluation.longer", function()
  local LONGER <const> = { { { max_digits = 4 }, { max_digits = 7 } }, { { letters = 30 } },
                           { { length = 120 }, { substring_length = 12 } } }

  it("uses problems that training did not contain", function()
    local sample = generate.generate
    for i, task in ipairs(tasks) do
      local asked = 0
      generate.generate = function(_, questions, options)
        local texts = {}
        for j, question in ipairs(questions) do
          assert.is_false(pcall(task.answer, task, question), question)
          texts[j] = options.task:answer(question)
          asked = asked + 1
        end
        return texts
      end
      local model = models.small({ vocabulary = task:vocabulary() })
      local ok, list = pcall(evaluation.longer, model, task, LONGER[i],
                             { problems = 9, sequences = 3 })
      generate.generate = sample
      assert(ok, list)
      assert.equal(9 * #LONGER[i], asked)
      assert.equal(#LONGER[i], #list)
      for j, entry in ipairs(list) do
        local name, value = next(LONGER[i][j])
        assert.equal(("%s=%d"):format(name, value), entry.name)
        assert.same({ 9, 9 }, { entry.solved, entry.problems })
        assert.is_true(entry.accuracy >= 0 and entry.loss > entry.floor)
      end
    end
  end)

  it("reports that there are none", function()
    assert.error_matches(function()
      evaluation.solve(linear, tasks[1], { beyond = tasks[1] })
    end, "problem: expected a problem that addition{.*} could not pose, found none in 10000 of add")
  end)
end)
