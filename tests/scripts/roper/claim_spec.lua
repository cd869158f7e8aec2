local claim = require("roper.claim")
local core = require("roper.core")
local folders = require("roper.folder")
local process = require("tests.process")
local scratch = require("tests.scratch")
local uv = require("luv")

local folder

before_each(function()
  scratch.create()
  folder = scratch.path("run")
  uv.fs_mkdir(folder, 493)
end)
after_each(scratch.remove)

-- Write a claim of somebody else: this process with changes.
local function write(number, changes, state)
  local owner = claim.identity()
  for name, value in pairs(changes) do
    owner[name] = value
  end
  return scratch.write(("run/claim-%04d.json"):format(number), core.json_encode({
    state = state or "running", owner = owner }))
end

describe("claim", function()
  it("is one process's until it is given back", function()
    assert.same({ number = 0, state = "free" }, claim.read(folder))
    local held = claim.take(folder)
    assert.equal("running", claim.read(folder).state)
    assert.equal(uv.os_getpid(), claim.read(folder).owner.pid)
    assert.is_nil(claim.take(folder))
    held:check()
    held:leave("released")
    assert.equal("free", claim.read(folder).state)
    local again = claim.take(folder)
    assert.equal(2, again.number)
    assert.has_error(function() held:check() end,
      folder .. ": another worker has taken over; this one was silent for too long")
    again:leave("finished")
    assert.equal(3, claim.take(folder).number)
  end)

  it("keeps others away from what failed, until it is forgiven", function()
    claim.take(folder):leave("failed", "no luck")
    local found = claim.read(folder)
    assert.same({ "failed", "no luck" }, { found.state, found.message })
    assert.is_nil(claim.take(folder))
    claim.forgive(folder)
    assert.equal("free", claim.read(folder).state)
    assert.equal(2, claim.take(folder).number)
    claim.forgive(folder)
    assert.equal("running", claim.read(folder).state)
  end)

  it("passes from a process that was killed", function()
    local status, output = process.run({ "lua5.4", "-e", ([[
      package.path, package.cpath = %q, %q
      print(require("roper.claim").take(%q).number)
      local uv = require "luv"
      uv.kill(uv.os_getpid(), "sigkill")
    ]]):format(package.path, package.cpath, folder) })
    assert.equal(137, status)
    assert.equal("1\n", output)
    assert.equal("free", claim.read(folder).state)
    assert.equal(2, claim.take(folder).number)
  end)

  it("tells the living from the dead", function()
    local self = claim.identity()
    write(1, {})
    assert.equal("running", claim.read(folder).state)
    for name, value in pairs({ pid = 2 ^ 22 + 7 | 0, start = self.start + 1,
                               boot = "before the power cut" }) do
      write(1, { [name] = value })
      assert.equal("free", claim.read(folder).state, name)
    end
  end)

  it("trusts the heartbeat of what it can not see", function()
    for _, elsewhere in ipairs({ { host = "other" }, { machine = "other", boot = "other" },
                                 { namespace = "pid:[1]" } }) do
      elsewhere.pid = 2 ^ 22 + 7 | 0
      local path = write(1, elsewhere)
      assert.equal("running", claim.read(folder).state)
      uv.fs_utime(path, os.time() - claim.LOST + 60, os.time() - claim.LOST + 60)
      assert.equal("running", claim.read(folder).state)
      uv.fs_utime(path, os.time() - claim.LOST - 60, os.time() - claim.LOST - 60)
      assert.equal("free", claim.read(folder).state)
    end
  end)

  it("beats now and then, and notices when it was taken over", function()
    local held = claim.take(folder)
    uv.fs_utime(held.path, 1, 1)
    held:beat()
    assert.equal(1, uv.fs_stat(held.path).mtime.sec) -- too early
    held.beaten = held.beaten - 60
    held:beat()
    assert.is_true(os.time() - uv.fs_stat(held.path).mtime.sec < 30)
    write(2, {})
    held:beat()
    held.beaten = held.beaten - 60
    assert.error_matches(function() held:beat() end, "another worker has taken over")
  end)

  it("is taken over by one alone", function()
    write(1, { pid = 2 ^ 22 + 7 | 0 })
    -- The one that has it leaves it as failed: at its end it would be free again.
    local script = scratch.write("take.lua", ([[
      package.path, package.cpath = %q, %q
      local held = require("roper.claim").take(%q)
      if held then
        held:leave("failed", "enough")
      end
      print(held and "mine" or "another's")
    ]]):format(package.path, package.cpath, folder))
    local status, output = process.run({ "sh", "-c",
      ("for i in 1 2 3 4 5 6 7 8; do lua5.4 %s & done; wait"):format(script) })
    assert.equal(0, status)
    local _, mine = output:gsub("mine\n", "")
    local _, others = output:gsub("another's\n", "")
    assert.same({ 1, 7 }, { mine, others })
  end)

  it("is not had by the number of one that was removed", function()
    local create = folders.create
    -- Between a look at the folder and the creation of claim 1, others come, go, and clean up.
    folders.create = function(...)
      folders.create = create
      for _ = 1, 2 do
        claim.take(folder):leave("released")
      end
      claim.take(folder):forget_others()
      return create(...)
    end
    local held = claim.take(folder)
    folders.create = create
    assert.is_nil(held)
    assert.same({ "claim-0003.json" }, folders.names(folder))
    assert.equal("running", claim.read(folder).state)
  end)

  it("can be condemned when its owner died of it", function()
    local dead <const> = 2 ^ 22 + 7 | 0
    write(1, { pid = dead })
    claim.condemn(folder, dead + 1, "not me")
    assert.equal("free", claim.read(folder).state)
    claim.condemn(folder, dead, "out of memory")
    assert.same({ "failed", "out of memory" },
                { claim.read(folder).state, claim.read(folder).message })
  end)

  it("takes a damaged file for nobody's", function()
    for i, text in ipairs({ "", "{", "[]", "null", '{"state": "running"}', "{}" }) do
      scratch.write(("run/claim-%04d.json"):format(i), text)
      assert.same({ number = i, state = "free" }, claim.read(folder))
    end
    assert.equal(7, claim.take(folder).number)
  end)
end)
