-- Files of earlier versions, and of this one, can be read: tests/fixtures/versions/write.lua.
local files = require("roper.system.file")
local models = require("tests.models")
local process = require("tests.process")
local record = require("roper.workbench.lesson.record")
local roper = require("roper")
local runs = require("tests.runs")
local scratch = require("tests.scratch")
local uv = require("luv")

local FOLDER <const> = "tests/fixtures/versions/"

local versions = {}
for name, kind in uv.fs_scandir_next, assert(uv.fs_scandir(FOLDER)) do
  versions[#versions + 1] = kind == "directory" and name or nil
end

describe("the version", function()
  it("has files in the tests", function()
    assert.truthy(files.stat(FOLDER .. roper.version),
      "run: OMP_NUM_THREADS=1 ./roper tests/fixtures/versions/write.lua")
  end)
end)

for _, version in ipairs(versions) do
  describe("a file of version " .. version, function()
    local program = uv.cwd() .. "/roper"
    local folder

    setup(function()
      scratch.create()
      folder = scratch.path(version)
      assert(os.execute(("cp -r '%s' '%s'"):format(FOLDER .. version, folder)))
    end)
    teardown(scratch.remove)

    -- The only run of a position scheme.
    local function run_of(position)
      for _, name in ipairs(files.names(folder .. "/runs/copy")) do
        if name:find("^" .. position .. "%-1%-") then
          return "runs/copy/" .. name
        end
      end
      error("no run of " .. position)
    end

    local function run(line)
      local status, output, errors = process.run({ "/bin/sh", "-c",
        ("cd '%s' && '%s' %s"):format(folder, program, line) }, "", { OMP_NUM_THREADS = "1" })
      assert.equal(0, status, errors)
      return output
    end

    it("gives a model with the same logits", function()
      local model = roper.load(folder .. "/model.safetensors")
      local stored = roper.load(folder .. "/outputs.safetensors")
      assert.is_true(models.difference(stored.logits, model(stored.tokens)) < 1e-4)
    end)

    it("gives the table and the page of a report", function()
      local path = folder .. "/" .. run_of("rope")
      local loss = files.decode(path .. "/result.json").loss
      local output = run("report runs/copy --baseline rope")
      assert.truthy(output:find("2 of 2 runs finished", 1, true), output)
      assert.truthy(output:find((" %.4f "):format(loss), 1, true), output)
      assert.truthy(files.stat(folder .. "/runs/copy/report.html"))
    end)

    it("gives a sample", function()
      assert.truthy(run("sample " .. run_of("rope") .. " 'ab>'"):find("question +ab>\nanswer"))
    end)

    it("gives the loss of its evaluation", function()
      local path = run_of("rope")
      local loss = files.decode(folder .. "/" .. path .. "/result.json").loss
      local evaluated = tonumber(run("eval " .. path):match(", loss (%d+%.%d+) "))
      assert.is_true(math.abs(evaluated - loss) < 1e-3)
    end)

    it("resumes a training with the state of the optimizer", function()
      local path = run_of("roper")
      local before = runs.timeless(folder .. "/" .. path)
      run("train --resume " .. path .. " steps=9")
      local after = runs.timeless(folder .. "/" .. path)
      assert.same({ 3, 6, 9 }, runs.numbers(after, "step"))
      assert.same(before, { after[1], after[2] })
      assert.is_true(after[3].test_loss < before[2].test_loss)
      assert.is_true(after[3].test_loss > before[2].test_loss - 0.02)
    end)

    it("gives the progress in lessons", function()
      local home = os.getenv("XDG_STATE_HOME")
      uv.os_setenv("XDG_STATE_HOME", folder .. "/state")
      local entries, problem = record.load()
      if home then
        uv.os_setenv("XDG_STATE_HOME", home)
      else
        uv.os_unsetenv("XDG_STATE_HOME")
      end
      assert.is_nil(problem)
      assert.same({ step = 3, answered = { "1.1", "2.1" } }, entries.rotation)
    end)
  end)
end
