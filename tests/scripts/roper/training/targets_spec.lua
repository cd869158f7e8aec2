-- Tasks whose targets are not their own tokens.
local evaluation = require("roper.training.evaluation")
local generate = require("roper.model.generate").generate
local interpret = require("roper.interpret")
local roper = require("roper")
local train = require("roper.training")

local task = roper.tasks.state_tracking({ kind = "parity", length = 9, seed = 1 })

-- A model whose most likely tokens `predict` computes from the tokens that it is given.
local function model_of(predict)
  local model = roper.nn.class("Predicts")()
  function model.forward(_, tokens)
    return predict(tokens):unsqueeze(3):eq(roper.arange(0, 2, 1, "int32")):to("float32") * 100
  end
  return model
end

local function parity(tokens)
  local sums = tokens:to("float64"):cumsum(2)
  return (sums - (sums / 2):floor() * 2):to("int32")
end

-- The parity without the last token: the state before.
local function late(tokens)
  return (parity(tokens) - tokens):abs()
end

-- The parity, wrong after the last token of a row.
local function wrong_at_last(tokens)
  local time = tokens:size(2)
  local is_last = roper.arange(1, time + 1, 1, "int32"):eq(time)
  return (parity(tokens) - is_last):abs()
end

describe("evaluation with targets", function()
  it("counts tokens and whole sequences, from tokens alone", function()
    local exact, last = model_of(parity), model_of(wrong_at_last)
    local found = evaluation.answers(exact, task, { sequences = 8 })
    assert.same({ 1, 0 }, { found.accuracy, found.floor })
    assert.is_true(found.loss < 1e-6)
    assert.is_nil(found.loss_questions)
    assert.equal(6, (evaluation.solve(exact, task, { problems = 6, temperature = 0 })))
    assert.equal(7 / 8, evaluation.answers(last, task, { sequences = 8 }).accuracy)
    assert.equal(0, (evaluation.solve(last, task, { problems = 6, temperature = 0 })))
    local shifted = evaluation.answers(model_of(late), task, { sequences = 32 })
    assert.near(0.5, shifted.accuracy, 0.2)
  end)

  it("takes longer sequences, all of them new", function()
    local long = evaluation.longer(model_of(parity), task, { { length = 17 }, { length = 65 } },
      { problems = 3, sequences = 4 })
    for i, name in ipairs({ "length=17", "length=65" }) do
      assert.same({ name, 3, 3, 1 }, { long[i].name, long[i].solved, long[i].problems,
        long[i].accuracy })
    end
  end)

  it("measures the accuracy by the distance to the last write of flip_flop", function()
    local flip = roper.tasks.state_tracking({ kind = "flip_flop", length = 33, seed = 1 })
    local model = roper.nn.class("Predicts")()
    function model.forward(_, tokens) -- writes are right, the rest is a guess of 1
      local guess = tokens + tokens:eq(0) * 2
      return guess:unsqueeze(3):eq(roper.arange(0, 3, 1, "int32")):to("float32") * 100
    end
    local found = evaluation.answers(model, flip, { sequences = 64 }).by_distance
    assert.equal(1, found[1].distance)
    assert.equal(found[1].count, found[1].right)
    assert.equal(2, found[2].distance)
    assert.near(0.5, found[2].right / found[2].count, 0.2)
  end)
end)

describe("generate with targets", function()
  it("predicts a target for each token of prompts of any lengths", function()
    local prompts = { "1", "1101", "0111", "11010" }
    local function texts(options)
      options.task = task
      return generate(model_of(parity), prompts, options)
    end
    assert.same({ "1", "1001", "0101", "10011" }, texts({ temperature = 0 }))
    assert.same({ "1", "10", "01", "10" }, texts({ temperature = 0, limit = 2 }))
    assert.same({ "1", "1001", "0101", "10011" }, texts({ seed = 3 }))
    local long = ("1"):rep(300)
    assert.equal(("10"):rep(150), generate(model_of(parity), { long }, { task = task,
      temperature = 0 })[1])
    local many = {}
    for i = 1, 70 do
      many[i] = "1101"
    end
    local found = generate(model_of(parity), many, { task = task, temperature = 0 })
    for i = 1, 70 do
      assert.equal("1001", found[i], i)
    end
  end)

  it("reads targets of words", function()
    local s3 = roper.tasks.state_tracking({ kind = "s3", length = 9 })
    local model = roper.nn.Transformer({ vocabulary = s3:vocabulary(), d_model = 16, heads = 2 })
    local text = generate(model, { "213132" }, { task = s3, seed = 1 })[1]
    assert.equal(2, s3:encode(text):count())
  end)
end)

describe("train with targets", function()
  it("predicts the targets, not the next tokens", function()
    local model = model_of(parity)
    local tokens = task:batch(4)
    local targets = task:targets(tokens)
    assert.is_true(train.loss(model, tokens, nil, nil, targets):item() < 1e-6)
    assert.is_true(train.loss(model, tokens):item() > 1)
    local easy = roper.tasks.state_tracking({ kind = "flip_flop", ignore = 20, length = 17 })
    local words = easy:vocabulary()
    roper.seed(1)
    local learner = roper.nn.Transformer({ vocabulary = words, d_model = 16, heads = 2,
      layers = 1, position = "rope" })
    local done = train.train({ model = learner, task = easy, batch = 16, steps = 60,
      progress = false, optimizer = roper.optim.Adam({ rate = 1e-2 }) })
    -- Tokens themselves cost more than 0.95 nats; the best guess of states more than 0.68.
    assert.is_true(done.loss < 0.5, tostring(done.loss))
  end)

  it("measures heads by the loss of the targets", function()
    local easy = roper.tasks.state_tracking({ kind = "s3", length = 9 })
    local model = roper.nn.Transformer({ vocabulary = easy:vocabulary(), d_model = 16, heads = 2 })
    local tokens = easy:batch(3)
    local targets = easy:targets(tokens)
    local given = interpret.ablation(model, tokens, { targets = targets }):totable()
    assert.not_same(interpret.ablation(model, tokens):totable(), given)
    assert.same(given, interpret.ablation(model, tokens, { targets = targets,
      mask = tokens * 0 + 1 }):totable())
    assert.error_matches(function()
      interpret.ablation(model, tokens, { targets = targets:narrow(2, 1, 4) })
    end, "ablation: targets: expected a tensor as the tokens, .*%[3, 9%], got .*%[3, 4%]")
  end)
end)
