local core = require("roper.core")
local experiment = require("roper.workbench.study.experiment")
local files = require("roper.system.file")
local plan = require("roper.workbench.study.sweep.plan")
local process = require("tests.process")
local scratch = require("tests.scratch")
local uv = require("luv")

before_each(scratch.create)
after_each(scratch.remove)

local function configure(fields)
  fields.preset = "smoke"
  return experiment.configure("addition", fields)
end

describe("plan.values", function()
  it("reads lists and ranges", function()
    assert.same({ "rope", "roper" }, plan.values("position", "rope,roper"))
    assert.same({ 1, 2, 3 }, plan.values("seed", "1..3"))
    assert.same({ -1, 0, "7", 9 }, plan.values("seed", "-1..0,7,9..9"))
    assert.same({ "1e-3" }, plan.values("rate", "1e-3"))
  end)

  it("refuses other texts", function()
    for _, text in ipairs({ "", ",", "1,", "1,,2" }) do
      assert.has_error(function() plan.values("seed", text) end,
        ('field seed: expected values with commas between them, got "%s"'):format(text))
    end
    for _, text in ipairs({ "3..1", "1..99999999999999999999" }) do
      assert.has_error(function() plan.values("seed", text) end,
        "field seed: expected a range from a smaller to a larger integer, got " .. text)
    end
    for _, text in ipairs({ "1..100001", "-9223372036854775808..9223372036854775807" }) do
      assert.has_error(function() plan.values("seed", text) end,
        "field seed: expected at most 100000 values, got " .. text)
    end
    assert.equal(100000, #plan.values("seed", "1..100000"))
  end)
end)

describe("plan.product", function()
  it("has every combination, seed by seed", function()
    assert.same({
      { seed = 1, position = "rope", layers = 1 }, { seed = 1, position = "rope", layers = 2 },
      { seed = 1, position = "roper", layers = 1 }, { seed = 1, position = "roper", layers = 2 },
      { seed = 2, position = "rope", layers = 1 }, { seed = 2, position = "rope", layers = 2 },
      { seed = 2, position = "roper", layers = 1 }, { seed = 2, position = "roper", layers = 2 },
    }, plan.product({ { "position", { "rope", "roper" } }, { "layers", { 1, 2 } },
                      { "seed", { 1, 2 } } }))
    assert.same({ {} }, plan.product({}))
    assert.same({ { rate = 0.5 } }, plan.product({ { "rate", 0.5 } }))
  end)
end)

describe("plan.hash", function()
  it("is that of configurations without a later field if the field has its default", function()
    local config = experiment.configure("addition", { matmul_precision = "float32" })
    local id = plan.hash(config)
    assert.equal(id, plan.hash(experiment.configure("addition")))
    config.matmul_precision = nil
    assert.equal(id, plan.hash(config))
    assert.not_equal(id,
      plan.hash(experiment.configure("addition", { matmul_precision = "bfloat16" })))
  end)

  it("is the FNV-1a hash of the fields that are set", function()
    -- By a line of Python over the bytes of {"a": 1, "b": "x"}.
    assert.equal("9c5b8ebe1a8a6a03", plan.hash({ b = "x", a = 1, c = false }))
  end)

  it("depends on every field and on nothing else", function()
    local config = configure({ seed = 1 })
    local id = plan.hash(config)
    assert.equal(id, plan.hash(configure({ seed = "1" })))
    local seen = { [id] = true }
    for name, value in pairs(config) do
      config[name] = value == false and "qk" or value == "x" and "y" or "x"
      local other = plan.hash(config)
      assert.is_nil(seen[other], name)
      seen[other] = true
      config[name] = value
    end
    assert.equal(id, plan.hash(config))
  end)

  it("ignores a switch that is off", function()
    local function hash(fields)
      return plan.hash(experiment.configure("addition", fields))
    end
    local config = experiment.configure("addition")
    local id = plan.hash(config)
    assert.is_false(config.coupled)
    for name, value in pairs(config) do
      config[name] = value or nil
    end
    assert.equal(id, plan.hash(config))
    assert.equal(id, hash({ coupled = "false" }))
    assert.not_equal(id, hash({ coupled = "true" }))
    assert.equal(hash({ coupled = true }), hash({ coupled = "true" }))
  end)
end)

describe("plan.add", function()
  it("writes trials to the file and adds to them", function()
    local folder = scratch.path("sweep")
    assert.is_nil(plan.read(folder))
    local first = plan.add(folder, { configure({ seed = 1 }), configure({ seed = 2 }),
                                     configure({ seed = 1 }) })
    assert.equal(2, #first)
    assert.same(first, plan.read(folder))
    assert.equal(("roper-1-%s"):format(first[1].id:sub(1, 8)), first[1].name)
    assert.equal(folder .. "/" .. first[1].name, first[1].folder)
    local second = plan.add(folder, { configure({ seed = 3 }), configure({ seed = 2 }) })
    assert.same({ 3, 2 }, { second[1].config.seed, second[2].config.seed })
    local all = plan.read(folder)
    assert.same({ 1, 2, 3 }, { all[1].config.seed, all[2].config.seed, all[3].config.seed })
    local before = scratch.read(folder .. "/sweep.json")
    plan.add(folder, { configure({ seed = 3 }) })
    assert.equal(before, scratch.read(folder .. "/sweep.json"))
  end)

  it("loses nothing when several processes add at once", function()
    local folder = scratch.path("sweep")
    local script = scratch.write("add.lua", ([[
      package.path, package.cpath = %q, %q
      local configure = require("roper.workbench.study.experiment").configure
      require("roper.workbench.study.sweep.plan").add(%q, { configure("addition",
        { seed = tonumber(arg[1]), preset = "smoke" }) })
    ]]):format(package.path, package.cpath, folder))
    local status, _, errors = process.run({ "sh", "-c",
      ("for i in 1 2 3 4 5 6; do lua5.4 %s $i & done; wait"):format(script) })
    assert.same({ 0, "" }, { status, errors })
    local seeds = {}
    for i, trial in ipairs(plan.read(folder)) do
      seeds[i] = trial.config.seed
    end
    table.sort(seeds)
    assert.same({ 1, 2, 3, 4, 5, 6 }, seeds)
  end)

  it("loses no trial if the file cannot be read", function()
    local folder = scratch.path("sweep")
    plan.add(folder, { configure({ seed = 1 }), configure({ seed = 2 }) })
    local path = folder .. "/sweep.json"
    local before = scratch.read(path)
    scratch.unreadable(path, 13, function()
      assert.has_error(function() plan.add(folder, { configure({ seed = 3 }) }) end,
                       ("cannot read %s: EACCES: permission denied"):format(path))
    end)
    assert.equal(before, scratch.read(path))
  end)

  it("cleans up after a process that was killed while adding", function()
    local folder = scratch.path("sweep")
    plan.add(folder, { configure({ seed = 1 }) })
    scratch.write("sweep/sweep.json.7-abcd0123.tmp", "")
    scratch.write("sweep/lock/lease-0002.json.7-abcd0123.tmp", "")
    plan.add(folder, { configure({ seed = 2 }) })
    assert.same({ "lock", "sweep.json" }, files.names(folder))
    assert.same({ "lease-0002.json" }, files.names(folder .. "/lock"))
  end)

  it("does not wait for a lock that cannot be read", function()
    local folder = scratch.path("sweep")
    local path = folder .. "/lock/lease-0001.json"
    files.make(folder .. "/lock")
    assert(uv.fs_symlink(path, path))
    assert.has_error(function() plan.add(folder, { configure({ seed = 1 }) }) end,
      ("sweep: cannot read %s: ELOOP: too many symbolic links encountered"):format(path))
  end)

  it("refuses a damaged file", function()
    for _, text in ipairs({ "", "{", "[1]", "{}", '{"trials": []}', '{"trials": {"a": 1}}' }) do
      local path = scratch.write("sweep.json", text)
      assert.has_error(function() plan.read(scratch.path("."):sub(1, -3)) end,
        ("sweep: %s: expected a list of trials, got another file"):format(path))
    end
    for _, trial in ipairs({ "5", "{}", '{"experiment": "addition", "position": "rope"}' }) do
      local path = scratch.write("sweep.json", ('{"trials": [%s]}'):format(trial))
      assert.has_error(function() plan.read(scratch.path("."):sub(1, -3)) end,
        ("sweep: %s: trial 1: expected the configuration of an experiment"):format(path))
    end
    local config = configure({ seed = 1 })
    for name, values in pairs({ position = { "../../away", "a/b", "..", "a\nb", "a\u{202E}b", 5 },
                                rotate = { "../q", 5 }, steps = { 0, 1.5, "x" },
                                seed = { "1", 1.5 }, problems = { { 1 }, "x" },
                                rate = { core.json_null },
                                experiment = { "../addition", false } }) do
      local before = config[name]
      for _, value in ipairs(values) do
        config[name] = value
        local path = scratch.write("sweep.json", core.json_encode({ trials = { config } }))
        assert.has_error(function() plan.read(scratch.path("."):sub(1, -3)) end,
          ("sweep: %s: trial 1: expected the configuration of an experiment"):format(path))
        scratch.write("config.json", core.json_encode({ config = config }))
        assert.is_nil(plan.lone(scratch.path(".")))
      end
      config[name] = before
    end
    scratch.write("sweep.json", core.json_encode({ trials = { config } }))
    assert.equal(1, #plan.read(scratch.path(".")))
    assert.error_matches(function() plan.require(scratch.path("none")) end,
                         "^sweep: there is no folder .*/none$")
  end)
end)

describe("plan.load", function()
  it("reads trials from a Lua file", function()
    local path = scratch.write("trials.lua", [[
      local list = { experiment = "addition" }
      for _, position in ipairs { "rope", "roper" } do
        list[#list + 1] = { position = position, preset = "smoke" }
      end
      list[#list + 1] = { experiment = "substring_index", preset = "smoke", rotate = "vo" }
      return list
    ]])
    local configs = plan.load(path, { { "seed", { 4, 5 } } })
    assert.equal(6, #configs)
    assert.same({ "addition", "rope", 4 }, { configs[1].experiment, configs[1].position,
                                             configs[1].seed })
    assert.same({ "substring_index", "vo", 5 }, { configs[6].experiment, configs[6].rotate,
                                                  configs[6].seed })
  end)

  it("reports errors in trials", function()
    local function refuses(text, message)
      local path = scratch.write("trials.lua", text)
      assert.error_matches(function() plan.load(path, {}) end, message)
    end
    refuses("return 5", "trials.lua: expected a list of trials, got number")
    refuses("return {5}", "trials.lua: trial 1: expected a table of fields, got number")
    refuses("return {", "unexpected symbol near <eof>")
    refuses("return {{experiment = 'adition'}}", 'no experiment "adition"; did you mean')
    refuses("return {{experiment = 'addition'}, {experiment = 'addition', stepz = 1}}",
      'trials.lua: trial 2: addition has no field "stepz"; did you mean "steps"')
    refuses("return {{}}", "trials.lua: trial 1: expected an experiment, got none")
  end)
end)
