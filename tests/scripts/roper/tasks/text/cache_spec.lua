local cache = require("roper.tasks.text.cache")
local core = require("roper.core")
local process = require("tests.process")
local roper = require("roper")
local scratch = require("tests.scratch")
local subprocess = require("roper.system.process")
local sentencepiece = require("tests.sentencepiece")
local uv = require("luv")

-- Tokenization is killed so often, and begun again.
local KILLS <const> = tonumber(os.getenv("ROPER_KILLS") or 5)

local KINDS <const> = { "bytes", "sentencepiece" }

local LICENCES <const> = "'/usr/share/common-licenses'"

-- Lua that writes the tokens of files, by default of two licences, into a folder of the cache, and
-- prints "done" or the error.
local function maker(folder, tokenizer, before, text)
  return ([[%s
    require("roper.tasks.text.cache").BATCH = 5000 -- several
    local ok, message = pcall(require("roper").tasks.text, {
      files = { %s }, documents = "paragraphs", vocabulary = 400, tokenizer = %q, cache = %q })
    print(ok and "done" or message, count)]]):format(before or "",
    text or "'/usr/share/common-licenses/GPL-1', '/usr/share/common-licenses/GPL-2'", tokenizer,
    folder)
end

-- The content of a folder of the cache, by ending.
local function kept(folder)
  local found = {}
  for name in uv.fs_scandir_next, assert(uv.fs_scandir(folder)) do
    local kind = uv.fs_stat(folder .. "/" .. name).type
    found[name:match("[^.]*$")] = kind == "file" and scratch.read(folder .. "/" .. name) or kind
  end
  return found
end

local function lua(code)
  return subprocess.lua({ "-e", code })
end

local paths = { LUA_PATH = package.path, LUA_CPATH = package.cpath }

-- The output of code in a process of its own.
local function output_of(code, changes)
  local environment = { LUA_PATH = package.path, LUA_CPATH = package.cpath }
  for name, value in pairs(changes or {}) do
    environment[name] = value
  end
  local _, output = process.run(lua(code), nil, environment)
  return output
end

describe("the cache of text", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  -- A test for both tokenizers.
  local function test(name, f)
    for _, tokenizer in ipairs(KINDS) do
      it(name .. ", " .. tokenizer, function()
        if tokenizer == "sentencepiece" and sentencepiece.missing then
          return pending(sentencepiece.missing)
        end
        f(tokenizer)
      end)
    end
  end

  test("has the same bytes however often its writer was killed", function(tokenizer)
    -- The number of thousands of Lua instructions it takes; then the process is killed after each
    -- such number.
    local count = [[
      count = 0
      debug.sethook(function() count = count + 1 end, "", 1000)]]
    local die = [[
      local uv, thousands = require "luv", %d
      debug.sethook(function()
        thousands = thousands - 1
        if thousands < 0 then
          uv.kill(uv.os_getpid(), "sigkill")
        end
      end, "", 1000)]]
    local took = output_of(maker(scratch.path("whole"), tokenizer, count)):match("^done\t(%d+)\n$")
    local whole, folder = kept(scratch.path("whole")), scratch.path("killed")
    assert.is_nil(whole.work)
    uv.fs_mkdir(folder, tonumber("755", 8))
    math.randomseed(1)
    local killed, tries = 0, 0
    while killed < KILLS do
      tries = tries + 1
      assert.is_true(tries <= 10 * KILLS, killed)
      local output = output_of(maker(folder, tokenizer, die:format(math.random(took) - 1)))
      killed = killed + (output == "" and 1 or 0)
      local left = kept(folder)
      assert.is_true(left.tokens == nil or left.tokens == whole.tokens)
      assert.is_true(left.model == nil or left.model == whole.model)
      if output == "done\tnil\n" then -- too late; begin from nothing
        os.execute(("rm -rf '%s'/*"):format(folder))
      end
    end
    assert.equal("done\tnil\n", output_of(maker(folder, tokenizer)))
    assert.same(whole, kept(folder))
  end)

  test("removes the work files of a writer that was killed at its end", function(tokenizer)
    local folder = scratch.path("cache")
    output_of(maker(folder, tokenizer))
    local whole = kept(folder)
    local name
    for found in uv.fs_scandir_next, assert(uv.fs_scandir(folder)) do
      name = name or found:match("^(.*)%.tokens$")
    end
    uv.fs_mkdir(("%s/%s.work"):format(folder, name), tonumber("755", 8))
    scratch.write(("cache/%s.work/lines.txt"):format(name), "left")
    assert.equal("done\tnil\n", output_of(maker(folder, tokenizer)))
    assert.same(whole, kept(folder))
  end)

  test("is created once by several processes", function(tokenizer)
    local folder, running = scratch.path("shared"), {}
    local code = maker(folder, tokenizer, [[
      local core = require "roper.core"
      local create = core.corpus_create
      core.corpus_create = function(...) print "makes" return create(...) end]], LICENCES)
    for i = 1, 3 do
      running[i] = uv.new_pipe()
      running[i] = { pipe = running[i], text = "" }
      running[i].process = process.spawn(lua(code), { nil, running[i].pipe }, paths)
      running[i].pipe:read_start(function(_, data)
        running[i].text = running[i].text .. (data or "")
        if not data then
          running[i].pipe:close()
          running[i].closed = true
        end
      end)
    end
    local makers, output = 0, ""
    for _, one in ipairs(running) do
      while not one.closed or one.process.open > 0 do
        uv.run("once")
      end
      output = output .. one.text
    end
    uv.run("nowait")
    for _ in output:gmatch("makes") do
      makers = makers + 1
    end
    assert.equal(1, makers, output)
    assert.equal(3, select(2, output:gsub("done", "")))
  end)

  test("raises an error if the disk is full, and is created later", function(tokenizer)
    local function try(kilobytes)
      local folder = scratch.path("disk")
      uv.fs_mkdir(folder, tonumber("755", 8))
      local status, output, errors = process.run({ "unshare", "--map-root-user", "--mount", "sh",
        "-c", ([[mount -t tmpfs -o size=%dk none '%s' && "$@"; ls '%s']]):format(kilobytes, folder,
          folder), "sh", table.unpack(lua(maker(folder, tokenizer, nil, LICENCES))) }, nil, paths)
      return status, output, errors
    end
    local status, output, errors = try(4000)
    if status ~= 0 or errors:find("unshare") or errors:find("mount") then
      return pending("no file system of our own here: " .. errors)
    end
    assert.truthy(output:find("^done\t.*%.tokens\n"), output)
    for _, kilobytes in ipairs({ 8, 80, 240, 300 }) do
      _, output = try(kilobytes)
      assert.is_nil(output:find("^done\t") or output:find("%.tokens\n"), output)
      assert.truthy(output:lower():find("no space") or output:find("is the disk full?", 1, true),
        output)
    end
  end)

  test("is rejected if it is damaged, and created again if it was removed", function(tokenizer)
    local folder = scratch.path("kept")
    assert.equal("done\tnil\n", output_of(maker(folder, tokenizer)))
    local whole, path = kept(folder), nil
    for name in uv.fs_scandir_next, assert(uv.fs_scandir(folder)) do
      path = name:find("%.tokens$") and folder .. "/" .. name or path
    end
    assert(os.execute(("truncate -s -100 '%s'"):format(path)))
    local output = output_of(maker(folder, tokenizer))
    assert.truthy(output:find("it is truncated; remove it and run again to rebuild it\tnil\n$"),
      output)
    local other = core.corpus_create(path, 300, 3)
    other:end_document("training", 0)
    other:finish()
    assert.truthy(output_of(maker(folder, tokenizer)):find(
      "belongs to another text; remove it and run again to rebuild it\tnil\n$"))
    os.remove(path)
    assert.equal("done\tnil\n", output_of(maker(folder, tokenizer)))
    assert.same(whole, kept(folder))
  end)

  it("trains a removed model again, and reports how to replace a damaged one", function()
    if sentencepiece.missing then
      return pending(sentencepiece.missing)
    end
    local folder, path = scratch.path("kept"), nil
    assert.equal("done\tnil\n", output_of(maker(folder, "sentencepiece")))
    for name in uv.fs_scandir_next, assert(uv.fs_scandir(folder)) do
      path = name:find("%.model$") and folder .. "/" .. name or path
    end
    local whole = kept(folder)
    assert(os.execute(("truncate -s -100 '%s'"):format(path)))
    assert.truthy(output_of(maker(folder, "sentencepiece")):find(
      "got a damaged file or one of another kind; remove it and run again to rebuild it\tnil\n$"))
    os.remove(path)
    assert.equal("done\tnil\n", output_of(maker(folder, "sentencepiece")))
    assert.same(whole, kept(folder))
  end)

  it("leaves no usable file if it fails", function()
    if sentencepiece.missing then
      return pending(sentencepiece.missing)
    end
    local folder = scratch.path("failed")
    assert.error_matches(function()
      roper.tasks.text({ files = scratch.write("text", "some\n\nwords"), documents = "paragraphs",
        cache = folder })
    end, "a vocabulary of 8000 is too large for the text; use at most")
    assert.same({ lock = "" }, kept(folder))
  end)

  test("raises an error if the text changes while it is read", function(tokenizer)
    local text = scratch.write("text", ("one\n\ntwo, three\n\n"):rep(200))
    local code = ([[
      local source = require "roper.tasks.text.source"
      local each, times = source.each, 0
      source.each = function(...)
        times = times + 1
        if times == 2 then
          io.open(%q, "a"):write("more\n\nof it"):close()
        end
        return each(...)
      end
      print(pcall(require("roper").tasks.text, { files = %q, documents = "paragraphs",
        tokenizer = %q, vocabulary = 270, cache = %q }))]]):format(text, text, tokenizer,
      scratch.path("cache"))
    local output = output_of(code)
    assert.truthy(output:find("text: the files changed while they were read; run again\n$"), output)
    for name in uv.fs_scandir_next, assert(uv.fs_scandir(scratch.path("cache"))) do
      assert.falsy(name:find("%.tokens") or name:find("%.model"))
    end
  end)

  it("names the package if SentencePiece is missing", function()
    local output = output_of(maker(scratch.path("cache"), "sentencepiece"),
      { PATH = scratch.path("empty") })
    assert.truthy(output:find("cannot find the program spm_train; install it "
      .. "(in Debian: apt-get install sentencepiece)", 1, true), output)
    assert.is_nil(kept(scratch.path("cache")).tokens)
  end)

  it("is below ~/.cache, or in the given folder", function()
    local code = [[print(pcall(require("roper.tasks.text.cache").standard_folder))]]
    assert.equal("true\t/home/a/.cache/roper\n", output_of(code,
      { HOME = "/home/a", XDG_CACHE_HOME = false }))
    assert.equal("true\t/b/roper\n", output_of(code, { HOME = "/home/a", XDG_CACHE_HOME = "/b" }))
    assert.truthy(output_of(code, { HOME = false, XDG_CACHE_HOME = false }):find(
      "text: no folder for tokens; set HOME or pass the option cache", 1, true))
  end)

  it("rejects a folder that cannot be written to", function()
    assert.error_matches(function()
      cache.open({ files = { "/usr/share/common-licenses" }, tokenizer = "bytes", validation = 0,
        cache = "/proc/none" })
    end, "cannot make the folder /proc/none")
  end)
end)
