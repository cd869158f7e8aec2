local files = require("roper.system.file")
local process = require("tests.process")
local scratch = require("tests.scratch")
local uv = require("luv")

-- A part of a page, and the lines after it in which a shell runs commands.
local function shown(page, pattern)
  local code, lines = scratch.read(page):match(pattern)
  assert.is_string(lines)
  return code, lines
end

-- Runs a command line of the guide in the temporary folder; returns its output.
local function run(line, expected)
  local command = ("cd '%s' && %s"):format(scratch.path(""),
    line:gsub("%./roper", "'" .. uv.cwd() .. "/roper'"))
  local status, output, errors = process.run({ "/bin/sh", "-c", command }, nil,
    { OMP_NUM_THREADS = "1" })
  assert.equal(expected or 0, status, line .. "\n" .. errors)
  return output, errors
end

describe("README and the guide", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  it("define a task, and train, evaluate, sample, sweep and report it", function()
    local code, lines = shown("scripts/GUIDE.md",
      "\n```lua\n(local function sorted.-)```\n.-\n```\n(%$ .-)```\n")
    local more = scratch.read("scripts/GUIDE.md"):match(
      '\n```lua\n(roper%.experiment%.register%("sort_short".-)```\n')
    assert.is_true(select(2, code:gsub("\n", "\n")) <= 30)
    files.write(scratch.path("sort.lua"), code .. "\n" .. more)
    local outputs, expected = {}, {}
    for line in lines:gmatch("[^\n]+") do
      local command = line:match("^%$ (.*)")
      if command then
        outputs[#outputs + 1] = run(command)
      else
        expected[#outputs] = line .. "\n"
      end
    end
    assert.equal(6, #outputs)
    assert.equal(expected[1], outputs[1])
    assert.truthy(outputs[2]:find("loss %d%.%d+ %(floor unknown%), in runs/sort%-roper%-1\n$"))
    assert.truthy(outputs[3]:find("digits=13 length=193 +%d of 4" .. (" +%d%.%d+"):rep(3)
      .. " +unknown"))
    assert.truthy(outputs[4]:find("^question  31524>\nanswer    .*\nexpected  12345;\n$")
      or outputs[4]:find("\nright\n$"))
    assert.truthy(outputs[5]:find("roper − rope +2", 1))
    assert.truthy(outputs[6]:find("  rope +2 of 2 .* unknown"))
    assert.is_nil(outputs[6]:find("not registered", 1, true))
    assert.truthy(scratch.read(scratch.path("runs/sort/report.html")):find("one relative distance"))

    local _, errors = run("./roper eval runs/sort-roper-1", 1)
    assert.truthy(errors:find("runs/sort-roper-1: needs the experiment sort: register it first, in "
      .. "a file for --load", 1, true))
    assert.truthy(run("./roper report runs/sort"):find("the experiment sort is not\n    registered")
      or run("./roper report runs/sort"):find("the experiment sort is not registered"))
    run("./roper train sort_short preset=mini steps=2 evaluate_every=2 problems=2 "
      .. "test_sequences=4 --load sort.lua")
  end)

  it("train, resume, evaluate and sweep a model of a class of one's own", function()
    local class, lines = shown("scripts/GUIDE.md",
      "\n```lua\n(Own = .-)```\n.-\n```\n(%$ ./roper train copy .-)```\n")
    files.write(scratch.path("own.lua"), class)
    local outputs = {}
    for line in lines:gmatch("%$ ([^\n]+)") do
      outputs[#outputs + 1] = run(line)
    end
    assert.equal(4, #outputs)
    assert.truthy(outputs[4]:find("roper model=Own − roper model=Transformer +2"))
    local best = scratch.path("runs/copy-roper-1/best.safetensors")
    assert.truthy(run(("./roper -e 'dofile %q; return roper.load %q'"):format("own.lua", best))
      :find("^Own: %d+ parameters"))
    local _, errors = run(("./roper -e 'roper.load %q'"):format(best), 1)
    assert.truthy(errors:find("needs the model class Own: define it first", 1, true))
    _, errors = run("./roper sample runs/copy-roper-1", 1)
    assert.truthy(errors:find("runs/copy-roper-1: needs the model class Own: register it first, in "
      .. "a file for --load", 1, true))
    assert.truthy(run("./roper sample runs/copy-roper-1 --load own.lua"):find("^question  "))
  end)
end)
