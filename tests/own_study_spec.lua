local files = require("roper.system.file")
local process = require("tests.process")
local scratch = require("tests.scratch")
local sweeps = require("tests.sweeps")
local tables = require("roper.base.tables")
local uv = require("luv")

-- A scheme with an option, a task, an experiment and a model, in one file.
local MINE <const> = [[
roper.position.register("near", {
  takes = {heads = "size", power = {"number", 0.5}}, relative = true,
  bias = function(self, q, k, positions)
    return positions:by_distance(function(distance)
      return -(distance:abs() ^ self.power):unsqueeze(1)
    end)
  end,
})

roper.tasks.register("reverse", {
  summary = "reverse a string",
  options = {{"letters", {smallest = 1, largest = 99}, 4, "letters of a string"}},
  vocabulary = {"a", "b", "c", ">", ";"}, stop = ";",
  generate = function(options, random)
    local text = ""
    for _ = 1, options.letters do
      text = text .. ("abc"):sub(random(3)):sub(1, 1)
    end
    return text .. ">", text:reverse() .. ";"
  end,
})

Own = roper.nn.class "Own"

function Own:init(o)
  self.embedding = roper.nn.Embedding{count = o.vocabulary, features = o.d_model}
  self.layer = roper.nn.TransformerLayer{d_model = o.d_model, heads = o.heads,
    position = o.position}
  self.logits = roper.nn.Linear{inputs = o.d_model, outputs = o.vocabulary}
end

function Own:forward(tokens, _, positions)
  return self.logits(self.layer(self.embedding(tokens), nil, positions))
end

roper.experiment.register("reversal", {
  task = "reverse",
  presets = {mini = {model = "Own", d_model = 8, heads = 2, length = 21, steps = 80, batch = 4,
    problems = 4, test_sequences = 4, evaluate_every = 10, checkpoint_every = 10, rate = 3e-3}},
})
]]

describe("A study of one's own scheme, task, experiment and model", function()
  setup(scratch.create)
  teardown(scratch.remove)

  local LIMITS <const> = { OMP_NUM_THREADS = "1" }

  -- A command in the temporary folder.
  local function command(line)
    return { "/bin/sh", "-c", ("cd '%s' && exec '%s/roper' %s"):format(scratch.path(""), uv.cwd(),
      line) }
  end

  local function run(line)
    local status, output, errors = process.run(command(line), nil, LIMITS)
    assert.equal(0, status, line .. "\n" .. output .. errors)
    return output, errors
  end

  local function contains(text, part)
    assert.truthy(text:find(part, 1, true), ("expected %q in %s"):format(part, text))
  end

  -- The content of the result files of a sweep by folder.
  local function results(folder)
    local found = {}
    for _, name in ipairs(files.names(scratch.path(folder))) do
      found[name] = name:find("%-%d%-%x+$")
        and files.read(scratch.path(("%s/%s/result.json"):format(folder, name)))
    end
    return found
  end

  local SWEEP <const> = "sweep reversal 'position=near,near{power=1}' seed=1..3 --load mine.lua"

  it("is swept, killed, resumed, reported, continued and edited from the shell", function()
    files.write(scratch.path("mine.lua"), MINE)

    local program, before
    repeat -- until the kill came between the first and the last result
      os.execute(("rm -rf '%s'"):format(scratch.path("runs")))
      program = process.spawn(command(SWEEP .. " --jobs 1"), nil, LIMITS)
      repeat
        sweeps.wait({ {} }, 20)
      until program.status or next(results("runs/reversal"))
      if not program.status then
        program.handle:kill("sigkill")
        sweeps.wait({ program })
      end
      before = results("runs/reversal")
    until program.status == 128 + 9 and tables.count(before) < 6

    contains(run(SWEEP), "6 of 6 runs finished.")
    local after = results("runs/reversal")
    assert.equal(6, tables.count(after))
    for name, text in pairs(before) do
      assert.equal(text, after[name]) -- finished trials are not run again
    end

    local output = run("report runs/reversal --load mine.lua --csv csv --latex latex")
    contains(output, "\n  near{power=1}  3 of 3 ")
    contains(output, "loss, near{power=1} − near ")
    local rows = files.read(scratch.path("csv/results.csv"))
    assert.equal(7, select(2, rows:gsub("\n", "")))
    contains(rows, "near{power=1}")
    contains(files.read(scratch.path("latex/table-results.tex")), "\\toprule")

    local _, errors = run("sweep reversal position=rope seed=1..3 steps=30 --load mine.lua "
      .. "--from runs/reversal/near --folder runs/continued")
    assert.equal(3, select(2, errors:gsub("starts from runs/reversal/near%-%d", "")), errors)

    files.write(scratch.path("mine.lua"), (MINE:gsub("%-%(distance", "-(2 * distance")))
    output, errors = run(SWEEP)
    contains(errors, "6 trials made with other loaded files or weights")
    for name in pairs(after) do
      contains(errors, name)
    end
    contains(output, "6 of 6 runs finished.")
    contains(run("report runs/reversal --load mine.lua"), "Not included, because loaded files")
    local now = results("runs/reversal")
    assert.equal(12, tables.count(now))
    for name, text in pairs(after) do
      assert.equal(text, now[name])
      local kept = scratch.path(("runs/reversal/%s/loaded/mine.lua"):format(name))
      assert.equal(MINE, files.read(kept))
    end
  end)
end)
