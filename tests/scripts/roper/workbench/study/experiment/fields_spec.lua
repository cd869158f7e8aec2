local fields = require("roper.workbench.study.experiment.fields")

-- The field of an experiment on a task.
local function field(task, name)
  for _, one in ipairs(fields.of(task)) do
    if one[1] == name then
      return one
    end
  end
end

describe("fields of an experiment on text", function()
  it("are the options of the task", function()
    assert.same({ "files", "string", false,
      "a file of text, or a folder of them, or a list of these", required = true },
      field("text", "files"))
    assert.is_nil(field("text", "problems"))
    assert.is_table(field("addition", "problems"))
    assert.equal("share", field("text", "validation")[2])
    assert.equal(0.05, field("text", "validation")[3])
    assert.equal(2, field("text", "length")[2].smallest)
    assert.is_false(field("text", "documents")[3])
  end)

  it("take paths as they are, also those that look like numbers", function()
    assert.equal("2024", fields.convert(field("text", "files"), "2024"))
    assert.equal("12", fields.convert(field("text", "tokenizer"), "12"))
    assert.equal("jsonl", fields.convert(field("text", "documents"), "jsonl"))
    assert.equal(500, fields.convert(field("text", "vocabulary"), "500"))
    assert.error_matches(function() fields.convert(field("text", "documents"), "json") end,
      'field documents: expected one of file, .*did you mean "jsonl"')
  end)
end)

describe("fields for options", function()
  local options_of = require("roper.options.rows")
  options_of.define("SpecFieldOptions", {
    { "width", "size", 3, "in `px`" },
    { "bias", "boolean", true, "add a bias" },
    { "depth", "size?", nil, "levels" },
  })
  local list = fields.of_options("SpecFieldOptions", { "depth", "bias", { "width", 5 } })

  it("have the rows' kinds, defaults and documentation", function()
    assert.same({ { "depth", "size", false, "levels" },
      { "bias", { "true", "false" }, false, "add a bias", "true" },
      { "width", "size", 5, "in px" } }, list)
    assert.same({ "bias", { "true", "false" }, "false", "add a bias", "true" },
      fields.of_options("SpecFieldOptions", { { "bias", false } })[1])
  end)

  it("become the options again", function()
    local bias = list[2]
    assert.same({ bias = true, width = 5 },
      fields.options(list, { depth = false, bias = false, width = 5 }))
    assert.is_false(fields.convert(bias, true)) -- not set
    for _, value in ipairs({ "false", false }) do
      assert.is_false(fields.options(list, { bias = fields.convert(bias, value) }).bias)
    end
    assert.error_matches(function() fields.convert(bias, "flase") end,
      'field bias: expected one of true, false, got "flase"; did you mean "false"')
  end)

  it("are those of the model in every experiment", function()
    for _, one in ipairs(fields.MODEL) do
      local row = options_of.rows("TransformerOptions")[one[1]]
      assert.equal(row[3] or false, field("copy", one[1])[3])
    end
  end)
end)

describe("fields of the optimizer and of long runs", function()
  local experiment = require("roper.workbench.study.experiment")
  local hash = require("roper.workbench.study.experiment.configuration").hash

  it("do not change the hash of a trial at their defaults", function()
    assert.equal(hash(experiment.configure("copy", { preset = "smoke" })),
      hash(experiment.configure("copy", { preset = "smoke", optimizer = "adam", beta1 = 0.9,
        beta2 = "0.999", adam_epsilon = 1e-8, momentum = 0, min_delta = 0,
        monitor = "test_loss" })))
  end)

  it("set the optimizer", function()
    local function optimizer(given)
      given.preset = "smoke"
      return experiment.build(experiment.configure("copy", given)).optimizer
    end
    local adam = optimizer({ beta1 = 0.8, beta2 = 0.95, adam_epsilon = 1e-6, decay = 0.1 })
    assert.same({ "Adam", 0.8, 0.95, 1e-6, 0.1 }, { adam.name, adam.options.beta1,
      adam.options.beta2, adam.options.epsilon, adam.options.decay })
    local sgd = optimizer({ optimizer = "sgd", momentum = 0.9, nesterov = true, decay = 0.1,
      clip = 1 })
    assert.same({ "SGD", 0.9, true, 0.1, "matrices", 1 }, { sgd.name, sgd.options.momentum,
      sgd.options.nesterov, sgd.options.l2, sgd.options.decay_on, sgd.options.clip })
  end)

  it("are refused if they have no effect", function()
    for message, given in pairs({
      ["field momentum: has an effect only with optimizer=sgd"] = { momentum = 0.9 },
      ["field nesterov: has an effect only with momentum="] = { optimizer = "sgd",
        nesterov = true },
      ["field beta1: has an effect only with optimizer=adam"] = { optimizer = "sgd", beta1 = 0.5 },
      ["field monitor: has an effect only with patience="] = { monitor = "accuracy" },
      ["field snapshots: expected steps up to the last, 20, got 30"] = { snapshots = "10,30" },
      ["field snapshots: expected steps with commas"] = { snapshots = "10,x" },
      ["field times: expected numbers above 1 with commas between them, such as 2,4,8, got \"1\""]
        = { times = "1" },
      ["field times: expected numbers above 1"] = { times = "2,1e999" },
    }) do
      given.preset = "smoke"
      assert.error_matches(function() experiment.configure("copy", given) end, message, 1, true)
    end
  end)

  it("take a list of steps in any form, also in a sweep", function()
    local function snapshots(value)
      return experiment.configure("copy", { preset = "smoke", snapshots = value }).snapshots
    end
    assert.equal("0,5,10", snapshots("10,5,0,5"))
    assert.equal("5,10", snapshots({ 10, 5 }))
    assert.equal("5", snapshots(5))
    local scratch = require("tests.scratch")
    scratch.create()
    local trials = require("roper.workbench.study.sweep").prepare("copy", { preset = "smoke",
      snapshots = "5,10" }, scratch.path("sweep"))
    scratch.remove()
    assert.equal(1, #trials)
    assert.equal("5,10", trials[1].config.snapshots)
  end)

  it("take a list of lengths of the final evaluation, also in a sweep", function()
    local function times(value)
      return experiment.configure("copy", { preset = "smoke", times = value }).times
    end
    assert.equal("1.5,2,8", times("8,2.0,1.5,2"))
    assert.equal("2,4", times({ 4, 2 }))
    assert.is_false(times(nil))
    local config = experiment.configure("copy", { preset = "smoke", times = "1.5,8" })
    assert.equal(33 * 8, experiment.reach(config))
    local scratch = require("tests.scratch")
    scratch.create()
    local trials = require("roper.workbench.study.sweep").prepare("copy", { preset = "smoke",
      times = "2,8", seed = "1,2" }, scratch.path("sweep"))
    scratch.remove()
    assert.equal(2, #trials)
    assert.equal("2,8", trials[1].config.times)
  end)
end)
