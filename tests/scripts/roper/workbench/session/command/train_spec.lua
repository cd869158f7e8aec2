local core = require("roper.core")
local files = require("roper.system.file")
local process = require("tests.process")
local scratch = require("tests.scratch")
local sweeps = require("tests.sweeps")
local uv = require("luv")

describe("./roper train", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  -- Trains several small runs at the same time, in a working directory with its own `runs`.
  local function train(count, ...)
    local words = { uv.fs_realpath("roper"), "train", "substring_index", ... }
    for name, value in pairs(sweeps.fields()) do
      words[#words + 1] = name .. "=" .. value
    end
    return process.run({ "sh", "-c", ('cd %s; for i in $(seq %d); do "$@" & all="$all $!"; done; '
      .. "for id in $all; do wait $id || exit; done"):format(scratch.path("."), count), "sh",
      table.unpack(words) })
  end

  it("starts again in the same folder after it was killed before the first checkpoint", function()
    local script = scratch.write("die.lua", ([[
      local checkpoint, uv = require "roper.model.checkpoint", require "luv"
      local save = checkpoint.save_training
      checkpoint.save_training = function(...)
        if not uv.fs_stat %q then
          uv.fs_mkdir(%q, 493)
          uv.kill(uv.os_getpid(), "sigkill")
        end
        return save(...)
      end]]):format(scratch.path("mark"), scratch.path("mark")))
    assert.equal(137, (train(1, "seed=4", "steps=6", "--load", script)))
    assert.equal("running", files.decode(
      scratch.path("runs/substring_index-roper-4/lease-0001.json")).state)
    local status, output, errors = train(1, "seed=4", "steps=6", "--load", script)
    assert.equal(0, status, errors)
    assert.truthy(output:find(", in runs/substring_index-roper-4\n", 1, true), output)
    assert.same({ "substring_index-roper-4" }, files.names(scratch.path("runs")))
    assert.equal(0, (train(1, "seed=4", "steps=6", "--load", script)))
    assert.same({ "substring_index-roper-4", "substring_index-roper-4-2" },
      files.names(scratch.path("runs")))
  end)

  it("prints the command that starts again if Ctrl-C comes before training", function()
    files.make(scratch.path("text"))
    for i = 1, 2 do
      scratch.write(("text/%d.txt"):format(i), ("so many words in a row\n"):rep(100))
    end
    local line = uv.fs_realpath("roper") .. " train language_model preset=smoke files=text"
    local function start()
      return process.open(("cd '%s' && %s"):format(scratch.path("."), line),
        { TERM = "xterm" })
    end
    local screen = start()
    screen:expect("in runs/language_model-roper-1\n")
    assert.equal(0, screen:leave())
    local cache = scratch.path("cache/roper")
    for _, name in ipairs(files.names(cache)) do
      os.remove(not name:find("%.lock$") and ("%s/%s"):format(cache, name) or "")
    end
    local _ <close> = core.lock(("%s/%s"):format(cache, files.names(cache)[1]))
    screen = start()
    screen:expect("text: waiting for another process that is writing ")
    screen:type("\3")
    screen:expect("Stopped before the first checkpoint. To start again:\n" .. line .. "\n")
    screen:expect("roper: interrupted\n")
    screen:leave()
    assert.same({ "language_model-roper-1" }, files.names(scratch.path("runs")))
  end)

  it("trains with --threads, also when it is resumed", function()
    local run = scratch.path("runs/substring_index-roper-1")
    local function threads()
      local list = {}
      for i, record in ipairs(files.decode(run .. "/config.json").provenance) do
        list[i] = record.threads
      end
      return list
    end
    local function resume(...)
      local status, _, errors = process.run({ "./roper", "train", "--resume", run, ... }, nil,
        { OMP_NUM_THREADS = false })
      assert.equal(0, status, errors)
      return errors
    end
    assert.equal(0, (train(1, "steps=2", "--threads", "1")))
    assert.same({ 1 }, threads())
    assert.falsy(resume("steps=3"):find("threads", 1, true))
    assert.same({ 1 }, threads())
    assert.truthy(resume("steps=4", "--threads", "2"):find(
      "from step 3 on with threads 2 instead of 1: results may differ in the last bits", 1, true))
    assert.same({ 1, 2 }, threads())
  end)

  it("says why a run with cosine cannot get other steps, and how to train it further", function()
    assert.equal(0, (train(1, "steps=4", "cosine=0.1")))
    local run = scratch.path("runs/substring_index-roper-1")
    local function resume(...)
      return process.run({ "./roper", "train", "--resume", run, ... })
    end
    local status, _, errors = resume("steps=6")
    assert.same({ 1, ("roper: %s: expected steps=4, as in the run, got steps=6: with cosine, the "
      .. "learning rate of every step depends on the last one, so the steps already trained would "
      .. "have been others. To train its weights further, start a new run with the same fields:\n"
      .. "./roper train substring_index --from %s preset=smoke ...\n"):format(run, run) },
      { status, errors })
    assert.equal(0, (resume("steps=4")))
    os.remove(run .. "/checkpoint.safetensors") -- it starts again, with any number of steps
    os.remove(run .. "/result.json")
    assert.equal(0, (resume("steps=6")))
  end)

  it("resumes with every field of the run", function()
    local roper = ("cd '%s' && '%s' train "):format(scratch.path("."), uv.fs_realpath("roper"))
    local function run(words)
      local status, _, errors = process.run({ "sh", "-c", roper .. words })
      assert.equal(0, status, errors)
      return files.decode(scratch.path("runs/addition-rope-7/config.json")).config
    end
    local first = run("addition preset=smoke position=rope seed=7 steps=4 recompute=true "
      .. "rotate=qkvo pairing=interleaved base=500 fraction=0.5 value_fraction=0.5 d_model=24 "
      .. "layers=2 heads=3 d_ff=40 norm=post rms_norm=true activation=swiglu dropout=0.1 "
      .. "tied_embeddings=true matmul_precision=bfloat16 length=90 batch=6 accumulate=2 rate=1e-3 "
      .. "warmup=2 decay=0.1 clip=1 evaluate_every=3 checkpoint_every=2 problems=2 "
      .. "test_sequences=4 max_digits=3 coupled=true")
    assert.is_true(first.recompute)
    local again = run("--resume runs/addition-rope-7 steps=5")
    first.steps = 5
    assert.same(first, again)
    again = run("--resume runs/addition-rope-7 steps=6 recompute=false")
    first.steps, first.recompute = 6, false
    assert.same(first, again)
  end)

  it("gives each of several simultaneous runs a folder, named after its fields", function()
    local status, output, errors = train(3, "seed=3")
    assert.equal(0, status, errors)
    local names = { "substring_index-roper-3", "substring_index-roper-3-2",
                    "substring_index-roper-3-3" }
    assert.same(names, files.names(scratch.path("runs")))
    for _, name in ipairs(names) do
      assert.truthy(output:find(", in runs/" .. name .. "\n", 1, true), output)
      assert.equal(3, files.decode(scratch.path("runs/" .. name .. "/result.json")).config.seed)
    end
  end)
end)
