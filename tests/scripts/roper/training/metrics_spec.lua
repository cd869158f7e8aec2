local metrics = require("roper.training.metrics")
local scratch = require("tests.scratch")

setup(scratch.create)
teardown(scratch.remove)

describe("metrics.read", function()
  it("returns the objects in order", function()
    local path = scratch.write("a.jsonl", '{"step": 1, "loss": 0.5}\n\n{"step": 2}\n')
    assert.same({ { step = 1, loss = 0.5 }, { step = 2 } }, metrics.read(path))
  end)

  it("returns none for a missing or empty file", function()
    assert.same({}, metrics.read(scratch.path("none.jsonl")))
    assert.same({}, metrics.read(scratch.write("empty.jsonl", "")))
  end)

  it("ignores a truncated last line", function()
    local line = '{"loss": 2.25, "step": 20}\n'
    for cut = 0, #line - 1 do
      local path = scratch.write("torn.jsonl", '{"step": 10}\n' .. line:sub(1, cut))
      assert.same({ { step = 10 } }, metrics.read(path))
    end
    local path = scratch.write("torn.jsonl", '{"step": 10}\n' .. line)
    assert.same({ { step = 10 }, { loss = 2.25, step = 20 } }, metrics.read(path))
  end)

  it("ignores what a power cut left of lines that were not flushed", function()
    local path = scratch.write("cut.jsonl", '{"step": 10}\n{"ste' .. ("\0"):rep(40)
      .. '9.5}\n{"step": 30}\n')
    assert.same({ { step = 10 } }, metrics.read(path))
  end)

  it("rejects other invalid lines, with their number", function()
    for _, line in ipairs({ "{", '{"step" 3}', "5", "null", '"text"', "x", '{"loss": 1}',
                            '{"step": null}', '{"step": 1.5}' }) do
      local path = scratch.write("bad.jsonl", '{"step": 1}\n' .. line .. '\n{"step": 2}\n')
      local message = ("%s:2: expected a JSON object with a step, got %s"):format(path, line)
      assert.same({ false, message }, { pcall(metrics.read, path) })
    end
    assert.error_matches(function() metrics.read(scratch.path("")) end, "directory")
  end)
end)

describe("metrics.open", function()
  it("appends lines that can be read at once", function()
    local path = scratch.path("b.jsonl")
    local writer = metrics.open(path, 0)
    writer.write({ step = 1, loss = 0.1 })
    assert.same({ { step = 1, loss = 0.1 } }, metrics.read(path))
    writer.write({ step = 2, loss = 1 / 3 })
    assert.same({ { step = 1, loss = 0.1 }, { step = 2, loss = 1 / 3 } }, metrics.read(path))
    writer.close()
    assert.equal("\n", scratch.read(path):sub(-1))
  end)

  it("keeps lines up to the step, and drops later ones", function()
    local path = scratch.path("c.jsonl")
    local writer = metrics.open(path, 0)
    for step = 1, 9 do
      writer.write({ step = step, loss = step / 7 })
    end
    writer.close()
    local whole = scratch.read(path)
    metrics.open(path, 9).close()
    assert.equal(whole, scratch.read(path))
    writer = metrics.open(path, 6)
    writer.write({ step = 7, loss = 1 })
    writer.close()
    local list = metrics.read(path)
    assert.equal(7, #list)
    assert.same({ step = 6, loss = 6 / 7 }, list[6])
    assert.same({ step = 7, loss = 1 }, list[7])
    metrics.open(path, 0).close()
    assert.equal("", scratch.read(path))
  end)

  it("drops a truncated last line", function()
    local path = scratch.write("d.jsonl", '{"step": 1}\n{"step": 2, "lo')
    local writer = metrics.open(path, 5)
    writer.write({ step = 2 })
    writer.close()
    assert.same({ { step = 1 }, { step = 2 } }, metrics.read(path))
  end)

  it("writes numbers that are not finite as null", function()
    local path = scratch.path("e.jsonl")
    local writer = metrics.open(path, 0)
    writer.write({ step = 1, loss = 0 / 0, most = math.huge })
    writer.close()
    assert.equal('{"loss": null, "most": null, "step": 1}\n', scratch.read(path))
  end)

  it("does not change a file that cannot be read", function()
    local path = scratch.write("f.jsonl", '{"step": 1}\n')
    scratch.unreadable(path, 24, function()
      assert.has_error(function() metrics.open(path, 5) end,
                       ("cannot read %s: EMFILE: too many open files"):format(path))
    end)
    assert.equal('{"step": 1}\n', scratch.read(path))
  end)

  it("names the file that it cannot write", function()
    assert.error_matches(function() metrics.open(scratch.path("none/x.jsonl"), 0) end,
                         "none/x.jsonl")
  end)
end)
