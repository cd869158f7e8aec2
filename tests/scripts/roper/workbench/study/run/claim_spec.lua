local clock = require("roper.system.clock")
local claims = require("roper.workbench.study.run.claim")
local core = require("roper.core")
local files = require("roper.system.file")
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

-- Write a claim of another owner: this process with changes.
local function write(number, changes, state)
  local owner = claims.owner()
  for name, value in pairs(changes) do
    owner[name] = value
  end
  return scratch.write(("run/lease-%04d.json"):format(number), core.json_encode({
    state = state or "running", owner = owner }))
end

describe("claim", function()
  it("ends for this process even if its file cannot be written", function()
    local held = claims.take(folder)
    core.memory_fail_after(0)
    local ok, message = pcall(held.leave, held, "finished")
    core.memory_fail_after(-1)
    assert.is_false(ok)
    assert.matches("out of memory", message)
    assert.equal("free", claims.read(folder).state)
    local _, output = process.run({ "./roper", "-e",
      ("require('roper.workbench.study.run.claim').read(%q).state"):format(folder) })
    assert.equal('"running"\n', output)
    assert.equal(2, claims.take(folder).number)
    assert.equal("running", claims.read(folder).state)
    os.remove(folder .. "/lease-0002.json")
    os.remove(folder .. "/lease-0001.json")
    claims.take(folder)
    assert.equal("running", claims.read(folder).state)
  end)

  it("can be taken again after an error in the middle of taking it", function()
    local names, count = core.folder_names, 0
    finally(function() core.folder_names = names end)
    core.folder_names = function(...)
      count = count + 1
      if count == 2 then -- after the file was created
        return nil, 5
      end
      return names(...)
    end
    assert.error_matches(function() claims.take(folder) end, "cannot list .*: EIO: i/o error")
    assert.truthy(uv.fs_stat(folder .. "/lease-0001.json"))
    assert.equal(2, claims.take(folder).number)
    assert.equal("running", claims.read(folder).state)
  end)

  it("belongs to one process until it is released", function()
    assert.same({ number = 0, state = "free" }, claims.read(folder))
    local held = claims.take(folder)
    assert.equal("running", claims.read(folder).state)
    assert.equal(uv.os_getpid(), claims.read(folder).owner.pid)
    assert.is_nil(claims.take(folder))
    held:check()
    held:leave("released")
    assert.equal("free", claims.read(folder).state)
    local again = claims.take(folder)
    assert.equal(2, again.number)
    assert.has_error(function() held:check() end,
      folder .. ": another worker has taken over, because this one had no heartbeat for too long")
    again:leave("finished")
    assert.equal(3, claims.take(folder).number)
  end)

  it("keeps others from a failed run until it may be retried", function()
    claims.take(folder):leave("failed", "no luck")
    local found = claims.read(folder)
    assert.same({ "failed", "no luck" }, { found.state, found.message })
    assert.is_nil(claims.take(folder))
    claims.retry(folder)
    assert.equal("free", claims.read(folder).state)
    assert.equal(2, claims.take(folder).number)
    claims.retry(folder)
    assert.equal("running", claims.read(folder).state)
  end)

  it("passes on from a killed process", function()
    local status, output = process.run({ "lua5.4", "-e", ([[
      package.path, package.cpath = %q, %q
      print(require("roper.workbench.study.run.claim").take(%q).number)
      local uv = require "luv"
      uv.kill(uv.os_getpid(), "sigkill")
    ]]):format(package.path, package.cpath, folder) })
    assert.equal(137, status)
    assert.equal("1\n", output)
    assert.equal("free", claims.read(folder).state)
    assert.equal(2, claims.take(folder).number)
  end)

  it("distinguishes living owners from dead ones", function()
    local self = claims.owner()
    write(1, {})
    assert.equal("running", claims.read(folder).state)
    for name, value in pairs({ pid = 2 ^ 22 + 7 | 0, start = self.start + 1 }) do
      write(1, { [name] = value })
      assert.equal("free", claims.read(folder).state, name)
    end
  end)

  it("is refused in a system that does not show which processes are alive", function()
    local status, output = process.run({ "unshare", "--map-root-user", "--mount", "sh", "-c",
      'mount -t tmpfs none /proc && echo mounted && exec lua5.4 -e "$0" 2>&1', ([[
      package.path, package.cpath = %q, %q
      print(select(2, pcall(require("roper.workbench.study.run.claim").take, %q)))
    ]]):format(package.path, package.cpath, folder) })
    if status ~= 0 or not output:find("^mounted\n") then
      return pending("this user may mount nothing")
    end
    assert.equal("mounted\ncannot read /proc/self/stat, which shows if the owner of a run is "
      .. "alive; mount /proc\n", output)
    assert.same({}, files.names(folder))
  end)

  it("waits for a heartbeat of another boot, which may be a copy of this machine", function()
    local path = write(1, { boot = "before the power cut" })
    local uptime = clock.uptime
    finally(function() clock.uptime = uptime end)
    for _, case in ipairs({ { 30, 0, "running" }, { 30, 100, "running" }, { 30, 140, "free" },
                            { 300, 280, "running" }, { 300, 320, "free" },
                            { 1e6, claims.LOST - 60, "running" }, { 1e6, claims.LOST + 60, "free" },
                          }) do
      local up, silence, state = table.unpack(case)
      clock.uptime = function() return up end
      uv.fs_utime(path, os.time() - silence, os.time() - silence)
      assert.equal(state, claims.read(folder).state, ("%g %d"):format(up, silence))
    end
  end)

  it("is not blocked by a date in the future", function()
    local path = write(1, { host = "other" })
    for _, case in ipairs({ { -60, "running" }, { 60, "free" }, { 1e8, "free" } }) do
      local date = os.time() + claims.LOST + case[1]
      uv.fs_utime(path, date, date)
      assert.equal(case[2], claims.read(folder).state)
    end
  end)

  it("relies on the heartbeat of a process that it cannot see", function()
    for _, elsewhere in ipairs({ { host = "other" }, { machine = "other", boot = "other" },
                                 { namespace = "pid:[1]" } }) do
      elsewhere.pid = 2 ^ 22 + 7 | 0
      local path = write(1, elsewhere)
      assert.equal("running", claims.read(folder).state)
      uv.fs_utime(path, os.time() - claims.LOST + 60, os.time() - claims.LOST + 60)
      assert.equal("running", claims.read(folder).state)
      uv.fs_utime(path, os.time() - claims.LOST - 60, os.time() - claims.LOST - 60)
      assert.equal("free", claims.read(folder).state)
    end
  end)

  it("has a heartbeat and notices when it was taken over", function()
    local held = claims.take(folder)
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

  it("keeps its heartbeat when the clock is set back", function()
    local held = claims.take(folder)
    local time <const> = os.time
    finally(function() os.time = time end) -- luacheck: ignore 122
    os.time = function(...) return time(...) - 86400 end -- luacheck: ignore 122
    held.beaten = held.beaten - 60
    held:beat()
    assert.is_true(time() - uv.fs_stat(held.path).mtime.sec >= 86400)
  end)

  it("is taken over by a single process", function()
    write(1, { pid = 2 ^ 22 + 7 | 0 })
    -- The winner marks it as failed; otherwise it would be free at its end.
    local script = scratch.write("take.lua", ([[
      package.path, package.cpath = %q, %q
      local held = require("roper.workbench.study.run.claim").take(%q)
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

  it("does not reuse the number of a removed claim", function()
    local create = files.create
    -- Between reading the folder and creating lease 1, other processes claim, finish and clean up.
    files.create = function(...)
      files.create = create
      for _ = 1, 2 do
        claims.take(folder):leave("released")
      end
      claims.take(folder):forget_others()
      return create(...)
    end
    local held = claims.take(folder)
    files.create = create
    assert.is_nil(held)
    assert.same({ "lease-0003.json" }, files.names(folder))
    assert.equal("running", claims.read(folder).state)
  end)

  it("is cleaned up only after a dead owner", function()
    local left = scratch.write("run/lease-0001.json.7-abcd0123.tmp", "")
    write(1, {})
    claims.clean(folder)
    assert.truthy(uv.fs_stat(left))
    write(1, { pid = 2 ^ 22 + 7 | 0 })
    claims.clean(folder)
    assert.same({ "lease-0001.json" }, files.names(folder))
  end)

  it("can be marked as failed when its owner died", function()
    local dead <const> = 2 ^ 22 + 7 | 0
    write(1, { pid = dead })
    claims.mark_failed(folder, dead + 1, "not me")
    assert.equal("free", claims.read(folder).state)
    claims.mark_failed(folder, dead, "out of memory")
    assert.same({ "failed", "out of memory" },
                { claims.read(folder).state, claims.read(folder).message })
  end)

  it("counts as running if it cannot be read", function()
    local path = scratch.path("run/lease-0001.json")
    assert(uv.fs_symlink(path, path))
    local problem = ("cannot read %s: ELOOP: too many symbolic links encountered"):format(path)
    local found = { number = 1, state = "running", problem = problem }
    assert.same(found, claims.read(folder))
    assert.same({ n = 2, nil, found }, table.pack(claims.take(folder)))
    uv.fs_unlink(path)
    assert.equal(0, (process.run({ "mkfifo", path })))
    assert.equal("running", claims.read(folder).state)
    assert.error_matches(function() claims.read(path) end, "^cannot list .*: ENOTDIR: ")
  end)

  it("ignores numbers that are too large", function()
    scratch.write("run/lease-9223372036854775807.json", "")
    local held = claims.take(folder)
    assert.equal(1, held.number)
    held:leave("released")
    local last = scratch.write("run/lease-999999998.json", "")
    held = claims.take(folder)
    assert.equal(999999999, held.number)
    held:forget_others()
    assert.same({ "lease-9223372036854775807.json", "lease-999999999.json" },
                files.names(folder))
    held:leave("released")
    assert.has_error(function() claims.take(folder) end,
      ("%s: no claim can follow %s"):format(folder, last:gsub("8%.json$", "9.json")))
  end)

  it("counts a damaged file as free", function()
    for i, text in ipairs({ "", "{", "[]", "null", '{"state": "running"}', "{}",
                                '{"state": "running", "owner": {"pid": "x"}}' }) do
      scratch.write(("run/lease-%04d.json"):format(i), text)
      assert.same({ number = i, state = "free" }, claims.read(folder))
    end
    assert.equal(8, claims.take(folder).number)
  end)
end)
