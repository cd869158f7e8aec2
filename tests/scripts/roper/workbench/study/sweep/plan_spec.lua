local experiment = require("roper.workbench.study.experiment")
local files = require("roper.system.file")
local plan = require("roper.workbench.study.sweep.plan")
local sweep_file = require("roper.workbench.study.run.sweep_file")
local process = require("tests.process")
local scratch = require("tests.scratch")
local tables = require("roper.base.tables")
local uv = require("luv")

before_each(scratch.create)
after_each(scratch.remove)

local function configure(fields)
  fields.preset = "smoke"
  return experiment.configure("addition", fields)
end

describe("plan.add", function()
  it("writes trials to the file and adds to them", function()
    local folder = scratch.path("sweep")
    assert.is_nil(sweep_file.read(folder))
    local first = plan.add(folder, { configure({ seed = 1 }), configure({ seed = 2 }),
                                     configure({ seed = 1 }) })
    assert.equal(2, #first)
    assert.same(first, sweep_file.read(folder))
    assert.equal(("roper-1-%s"):format(first[1].id:sub(1, 8)), first[1].name)
    assert.equal(folder .. "/" .. first[1].name, first[1].folder)
    local second = plan.add(folder, { configure({ seed = 3 }), configure({ seed = 2 }) })
    assert.same({ 3, 2 }, { second[1].config.seed, second[2].config.seed })
    local all = sweep_file.read(folder)
    assert.same({ 1, 2, 3 }, { all[1].config.seed, all[2].config.seed, all[3].config.seed })
    local before = scratch.read(folder .. "/sweep.json")
    plan.add(folder, { configure({ seed = 3 }) })
    assert.equal(before, scratch.read(folder .. "/sweep.json"))
  end)

  it("replaces a trial that starts from other weights, but not those of other seeds", function()
    local folder = scratch.path("sweep")
    local function from(seed, weights)
      return tables.merged(configure({ seed = seed }), { from = "source", origin = weights })
    end
    local function add(...)
      local _, stale = plan.add(folder, { ... })
      return tables.map(stale, function(trial) return trial.config.origin end)
    end
    assert.same({}, add(from(1, "a"), from(2, "b")))
    assert.same({}, add(from(3, "c")))
    assert.same({ "b" }, add(from(2, "d")))
    local all, stale = sweep_file.read(folder)
    assert.same({ "a", "d", "c" }, tables.map(all, function(trial) return trial.config.origin end))
    assert.same({ "b" }, tables.map(stale, function(trial) return trial.config.origin end))
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
    for i, trial in ipairs(sweep_file.read(folder)) do
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
