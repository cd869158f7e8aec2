-- Runs one spec of the project in the engine of a page, in place of busted, which needs C modules.
-- A test that fails after it asked for what a page lacks, such as another program, is skipped with
-- this reason.
local uv = require("luv")
local luassert = require("luassert")
local differences = dofile("/roper/tests/web/differences.lua")

local file = ...

local function send(message)
  require("host").send(require("roper.core").json_encode(message))
end

local function report(title, result, reason)
  send({ title = title, outcome = result, reason = reason and tostring(reason) })
end

local lacking -- what the running test asked for in vain

local function lacks(what)
  return function()
    lacking = lacking or what
    error("a page has no " .. what, 2)
  end
end

local function remove(path)
  local stat = uv.fs_stat(path)
  if stat and stat.type == "directory" then
    for _, name in ipairs(require("roper.system.file").names(path)) do
      remove(path .. "/" .. name)
    end
    uv.fs_rmdir(path)
  elseif stat then
    uv.fs_unlink(path)
  end
  return true
end

local function copy(from, to)
  local files = require("roper.system.file")
  if uv.fs_stat(from).type ~= "directory" then
    return files.write(to, files.read(from))
  end
  files.make(to)
  for _, name in ipairs(files.names(from)) do
    copy(from .. "/" .. name, to .. "/" .. name)
  end
end

-- Specs remove, make and copy folders by programs.
local function make(...)
  for _, path in ipairs({ ... }) do
    require("roper.system.file").make(path)
  end
end

local COMMANDS <const> = { ["rm -rf"] = remove, ["cp -r"] = copy, ["mkdir -p"] = make }

local function execute(line)
  for command in (line or "a shell"):gmatch("%s*([^&]+)") do
    local paths, name = {}, command:gsub(" '([^']*)'%f[%s\0]", "")
    for path in command:gmatch(" '([^']*)'%f[%s\0]") do
      paths[#paths + 1] = path
    end
    local run = COMMANDS[name:match("^(.-)%s*$")] or lacks("programs")
    run(table.unpack(paths))
  end
  return true
end

local PID <const> = 1

-- What missing functions of luv are for.
local LUV <const> = { new_pipe = "programs", spawn = "programs", fs_symlink = "symbolic links",
  fs_chmod = "permissions" }

local PRESS <const> = require("roper.core").json_encode({ interrupt = true })

-- SIGINT to this process only.
local function kill(process, signal)
  if process ~= PID or signal ~= "sigint" then
    lacks("signals")()
  end
  require("host").send(PRESS)
end

-- A folder, for fs_scandir_next.
local function fs_scandir(folder)
  return { folder = folder, names = require("roper.system.file").names(folder) }
end

local function fs_scandir_next(list)
  local name = table.remove(list.names, 1)
  if name then
    return name, uv.fs_stat(list.folder .. "/" .. name).type
  end
end

local function prepare()
  package.path = "./?.lua;" .. package.path
  uv.chdir("/roper")
  require("roper.core").interrupt_disable()
  require("roper.text.progress").on_screen = nil
  rawset(os, "execute", execute)
  rawset(io, "popen", lacks("programs"))
  local open = io.open
  rawset(io, "open", function(path, ...)
    lacking = lacking or type(path) == "string" and path:match("^(/proc)/") or lacking
    return open(path, ...)
  end)
  uv.kill, uv.os_getpid = kill, function() return PID end
  uv.fs_scandir, uv.fs_scandir_next = fs_scandir, fs_scandir_next
  setmetatable(uv, { __index = function(_, name)
    if name == "new_signal" then -- tests.process ignores a signal when it is loaded
      return function()
        return { start = function() end, unref = function() end, close = function() end }
      end
    end
    return lacks(LUV[name] or "uv." .. name)
  end })
  local process = require("roper.system.process")
  for _, name in ipairs({ "need", "has", "shell", "output", "start", "run", "lua" }) do
    local refuse = process[name]
    process[name] = function(...)
      lacking = lacking or "programs"
      return refuse(...)
    end
  end
  package.loaded.busted = setmetatable({}, { __index = _G })
  luassert:set_parameter("TableErrorHighlightColor", "none")
end

local block = { children = {} }
local PENDING = {}

local HOOKS = { setup = "setup", teardown = "teardown", strict_setup = "setup",
  strict_teardown = "teardown", lazy_setup = "setup", lazy_teardown = "teardown",
  before_each = "before", after_each = "after" }

local finals -- of the running test

local function define()
  _G.assert = luassert
  function _G.describe(title, body)
    local outer = block
    block = { title = title, parent = outer, children = {} }
    table.insert(outer.children, block)
    body()
    block = outer
  end
  _G.insulate, _G.expose, _G.context = describe, describe, describe
  function _G.it(title, body)
    table.insert(block.children, { title = title, body = body })
  end
  _G.test, _G.spec = it, it
  for name, hook in pairs(HOOKS) do
    _G[name] = function(f)
      block[hook] = block[hook] or {}
      table.insert(block[hook], f)
    end
  end
  function _G.pending(reason)
    error(setmetatable({ reason = reason }, PENDING), 0)
  end
  function _G.finally(f)
    table.insert(finals, f)
  end
  -- Two helpers of busted's own.
  _G.mock, _G.spy, _G.stub = require("luassert.mock"), require("luassert.spy"),
    require("luassert.stub")
  _G.match = require("luassert.match")
end

local function explain(failure)
  if getmetatable(failure) == PENDING then
    return failure
  end
  local text = type(failure) == "table" and failure.message or failure
  return debug.traceback(tostring(text), 2)
end

-- Calls the hooks of a block and of those around it, outermost first.
local function call_all(node, hook)
  if node then
    call_all(node.parent, hook)
    for _, f in ipairs(node[hook] or {}) do
      f()
    end
  end
end

local function outcome(title, ok, failure)
  local reason = lacking and "has no " .. lacking or differences[title:gsub("^%S+_spec.lua ", "")]
  if ok then
    report(title, "passed")
  elseif getmetatable(failure) == PENDING then
    report(title, "skipped", failure.reason)
  elseif reason then
    report(title, "skipped", "a page " .. reason)
  else
    report(title, "failed", failure)
  end
end

local function run_test(node, title, test)
  lacking, finals = nil, {}
  local snapshot = luassert:snapshot()
  local ok, failure = xpcall(function()
    call_all(node, "before")
    test.body()
  end, explain)
  for _, f in ipairs(finals) do
    pcall(f)
  end
  local asked = lacking -- what is asked for after the test does not matter
  pcall(call_all, node, "after")
  lacking = asked
  snapshot:revert()
  outcome(title, ok, failure)
end

local function run_block(node, title)
  lacking = nil
  local ok, failure = xpcall(function()
    for _, f in ipairs(node.setup or {}) do
      f()
    end
  end, explain)
  local reason = lacking
  for _, child in ipairs(node.children) do
    local name = title .. " " .. tostring(child.title)
    if child.children then
      run_block(child, name)
    elseif not child.body or child.title:find("#long") then
      report(name, "skipped", "long")
    elseif not ok then
      lacking = reason
      outcome(name, false, failure)
    else
      run_test(node, name, child)
    end
  end
  for _, f in ipairs(node.teardown or {}) do
    pcall(f)
  end
end

prepare()
define()
local chunk = assert(loadfile(file))
local ok, failure = xpcall(chunk, explain)
if not ok then
  outcome(file, false, failure)
end
run_block(block, file)
