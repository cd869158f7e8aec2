local files = require("roper.system.file")
local metrics = require("roper.training.metrics")
local mpi = require("tests.mpi")
local process = require("tests.process")
local runs = require("tests.runs")
local scratch = require("tests.scratch")
local uv = require("luv")

local ROPER <const> = uv.fs_realpath("roper")

before_each(scratch.create)
after_each(scratch.remove)

-- Train a small run on so many ranks, or alone without them, in a folder of the scratch folder.
-- Returns what `process.run` does.
local function train(folder, ranks, ...)
  files.make(scratch.path(folder))
  local words = { ROPER, "train", ... }
  local command = ranks and mpi.command(ranks, table.unpack(words)) or words
  return process.run({ "sh", "-c", 'cd "$0" && exec "$@"', scratch.path(folder),
    table.unpack(command) }, nil, mpi.ENVIRONMENT)
end

local RUN <const> = "/runs/copy-roper-1"

-- The same for a new run that must succeed. Returns its folder, output and errors.
local function begin(folder, ranks, ...)
  local status, output, errors = train(folder, ranks, "copy", "preset=smoke", "d_model=16",
    ...)
  assert.equal(0, status, errors)
  return scratch.path(folder .. RUN), output, errors
end

-- Are the losses of two runs the same to rounding, up to the last step?
local function assert_close(a, b, steps)
  local here, there = metrics.read(a .. "/metrics.jsonl"), metrics.read(b .. "/metrics.jsonl")
  assert.equal(steps, here[#here].step)
  assert.equal(#here, #there)
  for i, entry in ipairs(here) do
    for _, name in ipairs({ "loss", "test_loss" }) do
      local difference = math.abs((entry[name] or 0) - (there[i][name] or 0))
      assert.is_true(difference <= 1e-4, ("step %d: %s %.2g apart"):format(entry.step, name,
        difference))
    end
  end
end

describe("training by ranks", function()
  mpi.it("has the losses of one process, also if a batch is not divisible", function()
    -- In parts of 2 rows, 5 rows for each of 2 ranks; 2 or 3 for each of 4.
    local fields = { "steps=20", "batch=10", "accumulate=5", "clip=0.5", "tied_embeddings=true",
                     "recompute=true", "layers=2", "evaluate_every=10" }
    local alone = begin("1", nil, table.unpack(fields))
    for _, ranks in ipairs({ 2, 4 }) do
      local run, output, errors = begin(tostring(ranks), ranks, table.unpack(fields))
      assert_close(alone, run, 20)
      assert.equal(1, select(2, output:gsub("solved", "")), output)
      assert.equal(1, select(2, errors:gsub(" 20/20 ", "")), errors)
      assert.same({ "copy-roper-1" }, files.names(scratch.path(ranks .. "/runs")))
      assert.equal(ranks, files.decode(run .. "/config.json").provenance[1].ranks)
      assert.same(files.names(alone), files.names(run))
    end
  end)

  mpi.it("trains on answers as one process does, also if the rows of a rank have none", function()
    local lines = {}
    for i = 1, 8 do
      lines[i] = ('{"text": "%d and a question of many words: ", "answer": "%d"}'):format(i, 9 * i)
    end
    local script = scratch.write("script.lua", ([[
      local function task()
        return roper.tasks.text { files = %q, tokenizer = "bytes", length = 12, validation = 0,
          seed = 3, cache = %q .. tostring(roper.ranks() and roper.ranks().rank) }
      end
      local _, is_answer = task():batch(3, { answers = true })
      local in_rows = is_answer:sum(2):totable()
      roper.seed(1)
      local model = roper.nn.Transformer { vocabulary = 256, d_model = 8, heads = 2, layers = 1 }
      local done = roper.train { model = model, task = task(), steps = 6, batch = 3,
        loss = "answers", optimizer = roper.optim.SGD { rate = 0.5 }, ranks = roper.ranks(),
        progress = false }
      if not roper.ranks() or roper.ranks().rank == 0 then
        local sum = 0
        for _, parameter in ipairs(model:parameters()) do
          sum = sum + (parameter:detach():to "float64" ^ 2):sum():item()
        end
        print(math.min(table.unpack(in_rows)) == 0, done.loss, sum)
      end]]):format(scratch.write("answers.jsonl", table.concat(lines, "\n")),
      scratch.path("cache")))
    local function results(command)
      local status, output, errors = process.run(command, nil, mpi.ENVIRONMENT)
      assert.equal(0, status, errors)
      local has_none, loss, sum = output:match("^(%S+)%s+(%S+)%s+(%S+)")
      assert.equal("true", has_none)
      return tonumber(loss), tonumber(sum)
    end
    local loss, sum = results({ ROPER, script })
    assert.is_true(loss > 1)
    local other_loss, other_sum = results(mpi.command(3, ROPER, script))
    assert.near(loss, other_loss, 1e-5)
    assert.near(sum, other_sum, 1e-4)
  end)

  mpi.it("resumes a checkpoint with another number of ranks", function()
    local alone = begin("1", nil, "steps=30")
    local run = begin("2", 2, "steps=20")
    local status, _, errors = train("2", 3, "--resume", "runs/copy-roper-1", "steps=30")
    assert.equal(0, status, errors)
    assert.truthy(errors:find("from step 20 on with ranks 3 instead of 2", 1, true), errors)
    assert_close(alone, run, 30)
    local records = files.decode(run .. "/config.json").provenance
    assert.same({ 2, 3 }, { records[1].ranks, records[#records].ranks })
  end)

  mpi.it("has the same bits on the same number, also with dropout and a pause", function()
    local once = begin("once", 3, "steps=10", "dropout=0.1", "batch=5")
    local twice = begin("twice", 3, "steps=5", "dropout=0.1", "batch=5")
    local status, _, errors = train("twice", 3, "--resume", "runs/copy-roper-1", "steps=10")
    assert.equal(0, status, errors)
    assert.is_true(runs.same_checkpoint(once, twice))
    local alone = begin("alone", nil, "steps=10", "dropout=0.1", "batch=5")
    assert.is_false(runs.same_checkpoint(once, alone)) -- other draws
  end)

  mpi.it("reports an error of all ranks once", function()
    local status, _, errors = train("run", 3, "copy", "preset=smoke", "batch=2")
    assert.not_equal(0, status)
    local message = "roper: train: batch: expected at least 3 rows, one for each rank, got 2\n"
    assert.equal(1, select(2, errors:gsub(message, "")), errors)
    status, _, errors = train("run", 2, "copy", "preset=smoke", "nofield=2")
    assert.not_equal(0, status)
    assert.equal(1, select(2, errors:gsub("copy has no field", "")), errors)
  end)

  -- A file that makes one of the ranks do something in the place of step 15, once.
  local function at_step_15(rank, action)
    return "--load", scratch.write("at_step_15.lua", ([[
      local Adam = getmetatable(roper.optim.Adam())
      local step = Adam.step
      function Adam:step(...)
        local mark = %q
        if self.count == 14 and os.getenv "OMPI_COMM_WORLD_RANK" == "%d" and not io.open(mark) then
          io.open(mark, "w"):close()
          %s
        end
        return step(self, ...)
      end]]):format(scratch.path("done"), rank, action))
  end

  mpi.it("ends when a rank dies; the checkpoint can be resumed", function()
    local alone = begin("1", nil, "steps=30")
    local option, file = at_step_15(1,
      "require('luv').kill(require('luv').os_getpid(), 'sigkill')")
    local status, _, errors = train("2", 2, "copy", "preset=smoke", "d_model=16", "steps=30",
      option, file)
    assert.not_equal(0, status)
    assert.truthy(errors:find("rank 1 .- exited on signal 9"), errors)
    status, _, errors = train("2", 2, "--resume", "runs/copy-roper-1", option, file)
    assert.equal(0, status, errors)
    assert_close(alone, scratch.path("2" .. RUN), 30)
  end)

  mpi.it("ends when mpirun is killed", function()
    local changes = { TMPDIR = scratch.path("."), -- mpirun does not remove its files then
      OMPI_MCA_btl_vader_backing_directory = scratch.path(".") }
    for name, value in pairs(mpi.ENVIRONMENT) do
      changes[name] = value
    end
    local script = scratch.write("wait.lua", ([[
      local core, ranks = require "roper.core", roper.ranks()
      core.ranks_combine("sum", 1)
      require("roper.system.file").write(%q .. ranks.rank, tostring(require("luv").os_getpid()))
      while true do core.ranks_combine("sum", 1) end]]):format(scratch.path("rank")))
    local program = process.spawn(mpi.command(2, ROPER, script), nil, changes)
    local function expect(condition)
      local tries = 0
      while not condition() do
        uv.sleep(20)
        uv.run("nowait")
        tries = tries + 1
        assert.is_true(tries < 3000)
      end
    end
    expect(function()
      return files.stat(scratch.path("rank0")) and files.stat(scratch.path("rank1"))
    end)
    program.handle:kill("sigkill")
    for rank = 0, 1 do
      local pid = tonumber(scratch.read(scratch.path("rank" .. rank)))
      expect(function() return not uv.kill(pid, 0) end)
    end
  end)

  mpi.it("ends when a rank fails, with its error", function()
    local status, _, errors = train("2", 2, "copy", "preset=smoke",
      at_step_15(1, "error('no more of it', 0)"))
    assert.not_equal(0, status)
    assert.equal(1, select(2, errors:gsub("roper: rank 1 of 2: no more of it", "")), errors)
  end)

  mpi.it("keeps the last complete step at Ctrl-C", function()
    local words = mpi.command(2, ROPER, "train", "copy", "preset=smoke", "steps=100000")
    files.make(scratch.path("2"))
    local screen = process.open(("cd %s && OMPI_MCA_odls_base_sigkill_timeout=4 %s"):format(
      scratch.path("2"), table.concat(words, " ")), mpi.ENVIRONMENT)
    screen:expect("/100000")
    screen:type("\3")
    screen:expect("runs/copy-roper-1 stopped at step")
    screen:expect("mpirun -n 2 ")
    assert.not_equal(0, screen:leave())
    assert.truthy(files.stat(scratch.path("2" .. RUN .. "/checkpoint.safetensors")))
  end)
end)

describe("roper.ranks", function()
  it("reports a build without MPI", function()
    local status, _, errors = process.run({ ROPER, "-e",
      "require('roper.native').ranks_join = nil; return roper.ranks()" }, nil,
      { OMPI_COMM_WORLD_SIZE = "2" })
    assert.equal(1, status)
    assert.truthy(errors:find("roper was built without MPI", 1, true), errors)
  end)

  mpi.it("shares the cores, unless threads are given", function()
    local text = [[
      local ranks = roper.ranks()
      if ranks.rank == 0 then print(roper.threads(), ranks.note) end]]
    local threads, note = mpi.script(2, text):match("^(%d+)\t(.*)\n$")
    local _, output = process.run({ "nproc" }, nil, { OMP_NUM_THREADS = false })
    local cores = math.tointeger(output)
    assert.equal(tostring(math.max(1, cores // 2)), threads)
    assert.equal(cores < 2, note:find("oversubscribed") ~= nil)
    _, note = mpi.script(2, "require('luv').os_setenv('OMP_NUM_THREADS', 'all')\n" .. text)
      :match("^(%d+)\t(.*)\n$")
    assert.truthy(note:find("oversubscribed"))
    assert.equal("3\t2 ranks of 3 threads", mpi.script(2, (text:gsub("ranks%(%)", "ranks(3)")))
      :match("^.- threads"))
  end)

  mpi.it("is an option of train", function()
    local output = mpi.script(3, [[
      local task = roper.tasks.copy{letters = 4, length = 20, seed = 1}
      local model = roper.nn.Transformer{vocabulary = task:vocabulary(), d_model = 8, heads = 2}
      local ranks = roper.ranks()
      local done = roper.train{model = model, task = task, steps = 3, batch = 4, ranks = ranks,
        optimizer = roper.optim.Adam(), progress = false}
      if ranks.rank == 2 then print(ranks.size, done.step) end]])
    assert.equal("3\t3\n", output)
  end)

  mpi.it("draws different dropout on each rank, reproducible by step", function()
    mpi.script(2, [[
      local core, ranks, drawn = require "roper.core", roper.ranks(), {}
      roper.seed(1)
      for i, step in ipairs{5, 6, 5} do
        ranks:seed(step)
        drawn[i] = roper.rand{1}:item()
      end
      assert(ranks.rank == 0 or drawn[1] == drawn[3] and drawn[1] ~= drawn[2])
      assert(core.ranks_combine("least", drawn[1]) ~= -core.ranks_combine("least", -drawn[1]))]])
  end)

  mpi.it("draws the same after ranks have trained another model", function()
    mpi.script(2, [[
      local core, ranks, drawn = require "roper.core", roper.ranks(), {}
      local task = roper.tasks.copy{letters = 4, length = 20, seed = 1}
      for _ = 1, 2 do
        local model = roper.nn.Transformer{vocabulary = task:vocabulary(), d_model = 8, heads = 2,
          dropout = 0.1}
        roper.train{model = model, task = task, steps = 2, batch = 2, ranks = ranks,
          optimizer = roper.optim.Adam(), progress = false}
        local after = roper.rand{1}:item()
        assert(core.ranks_combine("least", after) == -core.ranks_combine("least", -after))
      end
      for seed = 1, 2 do
        roper.seed(seed)
        ranks:seed(5)
        drawn[seed] = roper.rand{1}:item()
        ranks:draw_alike()
      end
      assert(drawn[1] ~= drawn[2])]])
  end)

  mpi.it("rejects models that differ", function()
    mpi.script(2, [[
      local ranks = roper.ranks()
      local w = roper.full({3}, 1 + ranks.rank * 1e-6):parameter()
      local ok, message = pcall(ranks.check, ranks, {w}, 7)
      assert(not ok and message:find "on all 2 ranks, found differences at step 7", message)
      ranks:check({roper.ones{3}}, 7)
      ranks:check({roper.full({3}, 0 / 0)}, 7)]])
  end)
end)
