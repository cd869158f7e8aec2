local core = require("roper.core")
local metrics = require("roper.training.metrics")
local models = require("tests.models")
local process = require("tests.process")
local roper = require("roper")
local runs = require("tests.runs")
local scratch = require("tests.scratch")
local uv = require("luv")

local files, numbers, run = runs.files, runs.numbers, runs.train
local same_checkpoint, timeless = runs.same_checkpoint, runs.timeless

before_each(scratch.create)
after_each(scratch.remove)

-- Check that a folder still holds what `files` gave.
local function assert_files(expected, folder)
  local actual = files(folder)
  for name, bytes in pairs(expected) do
    assert(bytes == actual[name], name .. " differs")
  end
  for name in pairs(actual) do
    assert(expected[name], name .. " is new")
  end
end

describe("a resumed run", function()
  it("keeps the number of parts of a batch that it began with", function()
    local all = { steps = 9, batch = 4, accumulate = 2, run = scratch.path("whole") }
    run(all)
    all.run, all.steps = scratch.path("cut"), 5
    run(all)
    all.steps, all.resume = 9, true
    run(all)
    assert.is_true(same_checkpoint(scratch.path("whole"), scratch.path("cut")))
    all.accumulate, all.steps = 4, 12
    assert.error_matches(function() run(all) end, "accumulate is 2 in the file, 4 in this run")
    local plain = core.json_decode(files(scratch.path("cut"))["config.json"]).config
    assert.equal(2, plain.accumulate)
    run({ run = scratch.path("plain"), steps = 1, accumulate = 1 })
    plain = core.json_decode(files(scratch.path("plain"))["config.json"]).config
    assert.is_nil(plain.accumulate) -- as before there was the option
  end)

  it("passes on an interrupt, and the run can be resumed", function()
    run({ steps = 20, checkpoint_every = 4, run = scratch.path("whole") })
    local finished, last = 0, nil
    core.interrupt_enable()
    local ok, message = pcall(run, { steps = 20, checkpoint_every = 4, run = scratch.path("cut"),
      progress = {
        update = function(_, step)
          last = step
          if step == 13 then
            uv.kill(uv.os_getpid(), "sigint")
          end
        end,
        finish = function() finished = finished + 1 end,
      } })
    core.interrupt_disable()
    assert.is_false(ok)
    assert.truthy(message:find("interrupted$"), message)
    assert.equal(13, last)
    assert.equal(1, finished)
    local result = run({ steps = 20, checkpoint_every = 4, run = scratch.path("cut"),
      resume = true })
    assert.equal(20, result.step)
    assert.is_true(same_checkpoint(scratch.path("whole"), scratch.path("cut")))
    assert.same(timeless(scratch.path("whole")), timeless(scratch.path("cut")))
  end)

  it("shows the last complete step if Ctrl-C comes between it and its report", function()
    local options, steps = { steps = 12 }, {}
    options.model = models.small({ seed = 1, dropout = 0.1 })
    local inner = roper.optim.Adam()
    options.optimizer = setmetatable({ step = function(_, parameters, count, norm)
      inner:step(parameters, count, norm)
      if inner.count == 7 then
        error("interrupted", 0)
      end
    end }, { __index = inner })
    options.progress = { finish = function() end, update = function(_, step)
      steps[#steps + 1] = step
    end }
    assert.same({ false, "interrupted" }, { pcall(run, options) })
    assert.same({ 1, 2, 3, 4, 5, 6, 7 }, steps)
  end)

  -- Press Ctrl-C in the forward pass of step `last`; the loop must end there.
  local function interrupt_forward(options, last)
    local model, steps = models.small({ seed = 1, dropout = 0.1 }), 0
    local forward = model.forward
    function model.forward(...)
      steps = steps + 1
      local logits = forward(...) -- has drawn from the generator, for dropout
      if steps == last then
        uv.kill(uv.os_getpid(), "sigint")
      end
      return logits
    end
    options.model = model
    core.interrupt_enable()
    local ok, message = core.interrupt_call(function() run(options) end, tostring)
    core.interrupt_disable()
    assert.is_false(ok)
    assert.matches("interrupted$", message)
    model.forward = nil
    return model
  end

  it("keeps the steps before Ctrl-C, and resumes from there bit for bit", function()
    run({ steps = 12, run = scratch.path("whole") })
    interrupt_forward({ steps = 12, run = scratch.path("cut") }, 8)
    local tensors, facts = core.load_safetensors(scratch.path("cut/checkpoint.safetensors"))
    assert.truthy(next(tensors))
    assert.equal(7, core.json_decode(facts.state).step)
    assert.equal(12, run({ steps = 12, run = scratch.path("cut"), resume = true }).step)
    assert.is_true(same_checkpoint(scratch.path("whole"), scratch.path("cut")))
    assert.same(timeless(scratch.path("whole")), timeless(scratch.path("cut")))
  end)

  it("keeps the last complete step if a problem cannot be drawn, with a line that draws it again",
    function()
    local broken, letters = nil, { "a", "b", "c" }
    roper.tasks.register("broken_spec", { vocabulary = { "a", "b", "c", ">", ";" }, stop = ";",
      options = { { "letters", { smallest = 1, largest = 9 }, 9, "in a problem" },
        { "length", { smallest = 2, largest = 90 }, 30, "tokens in a row" } },
      generate = function(options, random)
        local text = ""
        for _ = 1, options.letters do
          text = text .. random:choice(letters)
        end
        assert(text ~= broken, "cannot pose it")
        return text .. ">", text .. ";"
      end })
    local notes = {}
    local function train(folder, resume)
      local task = roper.tasks.broken_spec({ seed = 5 })
      return run({ steps = 12, run = scratch.path(folder), task = task, resume = resume,
        model = models.small({ vocabulary = task:vocabulary(), dropout = 0.1 }),
        checkpoint_every = 100, progress = { update = function() end, finish = function() end,
          note = function(_, text) notes[#notes + 1] = text end } })
    end
    train("whole")
    local task = roper.tasks.broken_spec({ seed = 5 })
    task:set_random(5, 25)
    broken = task:question():sub(1, -2)
    local ok, message = pcall(train, "cut")
    assert.is_false(ok)
    local line = message:match("cannot pose it\nThis is problem 25 of seed 5. To draw it again:\n"
      .. "(.*)$")
    assert.equal(("task = roper.tasks.%s; task:set_random(5, 25); task:question()"):format(
      tostring(task)), line)
    assert.same({ false, message }, { pcall(assert(load(line, "line", "t", { roper = roper }))) })
    local _, facts = core.load_safetensors(scratch.path("cut/checkpoint.safetensors"))
    local step = core.json_decode(facts.state).step
    assert.is_true(step > 0 and step < 12)
    assert.same({ ("%s is saved at step %d, the last complete one"):format(scratch.path("cut"),
      step) }, notes)
    broken = nil
    train("cut", true)
    assert.is_true(same_checkpoint(scratch.path("whole"), scratch.path("cut")))
    assert.same(timeless(scratch.path("whole")), timeless(scratch.path("cut")))
  end)

  -- Train in `folder`, with an evaluation that draws; Ctrl-C comes in the midst of those of `cuts`.
  local function train_evaluated(folder, cuts, options)
    local calls = 0
    local all = { steps = 11, log_every = 2, evaluate_every = 3, run = folder, resume = true,
      best = "drawn", evaluate = function(_, step)
        calls = calls + 1
        local drawn = roper.rand({ 1 }):item()
        if cuts[calls] == step then
          uv.kill(uv.os_getpid(), "sigint")
        end
        return { drawn = drawn + roper.rand({ 1 }):item() }
      end }
    for name, value in pairs(options or {}) do
      all[name] = value
    end
    core.interrupt_enable()
    local ok, result = core.interrupt_call(function() return run(all) end, tostring)
    core.interrupt_disable()
    assert.is_true(ok or result:find("interrupted$") ~= nil, result)
    return ok, result
  end

  it("saves the step that Ctrl-C interrupted in evaluation, and evaluates it later", function()
    local whole, cut = scratch.path("whole"), scratch.path("cut")
    assert.is_true(train_evaluated(whole, {}))
    for _, cuts in ipairs({ { [2] = 6 }, { 6 }, { [2] = 9 }, { [2] = 11 }, { 11 } }) do
      local _, step = next(cuts)
      assert.is_false(train_evaluated(cut, cuts))
      local tensors, facts = core.load_safetensors(cut .. "/checkpoint.safetensors")
      assert.truthy(next(tensors))
      assert.equal(step, core.json_decode(facts.state).step)
    end
    assert.is_true(train_evaluated(cut, {}))
    assert.is_true(same_checkpoint(whole, cut))
    assert.same(timeless(whole), timeless(cut))
    assert.equal(files(whole)["best.safetensors"], files(cut)["best.safetensors"])
  end)

  it("writes the last entry if Ctrl-C comes at the last step", function()
    local folder = scratch.path("run")
    interrupt_forward({ steps = 12, run = folder }, 8)
    assert.same({}, timeless(folder))
    local result = run({ steps = 7, run = folder, resume = true })
    assert.same({ 7 }, numbers(result.history, "step"))
    assert.same(run({ steps = 7 }).loss, result.loss)
  end)

  it("flushes its metrics to the disk before a checkpoint relies on them", function()
    local folder = scratch.path("run")
    local path, flush, save = folder .. "/metrics.jsonl", core.flush_file, core.save_safetensors
    local flushed, saves
    local function count(...)
      saves = saves + 1
      assert.equal(uv.fs_stat(path).size, flushed)
      return save(...)
    end
    core.flush_file = function(name)
      flushed = name == path and uv.fs_stat(path).size or flushed
      return flush(name)
    end
    core.save_safetensors, saves = count, 0
    local ok, message = pcall(function()
      run({ run = folder, log_every = 1, checkpoint_every = 3, steps = 10 })
      assert.equal(4, saves)
      interrupt_forward({ run = folder, log_every = 1, steps = 20, resume = true }, 3)
      assert.equal(5, saves)
    end)
    core.flush_file, core.save_safetensors = flush, save
    assert(ok, message)
  end)

  it("resumes after a number that is not finite", function()
    local folder = scratch.path("run")
    local function train_with(measured, steps)
      return run({ run = folder, resume = true, steps = steps, best = "measured",
        evaluate_every = 1, evaluate = function() return { measured = measured } end })
    end
    train_with(0 / 0, 1)
    train_with(math.huge, 2)
    assert.is_nil(uv.fs_stat(folder .. "/best.safetensors"))
    train_with(5, 3)
    local best = files(folder)["best.safetensors"]
    train_with(0 / 0, 4)
    train_with(6, 5)
    assert.equal(best, files(folder)["best.safetensors"])
    train_with(4, 6)
    assert.not_equal(best, files(folder)["best.safetensors"])
    assert.same({ 1, 2, 3, 4, 5, 6 }, numbers(timeless(folder), "step"))
  end)

  it("leaves a model that can be trained further after Ctrl-C", function()
    local model = interrupt_forward({ steps = 12 }, 8)
    assert.equal(3, run({ model = model, steps = 3 }).step)
  end)

  it("never stops between the updates of two parameters", function()
    local function after_one_step(schedule)
      local model = models.small({ seed = 1 })
      local options = { model = model, steps = 1, optimizer = roper.optim.Adam {
        schedule = schedule } }
      core.interrupt_enable()
      local ok = core.interrupt_call(function() run(options) end, tostring)
      core.interrupt_disable()
      return ok, model
    end
    local ok, expected = after_one_step()
    assert.is_true(ok)
    local stopped, model = after_one_step(function()
      uv.kill(uv.os_getpid(), "sigint")
      return 1
    end)
    assert.is_false(stopped)
    for i, parameter in ipairs(model:parameters()) do
      assert.same(expected:parameters()[i]:totable(), parameter:totable())
    end
  end)

  it("stops when the loss is not a number, and keeps the last checkpoint", function()
    local folder = scratch.path("run")
    local model = models.small({ dropout = 0.1 })
    local ok, message = pcall(run, { model = model, run = folder, checkpoint_every = 2,
      steps = 9, log_every = 1, progress = {
        update = function(_, step)
          if step == 5 then
            model.logits.bias:copy(roper.full({ 45 }, 0 / 0))
          end
        end,
        finish = function() end,
      } })
    assert.is_false(ok)
    assert.truthy(message:find("^train: the loss is %-?nan at step 6; try a smaller rate"))
    assert.same({ 1, 2, 3, 4, 5 }, numbers(timeless(folder), "step"))
    assert.equal(9, run({ run = folder, resume = true, steps = 9 }).step)
  end)

  it("rejects a folder with a checkpoint unless resume is set", function()
    local folder = scratch.path("run")
    run({ run = folder })
    local before = files(folder)
    assert.error_matches(function() run({ run = folder, steps = 20 }) end,
      "train: .*/run has a checkpoint; resume it %(resume = true%) or choose another folder")
    assert_files(before, folder)
  end)

  it("does not start over if the checkpoint cannot be read", function()
    local folder = scratch.path("run")
    local path = folder .. "/checkpoint.safetensors"
    uv.fs_mkdir(folder, 493)
    assert(uv.fs_symlink(path, path))
    assert.error_matches(function() run({ run = folder, resume = true }) end,
                         "cannot read .*/run/checkpoint.safetensors: ELOOP: ")
    assert.equal(path, uv.fs_readlink(path))
  end)

  it("rejects the checkpoint of another run, and changes nothing", function()
    local folder = scratch.path("run")
    run({ run = folder })
    local before = files(folder)
    for expected, options in pairs({
      ["batch is 2 in the file, 3 in this run"] = { batch = 3 },
      ["task.letters is 4 in the file, 5 in this run"] = { task = models.task({ letters = 5 }) },
      ["task.seed is 1 in the file, 2 in this run"] = { task = models.task({ seed = 2 }) },
      ["optimizer.rate is 0.001 in the file, 0.002 in this run"] =
        { optimizer = roper.optim.Adam({ rate = 2e-3 }) },
      ["optimizer.name is Adam in the file, SGD in this run"] =
        { optimizer = roper.optim.SGD({ rate = 1e-3 }) },
      ["model.position is roper in the file, rope in this run"] =
        { model = models.small({ position = "rope", dropout = 0.1 }) },
      ["model.activation is relu in the file, gelu in this run"] =
        { model = models.small({ activation = "gelu", dropout = 0.1 }) },
      ["expected a checkpoint of step 9 or before, got step 10"] = { steps = 9 },
    }) do
      options.model = options.model or models.small({ dropout = 0.1 })
      local parameters = models.values(options.model)
      options.run, options.resume = folder, true
      local ok, message = pcall(run, options)
      assert.is_false(ok)
      assert.truthy(message:find(expected, 1, true), message)
      assert.truthy(message:find(folder .. "/checkpoint.safetensors", 1, true), message)
      assert_files(before, folder)
      assert.same(parameters, models.values(options.model))
    end
  end)

  it("rejects a truncated checkpoint, and changes nothing", function()
    local folder = scratch.path("run")
    run({ run = folder })
    local path = folder .. "/checkpoint.safetensors"
    local whole = scratch.read(path)
    for _, cut in ipairs({ 0, 8, 500, #whole - 1 }) do
      scratch.write("run/checkpoint.safetensors", whole:sub(1, cut))
      local before = files(folder)
      local ok, message = pcall(run, { run = folder, resume = true, steps = 20 })
      assert.is_false(ok)
      assert.truthy(message:find(path, 1, true), message)
      assert_files(before, folder)
    end
  end)

  it("does nothing in a finished run", function()
    local folder = scratch.path("run")
    local _, trained = run({ run = folder })
    local before = files(folder)
    local result, model = run({ run = folder, resume = true }, 1)
    assert.same({ step = 10, history = {} }, result)
    assert.same(models.values(trained), models.values(model))
    assert_files(before, folder)
  end)

  it("extends a run as if it had been longer from the start", function()
    run({ run = scratch.path("long"), steps = 20 })
    run({ run = scratch.path("short"), steps = 13 })
    local result = run({ run = scratch.path("short"), steps = 20, resume = true })
    assert.same({ 20 }, numbers(result.history, "step"))
    assert.is_true(same_checkpoint(scratch.path("long"), scratch.path("short")))
  end)

  it("keeps the provenance of the first part if a run is resumed elsewhere", function()
    local folder = scratch.path("run")
    run({ run = folder, steps = 7 })
    local path = folder .. "/config.json"
    local about = core.json_decode(scratch.read(path))
    about.provenance[1].host, about.provenance[1].threads = "elsewhere", 64
    scratch.write("run/config.json", core.json_encode(about))
    run({ run = folder, steps = 9, resume = true })
    run({ run = folder, steps = 10, resume = true })
    local records = core.json_decode(scratch.read(path)).provenance
    assert.equal(2, #records)
    assert.same(about.provenance[1], records[1])
    assert.same({ uv.os_gethostname(), 7 }, { records[2].host, records[2].step })
  end)

  it("reports if a resumed run may differ in bits", function()
    local folder, notes = scratch.path("run"), {}
    local progress = { update = function() end, finish = function() end,
      note = function(_, text) notes[#notes + 1] = text end }
    run({ run = folder, steps = 5, progress = progress })
    run({ run = folder, steps = 6, progress = progress, resume = true })
    assert.same({}, notes)
    local path = folder .. "/config.json"
    local about = core.json_decode(scratch.read(path))
    about.provenance[1].threads, about.provenance[1].blas = 64, "Elsewhere"
    scratch.write("run/config.json", core.json_encode(about))
    run({ run = folder, steps = 7, progress = progress, resume = true })
    assert.same({ ("from step 6 on with threads %d instead of 64, blas %s instead of "
      .. "Elsewhere: results may differ in the last bits from those of an uninterrupted run")
      :format(core.threads(), core.machine().blas) }, notes)
    run({ run = folder, steps = 8, progress = progress, resume = true })
    assert.equal(1, #notes)
    core.matmul_precision("bfloat16")
    local ok, message = pcall(run, { run = folder, steps = 9, progress = progress, resume = true })
    core.matmul_precision("float32")
    assert(ok, message)
    assert.matches("from step 8 on with matmul_precision bfloat16 instead of float32", notes[2])
  end)

  it("adds up the seconds of a run over all its starts", function()
    local folder = scratch.path("run")
    run({ run = folder, steps = 10, log_every = 1 })
    run({ run = folder, steps = 12, log_every = 1, resume = true })
    local entries = metrics.read(folder .. "/metrics.jsonl")
    assert.equal(12, #entries)
    for i = 2, 12 do
      assert.is_true(entries[i].seconds > entries[i - 1].seconds)
    end
  end)

  it("starts over if there is nothing to resume", function()
    local folder = scratch.path("run")
    local _, model = run({ run = folder, resume = true })
    assert.same(models.values(select(2, run())), models.values(model))
  end)
end)

describe("a run that is killed", function()
  local STEPS <const> = 60
  local FIELDS <const> = { preset = "smoke", steps = STEPS, dropout = 0.1, checkpoint_every = 3,
    evaluate_every = 7, seed = 5 }
  local script

  before_each(function()
    script = scratch.write("train.lua", ([[
      local config = roper.experiment.configure("substring_index",
        require("roper.core").json_decode '%s')
      local function update(_, step)
        io.stdout:write(step, "\n")
        io.stdout:flush()
      end
      require("roper.workbench.study.run").run(config, { run = arg[1], resume = true,
        progress = { update = update, finish = function() end } })
    ]]):format(core.json_encode(FIELDS)))
  end)

  -- Train in `folder`, and kill the program once it has said step `last`. Was it killed?
  local function train_until(folder, last)
    local output, signal = "", nil
    local stdout = uv.new_pipe()
    local child, pid = uv.spawn("./roper", { args = { script, folder },
      stdio = { nil, stdout, 2 } }, function(_, by) signal = by end)
    assert(child, pid)
    stdout:read_start(function(_, data)
      output = output .. (data or "")
      if tonumber(output:match("(%d+)\n[^\n]*$") or 0) >= last and child:is_active() then
        child:kill("sigkill")
      end
    end)
    repeat uv.run("once") until signal
    child:close()
    stdout:close()
    uv.run("nowait")
    return signal == 9
  end

  -- The results that must not depend on kills: all but the time.
  local function outcome(folder)
    local result = core.json_decode(files(folder)["result.json"])
    result.seconds = nil
    local left = files(folder)
    for name in pairs(left) do
      assert.is_nil(name:find("%.tmp$"))
    end
    return { metrics = timeless(folder), result = result, samples = left["samples.json"],
      best = left["best.safetensors"] }
  end

  it("ends with the same bytes as one that is not, whenever it is killed", function()
    local seed = os.time()
    math.randomseed(seed)
    local name = "seed " .. seed
    local whole = scratch.path("whole")
    assert.is_false(train_until(whole, math.huge))
    local kills = 0
    for attempt = 1, 10 do
      local folder = scratch.path("killed-" .. attempt)
      local last = math.random(20)
      while train_until(folder, last) do
        kills = kills + 1
        last = last + math.random(20)
      end
      assert.is_true(same_checkpoint(whole, folder), name)
      assert.same(outcome(whole), outcome(folder), name)
      if kills >= 4 then
        break
      end
    end
    assert.is_true(kills >= 4, name)
  end)

  it("is resumed from the command line", function()
    local folder, whole = scratch.path("killed"), scratch.path("whole")
    local command = { "./roper", "train", "substring_index", "--resume", folder }
    for field, value in pairs(FIELDS) do
      command[#command + 1] = field .. "=" .. value
    end
    train_until(folder, 20)
    local status, output, errors = process.run(command)
    assert.equal(0, status, errors)
    assert.truthy(output:find("^%d of 4 solved .*accuracy on answers .*/killed\n$"), output)
    train_until(whole, math.huge)
    assert.is_true(same_checkpoint(whole, folder))
    assert.same(outcome(whole), outcome(folder))
  end)

  it("starts over by the same command without a checkpoint, and keeps its metrics", function()
    local folder, whole = scratch.path("killed"), scratch.path("whole")
    scratch.write("train.lua", (scratch.read(script):gsub('"checkpoint_every": *3',
      '"checkpoint_every":60')))
    train_until(whole, math.huge)
    while not train_until(folder, 11) do -- it may end before it is killed
      require("roper.system.file").remove(folder)
    end
    local before = scratch.read(folder .. "/metrics.jsonl")
    assert.is_true(files(folder)["checkpoint.safetensors"] == nil)
    local _, listed = process.run({ "./roper", "runs", folder })
    assert.truthy(listed:find(folder .. " stopped before its first checkpoint; it will "
      .. "restart from step 0\n\n"
      .. "Resume with:\n./roper train --resume " .. folder .. "\n", 1, true), listed)
    local status, _, errors = process.run({ "./roper", "train", "--resume", folder })
    assert.equal(0, status, errors)
    assert.truthy(errors:find("the previous %d+ steps have no checkpoint: training starts from "
      .. "step 0; their metrics are kept in metrics%.jsonl%.old\n"), errors)
    assert.equal(before, scratch.read(folder .. "/metrics.jsonl.old"))
    assert.is_true(same_checkpoint(whole, folder))
    assert.same(outcome(whole), outcome(folder))
    os.remove(folder .. "/checkpoint.safetensors")
    status, _, errors = process.run({ "./roper", "train", "--resume", folder })
    assert.equal(1, status)
    assert.equal("roper: " .. folder .. " is finished and has no checkpoint to resume from\n",
      errors)
  end)
end)
