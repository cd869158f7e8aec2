local core = require("roper.core")
local experiment = require("roper.workbench.study.experiment")
local scratch = require("tests.scratch")
local sweep_file = require("roper.workbench.study.run.sweep_file")

before_each(scratch.create)
after_each(scratch.remove)

describe("sweep_file", function()
  it("refuses a damaged file", function()
    for _, text in ipairs({ "", "{", "[1]", "{}", '{"trials": []}', '{"trials": {"a": 1}}' }) do
      local path = scratch.write("sweep.json", text)
      assert.has_error(function() sweep_file.read(scratch.path("."):sub(1, -3)) end,
        ("sweep: %s: expected a list of trials, got another file"):format(path))
    end
    for _, trial in ipairs({ "5", "{}", '{"experiment": "addition", "position": "rope"}' }) do
      local path = scratch.write("sweep.json", ('{"trials": [%s]}'):format(trial))
      assert.has_error(function() sweep_file.read(scratch.path("."):sub(1, -3)) end,
        ("sweep: %s: trial 1: expected the configuration of an experiment"):format(path))
    end
    local config = experiment.configure("addition", { preset = "smoke", seed = 1 })
    for name, values in pairs({ position = { "../../away", "a/b", "..", "a\nb", "a\u{202E}b", 5 },
                                rotate = { "../q", 5 }, steps = { 0, 1.5, "x" },
                                seed = { "1", 1.5 }, problems = { { 1 }, "x" },
                                rate = { core.json_null },
                                experiment = { "../addition", false } }) do
      local before = config[name]
      for _, value in ipairs(values) do
        config[name] = value
        local path = scratch.write("sweep.json", core.json_encode({ trials = { config } }))
        assert.has_error(function() sweep_file.read(scratch.path("."):sub(1, -3)) end,
          ("sweep: %s: trial 1: expected the configuration of an experiment"):format(path))
        scratch.write("config.json", core.json_encode({ config = config }))
        assert.is_nil(sweep_file.lone(scratch.path(".")))
      end
      config[name] = before
    end
    scratch.write("sweep.json", core.json_encode({ trials = { config } }))
    assert.equal(1, #sweep_file.read(scratch.path(".")))
    assert.error_matches(function() sweep_file.require(scratch.path("none")) end,
                         "^sweep: there is no folder .*/none$")
  end)
end)
