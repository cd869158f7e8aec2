local process = require("tests.process")
local scratch = require("tests.scratch")

local NOTE <const> = "bfloat16 is not faster than float32 here, and may take up\n"
  .. "to twice as long: the portable kernels have no bfloat16 instructions"

-- The output of a command with kernels that any processor has.
local function roper(...)
  local status, output, errors = process.run({ "./roper", ... }, nil,
    { ROPER_KERNELS = "portable" })
  assert.equal(0, status, errors)
  return output, errors
end

describe("the note on bfloat16 without hardware support", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  local FIELDS <const> = { "preset=smoke", "letters=3", "steps=1" }

  local function fields(...)
    return table.unpack(table.move({ ... }, 1, select("#", ...), #FIELDS + 1,
      table.move(FIELDS, 1, #FIELDS, 1, {})))
  end

  it("is printed once when bfloat16 is enabled, and not for float32", function()
    local output, errors = roper("-e", "roper.matmul_precision 'float32', roper.matmul_precision()")
    assert.same({ '"float32"\t"float32"\n', "" }, { output, errors })
    output, errors = roper("-e", "roper.matmul_precision 'bfloat16', roper.matmul_precision(), "
      .. "roper.matmul_precision 'bfloat16'")
    assert.same({ '"bfloat16"\t"bfloat16"\t"bfloat16"\n', "matmul_precision: " .. NOTE .. "\n" },
      { output, errors })
  end)

  it("is printed for an experiment with that field, once per sweep, and in its estimate", function()
    local script = scratch.write("run.lua", ([[
      local config = roper.experiment.configure("copy", { preset = "smoke", letters = 3, steps = 1,
        matmul_precision = arg[1] })
      require("roper.workbench.study.run").run(config, { run = arg[2] })]]))
    local _, errors = roper(script, "bfloat16", scratch.path("run"))
    assert.equal(1, select(2, errors:gsub(NOTE:gsub("%p", "%%%0"), "")), errors)
    _, errors = roper(script, "float32", scratch.path("other"))
    assert.is_nil(errors:find("not faster than float32", 1, true))
    _, errors = roper("sweep", "copy", fields("seed=1,2", "matmul_precision=bfloat16", "--folder",
      scratch.path("sweep"), "--jobs", "1"))
    assert.equal(1, select(2, errors:gsub("not faster than float32", "")), errors)
    local output = roper("train", "copy", fields("--dry-run", "matmul_precision=bfloat16"))
    assert.truthy(output:find(NOTE .. ".\n", 1, true), output)
  end)
end)
