local core = require("roper.core")
local metrics = require("roper.training.metrics")
local models = require("tests.models")
local roper = require("roper")
local runs = require("tests.runs")
local scratch = require("tests.scratch")
local train = require("roper.training")
local uv = require("luv")

local files, numbers, run = runs.files, runs.numbers, runs.train
local same_checkpoint, timeless = runs.same_checkpoint, runs.timeless

before_each(scratch.create)
after_each(scratch.remove)

describe("train.loss", function()
  it("counts the steps of a custom optimizer", function()
    local steps = 0
    local own = { name = "own", options = {}, count = 0, state = {}, moments = {},
      step = function() steps = steps + 1 end }
    local task = roper.tasks.addition({ max_digits = 2, length = 40, seed = 1 })
    local model = roper.nn.Transformer({ vocabulary = task:vocabulary(), d_model = 8, heads = 2,
      layers = 1 })
    local done = roper.train({ model = model, task = task, optimizer = own, steps = 3, batch = 2,
      progress = false })
    assert.same({ 3, 3 }, { done.step, steps })
  end)

  it("is the mean cross-entropy of each next token, in nats", function()
    local model, tokens = models.small(), models.task():batch(2)
    local chances = model(tokens):softmax(3):log():totable()
    local ids, sum = tokens:totable(), 0
    for row = 1, 2 do
      for time = 1, 29 do
        sum = sum - chances[row][time][ids[row][time + 1] + 1]
      end
    end
    assert.is_true(math.abs(sum / 58 - train.loss(model, tokens):item()) < 1e-5)
  end)
end)

describe("train with a task that has positions", function()
  -- Mean cross-entropy by the tokens that come next, from a forward pass told of positions.
  local function loss_by_hand(model, tokens, positions)
    local rows, last = tokens:size(1), tokens:size(2) - 1
    local chances = model(tokens, nil, positions):softmax(3):log():totable()
    local ids, sum = tokens:totable(), 0
    for row = 1, rows do
      for time = 1, last do
        sum = sum - chances[row][time][ids[row][time + 1] + 1]
      end
    end
    return sum / (rows * last)
  end

  it("passes them to the model", function()
    for _, position in ipairs({ "rope", "roper", "alibi", "sinusoidal" }) do
      local task, model = models.coupled({ position = position })
      local state = { task:random() }
      local tokens = task:batch(2)
      local expected = loss_by_hand(model, tokens, task:positions(tokens))
      assert.is_true(math.abs(loss_by_hand(model, tokens) - expected) > 1e-4)
      local linear = model.logits
      for _, one in ipairs({ linear, setmetatable({}, { __call = function(_, x)
        return linear(x)
      end }) }) do
        model.logits = one
        for _, asked in ipairs({ model, function(...) return model(...) end }) do
          assert.near(expected, train.loss(asked, tokens, task:positions(tokens)):item(), 1e-5)
        end
      end
      model.logits = linear
      task:set_random(table.unpack(state))
      local done = roper.train({ model = model, task = task, optimizer = roper.optim.Adam(),
        steps = 1, batch = 2, progress = false })
      assert.near(expected, done.loss, 1e-5)
    end
  end)

  it("lowers the loss, and resumes as if it had not stopped", function()
    local function session(steps, folder)
      local task, model = models.coupled({ position = "rope" })
      return roper.train({ model = model, task = task, steps = steps, batch = 4, run = folder,
        optimizer = roper.optim.Adam({ rate = 1e-2 }), progress = false, resume = true })
    end
    local whole, folder = session(30), scratch.path("run")
    assert.is_true(whole.history[1].loss > whole.loss + 0.3)
    session(20, folder)
    assert.equal(whole.loss, session(30, folder).loss)
  end)

  it("names the scheme that cannot use such positions", function()
    local task, model = models.coupled({ position = "learned", length = 2 })
    assert.error_matches(function()
      roper.train({ model = model, task = task, optimizer = roper.optim.Adam(), steps = 1,
        progress = false })
    end, "position: learned: expected whole positions from 0 to 1, got 2")
  end)
end)

describe("train", function()
  it("lowers the loss", function()
    local result = run({ steps = 60, batch = 8, optimizer = roper.optim.Adam({ rate = 1e-2 }) })
    assert.equal(6, #result.history)
    assert.is_true(result.history[1].loss > result.loss + 0.3)
    assert.equal(result.history[6].loss, result.loss)
    assert.equal(60, result.step)
  end)

  it("logs the mean since the previous entry", function()
    local every = run({ steps = 11, log_every = 1 }).history
    assert.same({ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 }, numbers(every, "step"))
    local function mean(from, to)
      local sum = 0
      for step = from, to do
        sum = sum + every[step].loss
      end
      return sum / (to - from + 1)
    end
    local folder = scratch.path("run")
    local result = run({ steps = 11, log_every = 4, run = folder })
    assert.same({ 4, 8, 11 }, numbers(result.history, "step"))
    assert.same({ mean(1, 4), mean(5, 8), mean(9, 11) }, numbers(result.history, "loss"))
    assert.same(result.history, metrics.read(folder .. "/metrics.jsonl"))
  end)

  it("evaluates without dropout, at its steps and at the end", function()
    local seen = {}
    local result, model = run({ steps = 11, log_every = 5, evaluate_every = 4,
      evaluate = function(model, step)
        seen[#seen + 1] = step
        model:training(false)
        return { accuracy = step / 100, right = #seen }
      end })
    assert.same({ 4, 8, 11 }, seen)
    assert.same({ 4, 5, 8, 10, 11 }, numbers(result.history, "step"))
    assert.equal(0.08, result.history[3].accuracy)
    assert.equal(2, result.history[3].right)
    assert.is_nil(result.history[2].accuracy)
    assert.is_true(model.is_training)
    assert.same(models.values(select(2, run({ steps = 11 }))), models.values(model))
  end)

  it("rejects invalid results of evaluate", function()
    local function refuses(value, message)
      assert.has_error(function()
        run({ evaluate_every = 5, evaluate = function() return value end })
      end, message)
    end
    refuses(nil, "train: evaluate: expected a function that returns a table, got nil")
    refuses({ loss = 1 },
            "train: evaluate: expected names other than step and loss, got loss; rename it")
  end)

  it("gives the same bits for the same seed, and others for another", function()
    for name, seed in pairs({ a = 3, b = 3, c = 4 }) do
      run({ steps = 12, run = scratch.path(name) }, seed)
    end
    local a, b, c = scratch.path("a"), scratch.path("b"), scratch.path("c")
    assert.is_true(same_checkpoint(a, b))
    assert.is_false(same_checkpoint(a, c))
    assert.same(timeless(a), timeless(b))
    assert.not_same(timeless(a), timeless(c))
  end)

  it("splits a batch into parts: the same curve except for rounding", function()
    local function curve(accumulate)
      local result = run({ steps = 50, batch = 12, log_every = 1, accumulate = accumulate,
        model = models.small() })
      return numbers(result.history, "loss")
    end
    local whole, last = curve(), nil
    for _, parts in ipairs({ 1, 2, 4, 12 }) do
      local found = curve(parts)
      for step, loss in ipairs(whole) do
        assert.near(loss, found[step], parts == 1 and 0 or 1e-4)
      end
      last = found
    end
    assert.not_same(whole, last)
    assert.is_true(whole[50] < whole[1] - 0.1)
    assert.error_matches(function() run({ batch = 12, accumulate = 5 }) end,
      "train: accumulate: expected a divisor of the batch size 12, got 5")
  end)

  it("describes a run in its folder", function()
    local folder = scratch.path("deep/run")
    run({ run = folder, steps = 3, optimizer = roper.optim.SGD({ rate = 0.25, clip = 1,
      schedule = roper.optim.schedule.constant() }) })
    local whole = core.json_decode(files(folder)["config.json"])
    assert.equal(1, #whole.provenance)
    local record = whole.provenance[1]
    assert.same({ roper.version, uv.os_gethostname(), 0 },
                { record.version, record.host, record.step })
    assert.truthy(record.started:find("^%d%d%d%d%-%d%d%-%d%dT"))
    for name, value in pairs(core.machine()) do
      assert.equal(value, record[name])
    end
    assert.same({ name = "SGD", rate = 0.25, clip = 1, momentum = 0, l2 = 0, nesterov = false },
                whole.config.optimizer)
    assert.equal("roper", whole.config.model.position)
    assert.equal("substring_index", whole.config.task.name)
    assert.equal(3, whole.config.steps)
    run({ run = scratch.path("named"), config = { note = "mine" } })
    whole = core.json_decode(files(scratch.path("named"))["config.json"])
    assert.same({ note = "mine", steps = 10 }, whole.config)
  end)

  it("reports its progress", function()
    local steps, finished = {}, 0
    run({ steps = 3, progress = {
      update = function(_, step, loss, speed)
        steps[#steps + 1] = step
        assert.is_true(loss > 0 and speed > 0)
      end,
      finish = function() finished = finished + 1 end,
    } })
    assert.same({ 1, 2, 3 }, steps)
    assert.equal(1, finished)
  end)

  it("rejects bad options", function()
    local function refuses(options, message)
      assert.error_matches(function() run(options) end, message)
    end
    refuses({ steps = 0 }, "train: option steps: expected a positive integer, got 0")
    refuses({ steps = 1.5 }, "train: option steps: expected a positive integer, got 1.5")
    refuses({ task = 5 }, "train: option task: expected a task, got 5")
    refuses({ evaluate = print }, "train: evaluate needs evaluate_every, a number of steps")
    refuses({ run = scratch.write("file", "") }, "cannot make the folder .*/file: a file with this")
  end)
end)
