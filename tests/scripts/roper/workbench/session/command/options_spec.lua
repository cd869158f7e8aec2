local process = require("tests.process")

describe("options of commands", function()
  -- Checks that the command only reports this message about its arguments.
  local function refuses(message, ...)
    local status, output, errors = process.run({ "./roper", ... })
    assert.equal(2, status)
    assert.equal("", output)
    assert.equal(("roper: %s\nTry roper %s --help.\n"):format(message, (...)), errors)
  end

  it("are named in messages if their value is not an integer", function()
    for _, value in ipairs({ "x", "0", "1.5", "99999999999999999999" }) do
      local message = "%s: expected " .. require("roper.base.options").mismatch("size", 0)
        .. ", got " .. value
      refuses(message:format("--jobs"), "sweep", "addition", "--jobs", value)
      refuses(message:format("--threads"), "sweep", "addition", "--threads", value)
      refuses(message:format("--seeds"), "study", "--seeds", value)
      refuses(message:format("--head"), "report", "runs/none", "--head", value)
    end
  end)

  it("are quoted if a shell expands their braces", function()
    local advice = "field 'position' is given twice; shells expand braces with commas, so put the "
      .. "field in single quotes: 'position=yarn{factor=4,fast=16}'"
    refuses(advice, "train", "copy", "position=yarnfactor=4", "position=yarnfast=16")
    refuses("field 'position' is given twice", "train", "copy", "position=rope", "position=yarn")
  end)

  it("cannot set position and seed of a study", function()
    local message = "position and seed cannot be set: RoPE and RoPER are trained from the same "
      .. "--seeds"
    refuses(message, "study", "seed=3")
    refuses(message, "study", "position=rope")
  end)
end)
