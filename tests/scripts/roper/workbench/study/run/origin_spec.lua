-- Runs and sweeps that start from the weights of other ones (--from).

local core = require("roper.core")
local experiment = require("roper.workbench.study.experiment")
local files = require("roper.system.file")
local origin = require("roper.workbench.study.run.origin")
local sweep_file = require("roper.workbench.study.run.sweep_file")
local process = require("tests.process")
local roper = require("roper")
local scratch = require("tests.scratch")
local stored = require("roper.workbench.study.run.runs")
local sweep = require("roper.workbench.study.sweep")
local sweeps = require("tests.sweeps")
local tables = require("roper.base.tables")

local source

before_each(function()
  scratch.create()
  source = scratch.path("source")
end)
after_each(scratch.remove)

-- Runs a sweep of the given folder; returns its output with the error stream in front.
local function run(folder, ...)
  local status, output, errors = process.run(sweeps.command(folder, ...))
  assert.equal(0, status, errors)
  return (errors .. output):gsub("%s+", " ")
end

local function contains(text, part)
  assert.truthy(text:find(part, 1, true), text)
end

local function configure(more)
  return origin.complete(experiment.configure("substring_index", sweeps.fields(more)))
end

describe("origin", function()
  it("takes the parameters of the same name and shape, and lists the others", function()
    run(source, "position=learned", "seed=1")
    local trial = sweep_file.read(source)[1]
    local config = configure({ from = trial.folder, position = "t5", length = 61 })
    assert.matches(("^%s trial %s step 20 weights %%x+$"):format(trial.name:gsub("%p", "%%%0"),
      trial.id), config.origin)
    local model = experiment.build(config).model
    local found, note = origin.load(config, model)
    local tensors = core.load_safetensors(trial.folder .. "/checkpoint.safetensors")
    for _, entry in ipairs(model:named_parameters()) do
      if not entry.name:find("position", 1, true) then
        assert.same(tensors["model." .. entry.name]:totable(), entry.tensor:totable())
      end
    end
    assert.equal(#model:named_parameters() - 1, #found.taken)
    assert.same({ 1, 1 }, { #found.new, #found.unused })
    assert.matches("^layers.1.attention.position%.%w+ %[%d+, %d+%]$", found.new[1])
    assert.equal("layers.1.attention.position.table [164, 16]", found.unused[1])
    contains(note, ("%d of %d parameters taken; new here: %s; not used: %s; the optimizer starts "
      .. "fresh"):format(#found.taken, #found.taken + 1, found.new[1], found.unused[1]))

    -- A file of weights, and the same weights in it.
    local best = trial.folder .. "/best.safetensors"
    local weights = configure({ from = best }).origin
    assert.matches("^best%.safetensors weights %x+$", weights)
    stored.model(stored.read(trial.folder)):save(best)
    assert.equal(config.origin:match("weights.*"),
      configure({ from = best }).origin:match("weights.*"))
  end)

  it("notes that the embeddings belong to other tokens", function()
    run(source, "position=rope", "seed=1")
    local trial = sweep_file.read(source)[1]
    roper.tasks.register("origin_spec", { vocabulary = tables.map(
      experiment.task(trial.config):vocabulary(), function(word, i)
        return i == 1 and "<x>" or word
      end), generate = function() return "<x>", "<x>" end })
    local config = experiment.configure("origin_spec", { preset = "smoke", d_model = 16,
      from = trial.folder })
    config = origin.complete(config)
    local _, note = origin.load(config, experiment.build(config).model)
    contains(note, "; its vocabulary differs: its embeddings belong to the tokens of "
      .. "substring_index; the optimizer")
  end)

  it("refuses weights that changed, and weights without a common parameter", function()
    run(source, "position=rope", "seed=1")
    local trial = sweep_file.read(source)[1]
    local config = configure({ from = trial.folder })
    local other = origin.complete(experiment.configure("addition", { preset = "smoke",
      d_model = 24, from = trial.folder }))
    assert.error_matches(function() origin.load(other, experiment.build(other).model) end,
      "^from: .* and this model have no parameter of the same name and shape; new here: "
        .. "embedding.weight %[%d+, 24%], .* and %d+ more; not used: embedding.weight ")
    local path = trial.folder .. "/checkpoint.safetensors"
    local bytes = files.read(path)
    local name = bytes:find("model.norm.gain", 1, true)
    local first = tonumber(bytes:match('"data_offsets":%[(%d+)', name))
      or tonumber(bytes:match('"data_offsets": *%[ *(%d+)', name))
    local at = 8 + ("<I8"):unpack(bytes) + first + 1
    files.write(path, bytes:sub(1, at - 1) .. string.char(bytes:byte(at) ~ 1) .. bytes:sub(at + 1))
    assert.error_matches(function() origin.load(config, experiment.build(config).model) end,
      "^from: .* has other weights %(.*%) than when this run was defined")
  end)

  it("finds a method by any text of its options", function()
    sweep.prepare("substring_index", sweeps.fields({ position = "rope,yarn{factor=4}",
      seed = "1" }), source)
    assert.error_matches(function()
      configure({ from = source .. "/yarn{slow=1,factor=4.0}" })
    end, "from: .*/yarn%-factor%-4%-1%-%x+ has no checkpoint.safetensors")
  end)

  it("refuses a source that does not exist or is ambiguous", function()
    sweep.prepare("substring_index", sweeps.fields({ position = "rope,roper", seed = "1..2" }),
      source)
    for from, expected in pairs({ [source .. "x"] = "from: there is no folder",
        [source] = "from: .* has several trials of seed 1: rope%-1%-%x+, roper%-1%-%x+; name one "
          .. "of them, or a method, such as .*/source/rope$",
        [""] = "from: expected a run, .* or a file of weights, got an empty name$",
        ["/"] = "from: expected a run, .* or a file of weights, got /$",
        [source .. "/alibi"] = "from: .*/source has no trial with position=alibi",
        [source .. "/rope"] = "from: .*/rope%-1%-%x+ has no checkpoint.safetensors" }) do
      assert.error_matches(function() configure({ from = from, position = "alibi" }) end, expected)
    end
    assert.error_matches(function() configure({ from = source, seed = 9 }) end,
      "has no trial of seed 9; it has rope%-1")
  end)
end)

describe("a sweep from the weights of another one", function()
  it("pairs each seed with its source, and starts anew if the source changes", function()
    local from = scratch.path("from")
    run(source, "position=rope", "seed=1..2")
    local output = run(from, "position=rope,alibi", "seed=1..2", "rate=1e-3", "--from", source)
    contains(output, "parameters taken; the optimizer starts fresh")
    local trials = sweep_file.read(from)
    for _, trial in ipairs(trials) do
      contains(trial.config.origin, ("rope-%d-"):format(trial.seed or trial.config.seed))
      local kept = files.decode(trial.folder .. "/origin.json")
      assert.same({ trial.config.from, trial.config.origin }, { kept.from, kept.origin })
    end
    assert.same({ "rope", "alibi" }, sweep.read(from).methods)
    output = run(from, "position=rope", "seed=1..2", "rate=1e-3")
    contains(output, "Differences between runs of the same seed")
    assert.same({ "rope from=" .. source, "alibi from=" .. source, "rope" },
      sweep.read(from).methods)
    contains(run(from, "position=rope,alibi", "seed=1..2", "rate=1e-3", "--from", source),
      "4 trials, 4 finished")

    -- The source is trained further.
    local first = sweep_file.read(source)[1]
    local status, _, errors = process.run({ "./roper", "train", "--resume", first.folder,
      "steps=25" })
    assert.equal(0, status, errors)
    output = run(from, "position=rope,alibi", "seed=1..2", "rate=1e-3", "--from", source)
    contains(output, ("2 trials made with other loaded files or weights (no loaded files, %s "
      .. "trial %s step 20 weights "):format(first.name, first.id))
    contains(output, "4 trials, 2 finished")
    assert.same({ trials[1].name, trials[2].name }, tables.map(select(2, sweep_file.read(from)),
      function(trial) return trial.name end))
  end)
end)

describe("a run from the weights of another one", function()
  local function train(...)
    return process.run({ "sh", "-c", ('cd "$0" && exec "%s" train "$@"'):format(
      require("luv").fs_realpath("roper")), scratch.path("."), ... })
  end

  it("resumes with the same bits, also if its source is gone", function()
    run(source, "position=rope", "seed=1")
    local words = sweeps.command("x", "position=alibi", "--from", "source")
    table.move(words, 6, #words, 4)
    words = { table.unpack(words, 3, #words - 2) }
    local status, _, errors = train(table.unpack(words))
    assert.equal(0, status, errors)
    local once = scratch.path("runs/substring_index-alibi-1")
    table.insert(words, "steps=10")
    assert.equal(0, (train(table.unpack(words))))
    os.execute(("rm -r '%s'"):format(source))
    status, _, errors = train("--resume", "runs/substring_index-alibi-1-2", "steps=20")
    assert.equal(0, status, errors)
    local function weights(folder)
      return tables.map(roper.runs.model(roper.runs.read(folder)):named_parameters(),
        function(entry) return entry.tensor:totable() end)
    end
    assert.same(weights(once), weights(once .. "-2"))
    status, _, errors = train(table.unpack(words))
    assert.equal(1, status)
    contains(errors, "from: there is no folder source")
    assert.equal(2, #files.names(scratch.path("runs")))
  end)
end)
