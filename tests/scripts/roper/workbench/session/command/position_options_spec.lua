local files = require("roper.base.file")
local process = require("tests.process")
local scratch = require("tests.scratch")
local sweeps = require("tests.sweeps")

describe("options of position schemes in the shell", function()
  setup(scratch.create)
  teardown(scratch.remove)

  local function run(words)
    local status, output, errors = process.run(words)
    assert.equal(0, status, errors)
    return output
  end

  it("are swept, reported, listed and resumed", function()
    local folder = scratch.path("sweep")
    local path = scratch.write("near.lua", [[
      roper.position.register("near", { takes = { heads = "size", power = { "number", 1 } },
        bias = function(self, q, k, positions)
          return positions:by_distance(function(distance)
            return -(distance:abs() ^ self.power):unsqueeze(1)
          end)
        end })]])
    local output = run(sweeps.command(folder, "seed=1..2", "steps=5", "--jobs", "1", "--load", path,
      "position=rope{base=50},t5{buckets=16}:near{power=0.5},near{power=2.0},near"))
    local methods = { "rope{base=50}", "t5{buckets=16}:near{power=0.5}", "near{power=2}", "near" }
    for _, method in ipairs(methods) do
      assert.truthy(output:find(("\n  %s +2 of 2 "):format(method:gsub("%p", "%%%0"))), output)
    end
    local names = table.concat(files.names(folder), "\n")
    assert.matches("%f[^\n\0]near%-power%-2%-1%-%x+%f[\n\0]", names)
    assert.is_nil(names:find("[{}='\"]"))

    output = run({ "./roper", "report", folder, "--baseline", "near{ power=2.0 }", "--load", path })
    assert.truthy(output:find("correct, near − near{power=2}", 1, true), output)
    local page = scratch.read(folder .. "/report.html")
    assert.truthy(page:find("t5{buckets=16}:near{power=0.5}", 1, true))

    output = run({ "./roper", "runs", folder, "position=near{power=2.0},rope", "--load", path })
    local _, count = output:gsub("finished", "")
    assert.equal(2, count)
    local found = output:match("(%S+/near%-power%-2%-1%-%x+)")
    output = run({ "./roper", "train", "--resume", found, "steps=6", "--load", path })
    assert.truthy(output:find(found, 1, true))
  end)

  it("are refused before anything is trained", function()
    local folder = scratch.path("refused")
    local status, _, errors = process.run(sweeps.command(folder, "position=rope,yarn{facto=4}"))
    assert.same({ 1, 'roper: field position: yarn: unknown option facto; did you mean "factor"? It '
      .. "takes base, factor, fast, fraction, last, magnitude, pairing, ramp, rotate, slow, "
      .. "trained_length\n" }, { status, errors })
    assert.is_nil(files.stat(folder))
  end)

  it("are recognized if the shell expanded their braces", function()
    local reason = process.missing("bash")
    if reason then
      return pending(reason)
    end
    local status, _, errors = process.run({ "bash", "-c",
      "./roper train copy preset=smoke --dry-run position=yarn{factor=4,fast=16}" })
    assert.equal(2, status)
    assert.matches("shells expand braces with commas, so put the field in single quotes", errors)
    status, _, errors = process.run({ "./roper", "train", "copy", "position=yarnfactor=4" })
    assert.not_equal(0, status)
    assert.matches("put options in braces, and the whole in single quotes", errors)
  end)
end)
