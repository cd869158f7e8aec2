-- Every public function, called with bad values for each argument and option that its help
-- documents: each call raises an error that names the function and the argument.

local bad_calls = require("tests.bad_input.calls")
local comment_of = require("roper.workbench.help.comment")
local roper = require("roper")
local scratch = require("tests.scratch")
local uv = require("luv")
local values = require("tests.bad_input.values")
local verdict = require("tests.bad_input.verdict")

-- The globals of the calls, with the values of the setup.
local function new_globals()
  local globals = setmetatable({ folder = scratch.path("files"), print = function() end,
    roper = roper }, { __index = _G })
  assert(load(values.SETUP, "=setup", "t", globals))()
  return globals
end

-- The problems of the bad calls of functions, and the number of calls of each kind. `own` are more
-- globals.
local function problems_of(entries, own)
  local list, counts, globals = {}, {}, new_globals()
  for _, entry in ipairs(entries) do
    local is_changed = false
    for _, call in ipairs(bad_calls.of(entry)) do
      local problem, ok = verdict.of_call(call, setmetatable(own or {}, { __index = globals }))
      list[#list + 1], is_changed = problem, is_changed or ok
      counts[call.kind] = (counts[call.kind] or 0) + 1
    end
    globals = is_changed and entry.kind == "method" and new_globals() or globals
  end
  return list, counts
end

local function names_in(folder)
  local names = {}
  for name in uv.fs_scandir_next, assert(uv.fs_scandir(folder)) do
    names[#names + 1] = name
  end
  table.sort(names)
  return table.concat(names, " ")
end

describe("bad arguments", function()
  setup(function()
    scratch.create()
    assert(uv.fs_mkdir(scratch.path("files"), 448))
    scratch.write("files/text.txt", "One.\n\nTwo three four.\n")
  end)
  teardown(scratch.remove)

  it("of any public function raise an error that names it and the argument", function()
    local before = names_in(".")
    local problems, counts = problems_of(verdict.entries())
    assert(#problems == 0, ("%d problems; paste the setup and a call:\n%s\n%s"):format(#problems,
      values.SETUP, table.concat(problems, "\n")))
    for kind, least in pairs({ ["too few"] = 400, ["too many"] = 380, ["wrong object"] = 80,
      ["wrong type"] = 6000, ["option of wrong type"] = 6000, ["misspelt option"] = 90,
      ["option out of range"] = 400, ["dtype or shape"] = 1000 }) do
      assert.is_true(counts[kind] > least, kind)
    end
    assert.equal(before, names_in("."))
  end)

  -- The problems of a function with this documentation comment, by the kinds of the calls.
  local function planted(f, ...)
    local comment = comment_of.parse(table.concat({ ... }, "\n") .. "\nfunction planted() end")[1]
    local problems = problems_of({ { path = "planted", name = "planted", kind = "function",
      comment = comment } }, { planted = f })
    local found = {}
    for _, problem in ipairs(problems) do
      found[problem:match("^(.-: .-): ")] = true
    end
    return found
  end

  it("are found if a function does not check them", function()
    local x, n = "---@param x tensor", "---@param n? integer at least 1"
    assert.same({ ["too few: accepted"] = true, ["nil in the middle: accepted"] = true,
      ["wrong type: accepted"] = true, ["out of range: accepted"] = true,
      ["too many: accepted"] = true }, planted(function() end, x, n))
    assert.is_true(planted(function(value)
      return value + value
    end, x)["wrong type: an internal error"])
    assert.is_true(planted(function() error("other: x: expected a tensor") end,
      x)["wrong type: does not name the function"])
    assert.is_true(planted(function() error("planted: expected more") end, x,
      n)["wrong type: does not name the argument"])
    assert.is_true(planted(function(value)
      roper.rand({ 1 })
      error("planted: x: expected a tensor, got " .. type(value))
    end, x)["wrong type: moves the random generator"])
  end)

  it("are named, with the expected value", function()
    local linear, task = roper.nn.Linear({ inputs = 2, outputs = 1 }), roper.tasks.addition()
    local scheme = roper.position.alibi({ heads = 2 })
    for expected, f in pairs({
      ["answers: task: expected a task, got nil"] = function() roper.evaluate.answers(linear) end,
      ["fresh: task: expected a task, got a tensor"] = function()
        roper.evaluate.fresh(roper.ones({ 2 }), 1)
      end,
      ["var: expected at most 4 arguments, got 5"] = function()
        roper.ones({ 2 }):var(1, true, 0, 5)
      end,
      ["var: keep: expected true or false, got 2"] = function() roper.ones({ 2 }):var(1, 2) end,
      ["bad argument #2 to 'sum' (expected true or false, got \"no\")"] = function()
        roper.ones({ 2 }):sum(1, "no")
      end,
      ["bad argument #1 to 'sum' (number expected, got string)"] = function()
        roper.ones({ 2 }):sum("1")
      end,
      ["prod: axis: expected an axis from 1 to 2 (or -1 to -2), got 3"] = function()
        roper.ones({ 2, 2 }):prod(3)
      end,
      ["Transformer: option position: expected a scheme, its name or {type = name, ...}, got true"]
        = function() roper.nn.Transformer({ vocabulary = 3, position = true }) end,
      ["forward: expected at most 3 arguments, got 4"] = function() linear(task, 1, 2) end,
      ["count: expected a Module, got nil; call it with a colon: object:count(...)"] =
        function() linear.count() end,
      ["forward: expected a Linear, got a tensor; call it with a colon: object:forward(...)"] =
        function() linear.forward(roper.ones({ 2 })) end,
      ["step: expected an Optimizer, got a table; call it with a colon: object:step(...)"]
        = function()
        roper.optim.Adam().step({})
      end,
      ["options: expected a Scheme, got nil; call it with a colon: object:options(...)"] =
        function() scheme.options() end,
      ["bad argument #1 to 'no_grad' (function expected, got number)"] = function()
        roper.no_grad(5)
      end,
    }) do
      local ok, message = pcall(f)
      assert.is_false(ok)
      assert.truthy(message:find(expected, 1, true), message)
    end
  end)

  it("may be more than a function takes if they are nil", function()
    assert.equal(4, roper.ones({ 2, 2 }):norm(1, nil, nil, nil, nil):item())
  end)

  -- Found by random calls.
  it("inside lists and option tables are named, too", function()
    local of, x, cycle = {}, roper.ones({ 1, 2, 3, 4 }), {}
    of.task = roper.tasks.addition({ max_digits = 2, length = 40, seed = 1 })
    of.Transformer = roper.nn.Transformer({ vocabulary = of.task:vocabulary(), d_model = 8,
      layers = 1, heads = 2 })
    of.Linear, of.Adam = of.Transformer.logits, roper.optim.Adam()
    of.MultiHeadAttention = of.Transformer.layers[1].attention
    cycle[1] = cycle
    local function message_of(call)
      local ok, message = pcall(table.unpack(call))
      return ok and "no error" or message
    end
    local missing = {}
    for expected, call in pairs({
      ["fields: expected pairs {field, values}, got 3"] = {
        roper.sweep.prepare, "addition", { 3, 2 } },
      ["option stream: expected a table or a userdata, got 3"] = { roper.sweep.run,
        { what = "addition", stream = 3 } },
      ["option cache: expected the layer of a cache, got a table"] = {
        of.MultiHeadAttention.attend, of.MultiHeadAttention, { q = x, k = x, v = x, cache = {} } },
      ["heads: expected a positive integer, got 0"] = { of.MultiHeadAttention.split,
        of.MultiHeadAttention, roper.ones({ 1, 2, 8 }), 0 },
      ["save_training: state.optimizer: expected an optimizer, got a table"] = {
        roper.checkpoint.save_training, "a",
        { model = of.Linear, optimizer = {}, task = of.task } },
      ["given: expected a table, got 2"] = { roper.experiment.configure, "addition", 2 },
      ["config: expected a table, got 2"] = { roper.experiment.describe, "addition", 2 },
      ["config.position: expected a string, got a table"] = { roper.experiment.check,
        { position = {} } },
      ["run.provenance: expected a table, got 4"] = { roper.runs.model,
        { folder = "a", config = {}, provenance = 4 } },
      ["var: correction: expected a finite number, got a table"] = { roper.var, x, 1, true, {} },
      ["std: correction: expected a finite number, got \"a\""] = { roper.std, x, 1, true, "a" },
      ["junk: takes: expected names of options with their kinds"] = { roper.position.register,
        "junk", { takes = { 3 } } },
      ["attention: k: expected a tensor, got true"] = {
        roper.attention, x, true, x, { position = "alibi" } },
      ["oracle.attention: k: expected a tensor, got \"\""] = {
        roper.oracle.attention, x, "", x, { position = "alibi" } },
      ["attention: v: expected a tensor, got nil"] = {
        roper.attention, x, x, nil, { position = "alibi" } },
      ["ablation: option positions: expected a tensor, got a table"] = {
        roper.interpret.ablation, of.Transformer, roper.ones({ 1, 3 }, "int32"),
        { positions = { 1 } } },
      ["flip: axis: expected an axis from 1 to 4 (or -1 to -4), got \"2\""] = { roper.flip, x,
        { "2" } },
      ["option progress: expected an object with update and finish, or false, got a function"] = {
        roper.train, { model = of.Transformer, task = of.task, optimizer = of.Adam, steps = 1,
          progress = type } },
      ["option optimizer: expected an optimizer, got a table"] = {
        roper.train, { model = of.Transformer, task = of.task, optimizer = {}, steps = 1 } },
      ["option ranks: expected the result of roper.ranks, got a table"] = {
        roper.train, { model = of.Transformer, task = of.task, optimizer = of.Adam, steps = 1,
          ranks = { rank = 1, size = 2 } } },
      ["cache: lengths: expected integers from 1 to 4, got nil"] = { of.Transformer.cache,
        of.Transformer, { batch = 2, length = 4, lengths = { nil, 2 } } },
      ["censored: total: expected a non-negative integer, got a table"] = {
        roper.statistics.censored, { 1 }, {}, 3 },
      ["generate: expected a list of prompts, got an empty one"] = { roper.generate,
        of.Transformer, { nil, "1" }, { task = of.task } },
      ["interval: confidence: expected a number from 0 to 1, got \"a\""] = {
        roper.statistics.interval, { 1 }, "a" },
      ["missing: position: expected tables of schemes that are nested at most 10 deep"] = {
        roper.position.missing, cycle },
      ["check: scheme: expected tables of schemes that are nested at most 10 deep"] = {
        roper.position.check, cycle, { dim = 3 } },
      ["Transformer: option position: expected tables of schemes that are nested at most 10"] = {
        roper.nn.Transformer, { vocabulary = 4, position = cycle } },
      ["canonical: position: expected tables of schemes"] = { roper.position.canonical, cycle },
      ["axial: expected a multiple of 18446744073709551616 rotated features"] = {
        roper.position.axial, { dim = 4, coordinates = math.maxinteger } },
    }) do
      local message = message_of(call)
      if not message:find(expected, 1, true) then
        missing[#missing + 1] = ("expected %s, got %s"):format(expected, message)
      end
    end
    assert.same({}, missing)
  end)
end)
