local attention_map = require("roper.workbench.study.report.attention_map")
local core = require("roper.core")
local experiment = require("roper.workbench.study.experiment")
local attention = require("roper.attention")

local function build(fields)
  local all = { preset = "smoke", layers = 2 }
  for name, value in pairs(fields or {}) do
    all[name] = value
  end
  return experiment.build(experiment.configure("substring_index", all))
end

describe("attention_map.problem", function()
  it("is reproducible and does not change the task's own stream", function()
    local task = build().task
    local before = { task:random() }
    local question, answer = attention_map.problem(task, 3)
    assert.same({ question, answer }, { attention_map.problem(task, 3) })
    assert.same(before, { task:random() })
    assert.is_true(task:grade(question, answer))
  end)

  it("has a long answer by default", function()
    local task = build().task
    local longest = 0
    for number = 1, 8 do
      longest = math.max(longest, #select(2, attention_map.problem(task, number)))
    end
    assert.equal(longest, #select(2, attention_map.problem(task)))
  end)
end)

describe("attention_map.of", function()
  -- The weights of one head, computed apart: the layers before it run by hand.
  local function weights_by_hand(parts, text, layer, head)
    local tokens = parts.task:encode(text):view({ 1, #text })
    local x, positions = parts.model.embedding(tokens), parts.task:positions(tokens)
    for i = 1, layer - 1 do
      x = parts.model.layers[i](x, nil, positions)
    end
    local block = parts.model.layers[layer]
    local input = block.norm == "pre" and block.attention_norm(x) or x
    local module = block.attention
    return attention.attention_weights(module:split(module.query(input)),
      module:split(module.key(input)), { position = module.position, causal = true,
        positions = positions })[{ 1, head }]:totable()
  end

  it("has a row for each token of a question with targets, and the state it predicts", function()
    local parts = experiment.build(experiment.configure("state_tracking", { preset = "smoke",
      kind = "s3" }))
    local map = attention_map.of(parts.model, parts.task, { problem = 2 })
    assert.equal(map.question, table.concat(map.tokens))
    assert.equal(16, #map.rows)
    local predicted = {}
    for i, row in ipairs(map.rows) do
      assert.equal(i - 1, row.position)
      predicted[i] = row.predicted
      assert.is_true(row.weights[i - 1] >= 0 and row.weights[i] == nil)
    end
    assert.equal(map.answer, table.concat(predicted))
  end)

  it("gives the weights of the head that was asked for, by distance", function()
    for _, norm in ipairs({ "pre", "post" }) do
      for _, position in ipairs({ "none", "rope", "roper" }) do
        local parts = build({ norm = norm, position = position })
        local map = attention_map.of(parts.model, parts.task, { layer = 2, head = 1, problem = 5 })
        assert.same({ 2, 1 }, { map.layer, map.head })
        local expected = weights_by_hand(parts, map.question .. map.answer, 2, 1)
        assert.equal(#map.answer, #map.rows)
        for i, row in ipairs(map.rows) do
          assert.equal(map.answer:sub(i, i), row.predicted)
          assert.equal(#map.question + i - 2, row.position)
          local sum = 0
          for distance = 0, row.position do
            local weight = expected[row.position + 1][row.position - distance + 1]
            assert.is_true(math.abs(weight - row.weights[distance]) < 1e-6)
            sum = sum + row.weights[distance]
          end
          assert.is_true(math.abs(sum - 1) < 1e-5)
          assert.is_nil(row.weights[row.position + 1])
        end
      end
    end
  end)

  it("gives the weights also where the scheme reads what goes into the layer", function()
    local parts = build({ position = "fox" })
    for _, row in ipairs(attention_map.of(parts.model, parts.task, { layer = 1, head = 2 }).rows) do
      local sum = 0
      for _, weight in pairs(row.weights) do
        sum = sum + weight
      end
      assert.is_true(math.abs(sum - 1) < 1e-5)
    end
  end)

  it("finds the head with the most weight at one distance", function()
    local parts = build()
    local best = attention_map.of(parts.model, parts.task)
    local most = 0
    for layer = 1, 2 do
      for head = 1, 2 do
        local map = attention_map.of(parts.model, parts.task, { layer = layer, head = head })
        most = math.max(most, map.share)
        local sum = 0
        for _, row in ipairs(map.rows) do
          sum = sum + (row.weights[map.distance] or 0)
        end
        assert.is_true(map.distance >= 2)
        assert.is_true(math.abs(sum / #map.rows - map.share) < 1e-6)
      end
    end
    assert.equal(most, best.share)
  end)

  it("does not change the model and the generator", function()
    local parts = build({ dropout = 0.1 })
    parts.model:training(true)
    local modules = { parts.model.layers[1].attention, parts.model.layers[2].attention }
    local state = { core.random_state() }
    attention_map.of(parts.model, parts.task)
    assert.is_true(parts.model.is_training)
    assert.equal(modules[1], parts.model.layers[1].attention)
    assert.equal(modules[2], parts.model.layers[2].attention)
    assert.same(state, { core.random_state() })
  end)

  it("refuses a layer, head or problem that does not exist", function()
    local parts = build()
    local function refuses(options, message)
      assert.error_matches(function()
        attention_map.of(parts.model, parts.task, options)
      end, message, 1, true)
    end
    refuses({ layer = 3 }, "report: layer: expected an integer from 1 to 2, got 3")
    refuses({ head = 0 }, "report: head: expected an integer from 1 to 2, got 0")
    refuses({ problem = 1.5 }, "report: problem: expected an integer from 1 to 128, got 1.5")
  end)

  it("uses the positions of the task", function()
    local parts = experiment.build(experiment.configure("addition", { preset = "smoke",
      layers = 2, coupled = true, position = "rope" }))
    local map = attention_map.of(parts.model, parts.task, { layer = 2, head = 1 })
    local expected = weights_by_hand(parts, map.question .. map.answer, 2, 1)
    for _, row in ipairs(map.rows) do
      for distance = 0, row.position do
        assert.near(expected[row.position + 1][row.position - distance + 1],
          row.weights[distance], 1e-6)
      end
    end
  end)

  it("shows the first tokens of a long answer", function()
    local parts = experiment.build(experiment.configure("addition", { preset = "smoke",
      length = 200, max_digits = 8 }))
    local map = attention_map.of(parts.model, parts.task)
    assert.equal(math.min(48, #map.answer), #map.rows)
  end)
end)
