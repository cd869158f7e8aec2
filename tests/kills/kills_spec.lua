local attacks = require("tests.kills.attack")
local files = require("roper.system.file")
local power_cut = require("tests.kills.power_cut")
local process = require("tests.process")
local scratch = require("tests.scratch")
local tables = require("roper.base.tables")
local watch = require("tests.kills.watch")

local missing = watch.missing()

before_each(scratch.create)
after_each(scratch.remove)

local function test(name, f)
  it(name, function()
    return missing and pending(missing) or f()
  end)
end

describe("a power cut", function()
  -- The files and their content after a script and a power cut.
  local function after(mode, script, seed)
    local folder, disk = scratch.path("folder"), scratch.path("disk")
    os.execute(("rm -rf '%s' '%s'"):format(folder, disk))
    files.make(folder)
    files.make(disk)
    watch.run({ "sh", "-c", 'cd "$0"; ' .. script, folder }, { folder = folder, disk = disk })
    math.randomseed(seed or 1)
    power_cut.apply(folder, disk, mode, math.random)
    return table.concat(tables.map(files.names(folder), function(name)
      return name .. "=" .. files.read(folder .. "/" .. name)
    end), " ")
  end

  test("keeps what was flushed", function()
    for _, mode in ipairs(power_cut.MODES) do
      assert.equal("a=old", after(mode, "printf old > a; sync a ."))
    end
  end)

  test("may drop data and names that were not flushed, in any order", function()
    local script = "printf old > a; sync a .; printf er >> a; mv a b"
    assert.equal("a=old", after("lost", script))
    assert.equal("b=old", after("reordered", script))
    local seen = ""
    for seed = 1, 16 do
      seen = seen .. after("mixed", script, seed) .. "\n"
    end
    for _, outcome in ipairs({ "a=old", "b=old", "=older", "=old\0\0", "=old\n", "\n\n" }) do
      assert.truthy(seen:find(outcome), outcome)
    end
    assert.equal("", after("lost", "printf new > a; sync a"))
    assert.equal("a=", after("reordered", "printf new > a; sync ."))
  end)
end)

describe("a job", function()
  test("is complete after kills and power cuts", function()
    local attack, names = attacks.on("train", scratch.path("root"))
    local count = #names
    assert.same({ kills = 4, cuts = 3 }, attack(1, { { call = count // 3 },
      { call = count // 2, cut = "mixed" }, { call = count // 3, cut = "lost" },
      { call = 20, cut = "reordered" } }))
  end)

  test("fails if data or names are not flushed", function()
    local library = scratch.path("ignored_fsync.so")
    assert(os.execute(("cc -shared -fPIC -o '%s' tests/kills/ignored_fsync.c"):format(library)))
    for ignored, mode in pairs({ files = "reordered", folders = "lost", all = "mixed" }) do
      local attack, names = attacks.on("save", scratch.path("root"), {
        LD_PRELOAD = (os.getenv("LD_PRELOAD") or "") .. ":" .. library, FSYNC = ignored })
      local result = attack(1, { { call = #names - 1, cut = mode } })
      assert.equal(1, result.cuts)
      assert.is_truthy(result.problem, ignored)
    end
  end)

  test("fails if something is left behind or differs", function()
    local attack = attacks.on("save", scratch.path("root"))
    local names = files.names
    finally(function() files.names = names end)
    for _, change in ipairs({ "left", "changed" }) do
      files.names = function(path)
        if path == scratch.path("root/work") then
          local changed <close> = io.open(path .. (change == "left" and "/b.safetensors.1.tmp"
            or "/a.npy"), "a")
          changed:write(" ")
        end
        return names(path)
      end
      assert.error_matches(function() error(attack(1, {}).problem or "none", 0) end,
        change == "left" and "b.safetensors.1.tmp is left behind" or "a.npy")
    end
  end)
end)

describe("a run", function()
  test("does not lock git's index, since its death would leave the lock", function()
    local reason = process.missing("git")
    if reason then
      return pending(reason)
    end
    local status, folder = process.run({ "git", "rev-parse", "--absolute-git-dir" })
    if status ~= 0 then
      return pending("no work tree of git")
    end
    local found = watch.run({ "./roper", "-e", "return require('roper.system.info').commit()" },
      { folder = folder:match("[^\n]+") })
    assert.truthy(found.output:match("%x"), found.output)
    assert.same({}, found.names)
  end)
end)
