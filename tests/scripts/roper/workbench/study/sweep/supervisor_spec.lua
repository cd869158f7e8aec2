local claims = require("roper.workbench.study.run.claim")
local core = require("roper.core")
local files = require("roper.system.file")
local scratch = require("tests.scratch")
local supervisors = require("roper.workbench.study.sweep.supervisor")
local uv = require("luv")

before_each(scratch.create)
after_each(scratch.remove)

describe("a supervisor", function()
  local supervisor, said

  local function new()
    local trials = {}
    said = {}
    for i = 1, 3 do
      trials[i] = { name = "rope-" .. i, folder = scratch.path("rope-" .. i),
        config = { steps = 1000 } }
    end
    return supervisors.new(scratch.path("."), trials, { jobs = 2, threads = 1,
      say = function(text) said[#said + 1] = text end })
  end

  before_each(function() supervisor = new() end)

  local function new_worker()
    local worker = { input = "", errors = "" }
    supervisor.workers[worker] = true
    return worker
  end

  -- The events of a worker, in pieces as a pipe may split them.
  local function listen(worker, number, event, facts)
    facts = facts or {}
    facts.event, facts.trial = event, "rope-" .. number
    local line = core.json_encode(facts) .. "\n"
    supervisor:listen(worker, line:sub(1, 7))
    supervisor:listen(worker, line:sub(8))
  end

  it("counts only work since the start as worked", function()
    local one, other = new_worker(), new_worker()
    listen(one, 1, "begin")
    assert.same({ 0, 0 }, { one.step, one.first })
    listen(one, 1, "step", { step = 901, first = 900, loss = 1.5, speed = 2 })
    assert.same({ 901, 900, 1.5, 2 }, { one.step, one.first, one.loss, one.speed })
    assert.same({ 0, 0 }, { supervisor.finished, supervisor.worked })
    listen(one, 1, "finish", { text = "well done" })
    assert.equal(1, supervisor.finished)
    assert.near(0.1, supervisor.worked, 1e-12)
    -- The next trial of the same worker starts at step 0.
    listen(one, 2, "begin")
    assert.same({ 0, 0 }, { one.step, one.first })
    listen(one, 2, "note", { text = "good news" })
    listen(one, 2, "finish", { text = "well done" })
    assert.near(1.1, supervisor.worked, 1e-12)
    listen(other, 3, "begin")
    listen(other, 3, "fail", { text = "no luck" })
    assert.same({ 2, true }, { supervisor.finished, supervisor.failed[supervisor.trials[3]] })
    assert.near(1.1, supervisor.worked, 1e-12)
    assert.same({ "rope-1: well done", "rope-2: good news", "rope-2: well done",
      "rope-3: failed: no luck" }, said)
  end)

  it("counts trials that others finish, but not those finished before", function()
    local function finish(number)
      files.make(scratch.path("rope-" .. number))
      scratch.write(("rope-%d/result.json"):format(number), '{"config": {"steps": 1000}}')
    end
    finish(1)
    supervisor = new()
    assert.same({ 1, 0 }, { supervisor.finished, supervisor.worked })
    finish(2)
    supervisor:refresh()
    assert.same({ 2, 1 }, { supervisor.finished, supervisor.worked })
  end)

  it("cleans up after the owner of a finished trial when it is dead", function()
    files.make(scratch.path("rope-1"))
    scratch.write("rope-1/result.json", '{"config": {"steps": 1000}}')
    local left = scratch.write("rope-1/result.json.7-abcd0123.tmp", "")
    local held = claims.take(scratch.path("rope-1"))
    new()
    assert.is_true(files.stat(left) ~= nil)
    held:leave("finished")
    new()
    assert.same({ "lease-0001.json", "result.json" }, files.names(scratch.path("rope-1")))
  end)

  it("reports a claim that cannot be read once", function()
    local path = scratch.path("rope-2/lease-0001.json")
    files.make(scratch.path("rope-2"))
    assert(uv.fs_symlink(path, path))
    supervisor:refresh()
    supervisor:refresh()
    assert.equal(1, supervisor.elsewhere)
    assert.same({ "rope-2: counts as running: cannot read " .. path
                  .. ": ELOOP: too many symbolic links encountered" }, said)
  end)

  it("gives up if workers keep dying before they start", function()
    supervisor.jobs = 0 -- starts none itself
    local function die()
      local worker = new_worker()
      worker.status, worker.signal, worker.errors = 1, 0, "no luck\n"
      supervisor:on_exit(worker)
    end
    die()
    die()
    assert.is_true(supervisor:tick())
    listen(new_worker(), 1, "begin")
    die()
    die()
    assert.is_true(supervisor:tick())
    die()
    assert.has_error(function() supervisor:tick() end,
      "sweep: cannot start workers: a worker ended with status 1: no luck")
  end)

  it("gives up on a trial that fails three times if no worker can mark it as failed", function()
    supervisor.jobs = 0 -- starts none itself
    for failures = 1, 3 do
      listen(new_worker(), 1, "fail", { text = "no space" })
      supervisor.workers = {}
      supervisor:refresh()
      assert.equal(failures < 3 and 3 or 2, supervisor.free)
      assert.equal(failures == 3 or nil, supervisor.failed[supervisor.trials[1] ])
    end
  end)

  it("raises an error of a callback at the next tick, since luv would end the process", function()
    supervisor.jobs = 0 -- starts none itself
    supervisor.on_exit = function(self, worker)
      self.workers[worker] = nil
      error("no luck", 0)
    end
    supervisor:start()
    repeat
      uv.run("once")
    until not next(supervisor.workers)
    assert.has_error(function() supervisor:tick() end, "no luck")
    supervisor:stop()
    assert.is_false(supervisor:tick())
  end)

  it("ignores lines that are not messages", function()
    local worker = new_worker()
    supervisor:listen(worker, 'Warning: hot!\n5\n{"event": "begin"}\n{"event": "sing", '
      .. '"trial": "rope-1"}\n{"event": "begin", "trial": "rope-9"}\n')
    assert.is_nil(worker.trial)
    assert.same({}, said)
  end)
end)
