-- Sweeps with files loaded by --load that are edited, missing or new between two invocations.

local claims = require("roper.workbench.study.run.claim")
local files = require("roper.system.file")
local sweep_file = require("roper.workbench.study.run.sweep_file")
local process = require("tests.process")
local scratch = require("tests.scratch")
local sweeps = require("tests.sweeps")
local tables = require("roper.base.tables")
local uv = require("luv")

local folder, near

-- A file that registers a position scheme, whose definition is in a module beside it.
local function write(slope)
  scratch.write("near_slope.lua", "return " .. slope)
  return scratch.write("near.lua", [[
    local slope = require "near_slope"
    roper.position.register("near", { bias = function(_, _, _, positions)
      return positions:by_distance(function(distance) return -(distance * slope):unsqueeze(1) end)
    end })]])
end

before_each(function()
  scratch.create()
  folder = scratch.path("sweep")
  near = write(0.5)
end)
after_each(scratch.remove)

-- Runs a sweep and returns its output, with its error stream in front.
local function run(...)
  local status, output, errors = process.run(sweeps.command(folder, ...))
  assert.equal(0, status, errors)
  return errors .. output
end

local function resume(expected, ...)
  local status, output, errors = process.run({ "./roper", "sweep", folder, ... })
  assert.equal(expected, status, errors)
  return errors .. output
end

local function names(list)
  return tables.map(list, function(trial) return trial.name end)
end

local function contains(text, part)
  assert.truthy(text:gsub("%s+", " "):find(part, 1, true), text)
end

describe("a sweep with a loaded file", function()
  it("puts trials of another content aside, and runs them anew", function()
    run("position=near", "seed=1..2", "--load", near)
    run("position=rope", "seed=1..2")
    local first = sweep_file.read(folder)
    local results = sweeps.results(folder)
    contains(run("position=near", "seed=1..2", "--load", near), "2 trials, 2 finished")
    assert.same(results, (sweeps.results(folder)))

    write(0.25)
    local output = run("position=near", "seed=3", "--load", near)
    contains(output, "2 trials made with other loaded files or weights (near.lua ")
    contains(output, "are stale and run anew with near.lua ")
    contains(output, ("their folders are kept: %s, %s"):format(first[1].name, first[2].name))
    contains(output, "3 trials, 0 finished")
    contains(output, ("Not included, because loaded files or weights have changed since: %s, %s "
      .. "(made with near.lua "):format(first[1].name, first[2].name))
    local now, stale = sweep_file.read(folder)
    assert.same({ first[1].name, first[2].name }, names(stale))
    assert.same({ "near 1", "near 2", "rope 1", "rope 2", "near 3" },
      tables.map(now, function(trial)
        return ("%s %d"):format(trial.config.position, trial.config.seed)
      end))
    for _, trial in ipairs(stale) do
      assert.equal(results[trial.name], files.read(trial.folder .. "/result.json"))
    end
    local after, count = sweeps.results(folder)
    assert.equal(5, count)
    assert.not_equal(results[first[1].name], after[now[1].name])
    local _, listed = process.run({ "./roper", "runs", folder, "status=stale" })
    assert.equal(2, select(2, listed:gsub("near%-%d", "")), listed)

    write(0.5) -- the first definition again
    output = run("position=near", "seed=1..2", "--load", near)
    contains(output, "are stale; 1 of them is run anew with near.lua ")
    contains(output, ", finished trials replace the others; their folders are kept: ")
    contains(output, "3 trials, 2 finished")
    now, stale = sweep_file.read(folder)
    assert.same({ first[1].name, first[2].name }, { now[1].name, now[2].name })
    assert.equal(3, #stale)

    write(0.25) -- the second one again: nothing is left to run
    output = resume(0, "--load", near)
    contains(output, "are stale, replaced by finished trials with near.lua ")
    assert.is_nil(output:find("anew", 1, true))
    contains(output, "5 trials, 5 finished")
  end)

  it("keeps a killed trial for its own definition", function()
    local words = { "position=near", "seed=1", "steps=600", "--jobs", "1", "--load", near }
    local program = process.spawn(sweeps.command(folder, table.unpack(words)))
    local function has_checkpoint()
      local trials = sweep_file.read(folder)
      return trials and files.stat(trials[1].folder .. "/checkpoint.safetensors")
    end
    while not has_checkpoint() do
      sweeps.wait({ program }, 20)
      assert.is_nil(program.status)
    end
    local workers = sweeps.workers(folder)
    program.handle:kill("sigkill")
    sweeps.wait({ program })
    for _, pid in ipairs(workers) do
      uv.kill(pid, "sigkill")
      while uv.kill(pid, 0) == 0
        and claims.read(sweep_file.read(folder)[1].folder).state ~= "free" do
        sweeps.wait({}, 20)
        uv.sleep(20)
      end
    end
    local first = sweep_file.read(folder)[1]

    write(0.25)
    contains(run(table.unpack(words)), "1 trial made with other loaded files")
    assert.is_nil(files.stat(first.folder .. "/result.json"))
    write(0.5)
    contains(run(table.unpack(words)), "1 trial, 0 finished")
    assert.same({ first.name }, names(sweep_file.read(folder)))
    assert.truthy(files.stat(first.folder .. "/result.json"))
    assert.is_nil(files.stat(first.folder .. "/metrics.jsonl.old")) -- it did not start from step 0
  end)

  it("skips trials whose files are missing, and runs the others", function()
    run("position=near", "seed=1", "--load", near)
    run("position=rope", "seed=1")
    local trials = sweep_file.read(folder)
    for _, trial in ipairs(trials) do
      os.remove(trial.folder .. "/result.json")
    end
    local _, listed = process.run({ "./roper", "runs", folder })
    local copy = ("./roper sweep %s --load %s/loaded/near.lua"):format(folder, trials[1].folder)
    contains(listed, copy)
    contains(listed, ("./roper sweep %s "):format(folder))
    local output = resume(0)
    contains(output, ("1 trial skipped: %s: made with --load of near.lua "):format(trials[1].name))
    contains(output, "1 of 2 runs finished")
    os.remove(trials[2].folder .. "/result.json")
    output = select(3, process.run({ "sh", "-c", copy }))
    contains(output, ("1 trial skipped: %s: made without loaded files; run the sweep without "
      .. "--load"):format(trials[2].name))
    contains(output, "1 trial, 0 finished")
    assert.equal(1, select(2, sweeps.results(folder)))
    write(0.25)
    contains(resume(0, "--load", near), "1 trial made with other loaded files")
    local other = scratch.write("other.lua", "x = 1")
    os.remove(sweep_file.read(folder)[1].folder .. "/result.json")
    contains(resume(1, "--load", other), "no trial of " .. folder .. " can run:")
  end)
end)

describe("a run with a loaded file", function()
  it("keeps copies, and refuses to resume or evaluate with another content", function()
    local roper = uv.fs_realpath("roper")
    local function call(...)
      return process.run({ "sh", "-c", ('cd "$0" && exec "%s" "$@"'):format(roper),
        scratch.path("."), ... })
    end
    local words = sweeps.command("x", "position=near", "--load", "near.lua")
    local status, _, errors = call("train", "substring_index", table.unpack(words, 6))
    assert.equal(0, status, errors)
    local name = "runs/substring_index-near-1"
    assert.equal(files.read(near), scratch.read(scratch.path(name .. "/loaded/near.lua")))
    assert.equal("return 0.5", scratch.read(scratch.path(name .. "/loaded/near_slope.lua")))
    local _, measured = call("eval", name, "--load", "near.lua")
    status, _, errors = call("eval", name)
    assert.equal(1, status)
    contains(errors, name .. ": needs the position scheme near: register it first, in a file for "
      .. "--load; it was made with module near_slope.lua ")
    contains(errors, "the run keeps a copy: --load " .. name .. "/loaded/near.lua")

    write(0.25)
    for _, command in ipairs({ { "eval", name }, { "sample", name },
                               { "train", "--resume", name, "steps=30" } }) do
      command[#command + 1], command[#command + 2] = "--load", "near.lua"
      status, _, errors = call(table.unpack(command))
      assert.equal(1, status)
      contains(errors, name .. ": made with module near_slope.lua ")
      contains(errors, "the run keeps a copy: --load " .. name .. "/loaded/near.lua")
    end
    local copy = name .. "/loaded/near.lua"
    assert.equal(measured, (select(2, call("eval", name, "--load", copy))))
    status, _, errors = call("train", "--resume", name, "steps=30", "--load", copy)
    assert.equal(0, status, errors)
    assert.equal(30, files.decode(scratch.path(name .. "/result.json")).config.steps)
  end)
end)
