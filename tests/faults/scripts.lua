-- The scripts in which calls fail. Each has
--   prepare(folder): a context, made once
--   reset(context): restores the files and the weights as they were before the script
--   run(context): the script; returns a text of its results
--   check(context, may_leave): raises an error if a run damaged what was there before or, unless
--     may_leave is true, left temporary files
--   repeats: true if a run after one that failed, without a reset, has the same result
--   tolerates: names of calls that may fail without an error; the result is then as without a fault
--   explains: true if the result may contain an error message instead of a part
--   faults: arm and disarm, if the calls of another process fail
local core = require "roper.core"
local files = require "roper.system.file"
local models = require "tests.models"
local report = require "roper.workbench.study.report"
local roper = require "roper"
local sessions = require "roper.workbench.session.repl.session"
local sweep = require "roper.workbench.study.sweep"
local uv = require "luv"

local M = {}

-- All numbers of a model's parameters, as bytes.
local function bits(model)
  local parts = {}
  for _, entry in ipairs(model:named_parameters()) do
    for _, value in ipairs(entry.tensor:detach():view { -1 }:totable()) do
      parts[#parts + 1] = ("<d"):pack(value)
    end
  end
  return ("%016x"):format(core.hash(table.concat(parts)))
end

local function copied(model)
  local weights = {}
  for i, entry in ipairs(model:named_parameters()) do
    weights[i] = entry.tensor:detach():clone()
  end
  return weights
end

local function restore(model, weights)
  for i, entry in ipairs(model:named_parameters()) do
    entry.tensor:detach():copy(weights[i])
    entry.tensor.grad = nil
  end
end

local function one_of(found, states)
  for _, state in pairs(states) do
    if found == state then
      return
    end
  end
  error("the weights belong to no step", 0)
end

local function remove(folder)
  assert(os.execute(("rm -rf '%s'"):format(folder)))
end

-- Raises an error if a folder contains what an unfinished write leaves.
local function check_names(folder, may_leave)
  for _, name in ipairs(may_leave and {} or files.names(folder)) do
    if name:find "%.tmp$" or name:find "%.work$" then
      error("left behind: " .. name, 0)
    end
  end
end

local function train(model, options)
  core.random_state(1, 0)
  local all = { model = model, task = models.task(), batch = 2, optimizer = roper.optim.Adam(),
    progress = false }
  for name, value in pairs(options) do
    all[name] = value
  end
  return roper.train(all)
end

local STEPS <const> = 2

M.step = {
  prepare = function()
    local model = models.small { dropout = 0.1 }
    local context = { model = model, weights = copied(model), states = {} }
    for steps = 0, STEPS do
      restore(model, context.weights)
      if steps > 0 then
        train(model, { steps = steps })
      end
      context.states[steps] = bits(model)
    end
    return context
  end,
  reset = function(context)
    restore(context.model, context.weights)
  end,
  run = function(context)
    train(context.model, { steps = STEPS })
    return bits(context.model)
  end,
  check = function(context)
    one_of(bits(context.model), context.states)
  end,
}

local function resume(folder, steps)
  local model = models.small { dropout = 0.1 }
  train(model, { run = folder, resume = true, steps = steps, checkpoint_every = 1 })
  return bits(model)
end

M.checkpoint = {
  repeats = true,
  prepare = function(folder)
    local context = { old = folder .. "/old", run = folder .. "/run", states = {} }
    for steps = 1, 1 + STEPS do
      context.states[steps] = resume(context.old, steps)
      if steps == 1 then
        assert(os.execute(("cp -r '%s' '%s'"):format(context.old, context.run)))
      end
    end
    remove(context.old)
    assert(os.rename(context.run, context.old))
    return context
  end,
  reset = function(context)
    remove(context.run)
    assert(os.execute(("cp -r '%s' '%s'"):format(context.old, context.run)))
  end,
  run = function(context)
    local trained = resume(context.run, 1 + STEPS)
    local loaded = bits(roper.load(context.run .. "/checkpoint.safetensors"))
    assert(loaded == trained)
    return loaded
  end,
  check = function(context, may_leave)
    check_names(context.run, may_leave)
    one_of(bits(roper.load(context.run .. "/checkpoint.safetensors")), context.states)
    require("roper.training.metrics").read(context.run .. "/metrics.jsonl")
  end,
}

M.generate = {
  repeats = true,
  prepare = function()
    return { model = models.small(), task = models.task() }
  end,
  reset = function() end,
  run = function(context)
    local options = { task = context.task, limit = 5, temperature = 1, seed = 1 }
    return table.concat(roper.generate(context.model, { "?s='abcd'; s[1:]=='" }, options), "|")
  end,
  check = function() end,
}

M.tokens = {
  repeats = true,
  prepare = function(folder)
    local context = { text = folder .. "/text", cache = folder .. "/cache" }
    files.write(context.text, ("A line of text.\n\nAnother one.\n\n"):rep(20))
    return context
  end,
  reset = function(context)
    remove(context.cache)
  end,
  run = function(context)
    local task = roper.tasks.text { files = { context.text }, documents = "paragraphs",
      tokenizer = "bytes", cache = context.cache, length = 20, seed = 1 }
    local rows = task:batch(3):view { -1 }:totable()
    for _, name in ipairs(files.names(context.cache)) do
      rows[#rows + 1] = name:find "%.tokens$"
        and core.hash(files.read(context.cache .. "/" .. name))
    end
    return table.concat(rows, " ")
  end,
  check = function(context, may_leave)
    check_names(context.cache, may_leave)
  end,
}

local FIELDS <const> = { preset = "smoke", letters = 3, length = 41, d_model = 16, problems = 2,
  test_sequences = 4, evaluate_every = 20, checkpoint_every = 20, steps = 20, position = "rope",
  seed = 1 }

local function swept(folder)
  local stream <close> = assert(io.tmpfile())
  local found, failed = sweep.run { what = "substring_index", folder = folder, jobs = 1,
    threads = 1, stream = stream, fields = FIELDS }
  local run = found.trials[1].run
  if failed > 0 or run.failure then -- a finished run may fail to be read
    stream:seek "set"
    error(run.failure or stream:read "a", 0) -- a failure that cannot be written is only printed
  end
  return ("%s %.17g %.17g"):format(run.status, run.result.loss, run.result.accuracy)
end

M.sweep = {
  repeats = true,
  -- The name of the process namespace is one of several signs by which an owner is recognized. A
  -- module that cannot be opened in one folder is found in another one. Lua reads a file of code
  -- again if its first byte could not be read. A worker that gets no input is replaced. A rehearsal
  -- that fails is repeated with more sequences, and then lists the experiments again.
  tolerates = { readlink = true, open = true, opendir = true, read = true, write_socket = true },
  prepare = function(folder)
    return { folder = folder .. "/sweep" }
  end,
  reset = function(context)
    remove(context.folder)
  end,
  run = function(context)
    return swept(context.folder)
  end,
  check = function(context, may_leave)
    check_names(context.folder, may_leave)
  end,
}

-- Lets the calls of processes fail whose command line contains a text.
local function of_process(text)
  local path
  return {
    arm = function(class, at, times, number, is_short)
      path = path or os.tmpname()
      uv.os_setenv("FAULTS_COUNT", path)
      uv.os_setenv("FAULTS", text)
      uv.os_setenv("FAULTS_ARM", ("%s %d %d %d %d"):format(class, at, times, number,
        is_short and 1 or 0))
    end,
    disarm = function()
      uv.os_unsetenv "FAULTS_ARM"
      local count, struck = (files.read(path) or "0 "):match "^(%d+) (%S*)"
      uv.fs_unlink(path)
      return math.tointeger(tonumber(count)), struck ~= "" and struck or nil
    end,
  }
end

M.worker = {
  repeats = true,
  -- The sweep starts another worker, which resumes from the checkpoint.
  tolerates = setmetatable({}, { __index = function() return true end }),
  faults = of_process "sweep.worker",
  prepare = M.sweep.prepare,
  reset = M.sweep.reset,
  run = M.sweep.run,
  check = M.sweep.check,
}

M.program = {
  -- /proc/self/limits, files that libraries read, and memory, for which OpenBLAS asks again.
  tolerates = { open = true, fstat = true, read = true, mmap = true },
  faults = of_process "lua5.4",
  prepare = function(folder)
    return { output = folder .. "/output", errors = folder .. "/errors" }
  end,
  reset = function() end,
  run = function(context)
    local ok, how, status = os.execute(("./roper -e 'roper.ones{2}:sum():item()' >'%s' 2>'%s'")
      :format(context.output, context.errors))
    if not ok then
      error(how == "exit" and status < 128 and files.read(context.errors)
        or ("the program ended by %s %s"):format(how, status), 0)
    end
    return files.read(context.output)
  end,
  check = function() end,
}

M.report = {
  repeats = true,
  prepare = function(folder)
    swept(folder .. "/sweep")
    return { folder = folder .. "/sweep" }
  end,
  reset = function() end,
  run = function(context)
    local view = report.read(context.folder)
    local path = report.write(view)
    report.write_csv(view, context.folder .. "/csv")
    return report.text(view) .. files.read(path)
  end,
  explains = true,
  check = function(context, may_leave)
    check_names(context.folder, may_leave)
    local page = files.read(context.folder .. "/report.html")
    assert(not page or page:find "</html>%s*$", "the page is incomplete")
  end,
}

local LINES <const> = { "x = roper.arange(0, 6):view{2, 3}", "(x:matmul(x:transpose(1, 2))):sum()",
  "y = {1, 2, x}", "for i = 1, 3 do", "  y[i] = x[1]", "end", "y", "?roper.matmul" }

-- A stream that keeps what is written to it.
local function recorder()
  local parts = {}
  local stream = { parts = parts, flush = function() return true end,
    setvbuf = function() return true end, seek = function() return nil end }
  function stream.write(self, ...)
    for i = 1, select("#", ...) do
      parts[#parts + 1] = tostring((select(i, ...)))
    end
    return self
  end
  return stream
end

M.repl = {
  prepare = function()
    return { globals = setmetatable({ roper = roper }, { __index = _G }) }
  end,
  reset = function(context)
    context.session = sessions.new(context.globals)
    context.out, context.err = recorder(), recorder()
  end,
  run = function(context)
    local out, err = io.stdout, io.stderr
    rawset(io, "stdout", context.out)
    rawset(io, "stderr", context.err)
    local ok, problem = pcall(function()
      local rest
      for _, line in ipairs(LINES) do
        rest = context.session:feed(rest and rest .. "\n" .. line or line)
      end
    end)
    rawset(io, "stdout", out)
    rawset(io, "stderr", err)
    if not ok then
      error("the session ended: " .. tostring(problem), 0)
    elseif context.err.parts[1] then
      error(table.concat(context.err.parts), 0)
    end
    return table.concat(context.out.parts)
  end,
  check = function(context)
    context.out, context.err = recorder(), recorder() -- the same session continues
    M.repl.run(context)
  end,
}

return M
