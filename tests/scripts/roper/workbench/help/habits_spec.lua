-- Error messages for lines of PyTorch and Python, with the Lua to type instead.

local habits = require("roper.workbench.help.habits")
local page = require("roper.workbench.help.pytorch")
local process = require("tests.process")
local roper = require("roper")
local scratch = require("tests.scratch")
local session = require("roper.workbench.session.repl.session")
local sessions = require("tests.sessions")
local stdout = require("tests.stdout")

-- Starts a session with the variables of the rows. Returns a function from a line to its output.
local function start()
  require("roper.workbench.help").name_in_failures()
  local globals = { PATH = scratch.path("x.npy") }
  for name, value in pairs(_G) do
    globals[name] = value
  end
  globals._G, globals.roper, globals.plot = globals, roper, roper.plot
  local current = session.new(globals)
  local function answer(line)
    local output, errors, rest = stdout.capture_both(current.feed, current, line)
    assert(rest == nil, "not complete: " .. line)
    return output .. errors
  end
  assert.equal("", answer(page.NAMES))
  assert.equal("", answer("model = roper.nn.Linear{inputs = 3, outputs = 2}"))
  assert.equal("", answer("adam = roper.optim.Adam()"))
  assert.equal("", answer("net, z, opt = model, x, adam; risky = error"))
  assert.equal("", answer("q, task = roper.ones(1, 1, 2, 4), roper.tasks.addition()"))
  return answer
end

-- Rows whose Python is valid Lua with the same meaning.
local SAME <const> = { ["x[-1]"] = true, ["x[i]"] = true, ["x * y + 1"] = true, ["x % 2"] = true }

describe("habits from PyTorch and Python", function()
  local answer

  setup(scratch.create)
  teardown(scratch.remove)
  before_each(function() answer = start() end)

  it("get the Lua of their row of ?pytorch in the error message", function()
    for _, group in ipairs(page.groups) do
      for _, row in ipairs(group.rows) do
        local shown = start()(row[1])
        if SAME[row[1]] then
          assert.falsy(shown:find("^error"), row[1])
        else
          assert.truthy(shown:find(row[2], 1, true), row[1] .. "\n" .. shown)
        end
      end
    end
  end)

  -- Lines, and what the message must contain.
  local LINES <const> = {
    -- with other names than in the rows
    { "z.shape", "call z:shape()" }, { "z.dtype", "call z:dtype()" },
    { "torch.zeros(3)", "roper.zeros(" }, { "F.relu(z)", "x:relu()" },
    { "nn.Linear(3, 4)", "roper.nn.Linear{inputs = 3" }, { "nn.Linear", "roper.nn.Linear{" },
    { "net:train()", "model:training()" }, { "net:eval()", "model:training(false)" },
    { "net.eval()", "model:training(false)" }, { "net:state_dict()", "model:named_parameters()" },
    { "net:zero_grad()", "model:zero_gradients()" },
    { "opt.zero_grad()", "model:zero_gradients()" }, { "z:size()", "x:shape()" },
    { "z.size()", "call it with a colon: z:size()" }, { "z:t()", "x:transpose(1, 2)" },
    { "z:mm(y)", "x:matmul(" }, { "z:cuda()", "on the CPU" }, { "z.device", "on the CPU" },
    { "z.requires_grad", "x:is_parameter()" }, { "z:numpy()", "x:totable()" },
    { "roper.no_grad()", "roper.no_grad(function() y = w * x end)" },
    { "roper.arange(7)", "roper.arange(0, 5)" },
    { "roper.nn.Linear{3, 4}", "{inputs = 3, outputs = 2}" },
    { "roper.nn.Linear(3, 4)", "{inputs = 3, outputs = 2}" }, { "z[:,0]", "x[{{}, 2}]" },
    { "z[0:2]", "x[{{}, {1, 2}}]" }, { "if z != 3 then end", "~= 3" }, { "k += 1", "n = n + 1" },
    { "z = z ** 3", "x ^ 2" }, { "k = [4, 5]", "{1, 2, 3}" },
    { "roper.tensor([1, 2])", "{1, 2, 3}" },
    { "roper.tensor([[1, 2], [3, 4]])", "roper.tensor{{1, 2}, {3, 4}}" },
    { "# the seed", "-- a comment" }, { "# seed", "-- a comment" },
    { "k = 5 # five", "-- a comment" }, { "import numpy as np", "require" },
    { "def forward(z):", "function twice(n)" }, { "len(z)", "#x" },
    -- colons, and undefined variables
    { "deep = {{net}}; deep[1][1].count()", "deep[1][1]:count()" },
    { "net.list = {net}; net.list[1].count()", "net.list[1]:count()" },
    { "z.sum()", "call it with a colon: z:sum()" },
    { "z.mean(1)", "call it with a colon: z:mean(1)" },
    { "z[1].sum()", "call it with a colon: z[1]:sum()" }, { "z:exp().log()", "colon: (…):log(…)" },
    { "net.parameters()", "call it with a colon: net:parameters()" },
    { "net.training(false)", "call it with a colon: net:training(false)" },
    { "net.forward(z)", "call it with a colon: net:forward(z)" },
    { "task.question()", "call it with a colon: task:question()" },
    { "opt.step{w}", "call it with a colon: opt:step{w}" },
    { "do local mine = z; mine.sum() end", "call it with a colon: mine:sum()" },
    { "rope = roper.position.rope{dim = 4}; rope.rotate(q, 1)", "rope:rotate(q, 1)" },
    { "ali = roper.position.alibi{heads = 1}; ali.options()", "ali:options()" },
    { "c = roper.nn.Transformer{vocabulary = 4}:cache{batch = 1, length = 4}; c.holds()",
      "c:holds()" },
    { "roper.attention(q, q, q, {causal = True})", "Python's True is true" },
    { "roper.attention(q, q, q, {causal = Treu})", 'undefined variable "Treu"' },
    { "False", "false" }, { "k = None", "nil" }, { "null", "nil" },
    -- lines without a row
    { "torch.tanh(z)", "x:tanh()" }, { "torch.nn.functional.softmax(z)", "x:softmax(2)" },
    { "np.ones(3)", "roper.ones(" }, { "torch.fft.fft(z)", "?pytorch" },
    { "roper.nn.Conv2d(3)", 'roper.nn has no field "Conv2d"' },
    { "net:freeze()", 'a Linear has no method "freeze"' },
    { "roper.optim.Adam(net:parameters())", "roper.optim.Adam{rate = 1e-3}" },
    { "roper.optim.Adam{lr = 1}", "roper.optim.Adam{rate = 1e-3}" },
    { "z.shape[1]", "call z:shape()" }, { "'shape ' .. z.shape", "call z:shape()" },
    { "list.append(3)", "table.insert(list, 7)" }, { "for i in range(3):", "for k = 0, 2 do" },
    { "while z:", "while n < 3 do" }, { "if z:", "if n then" }, { "lambda k: k", "function(n)" },
    { "print(f'{z}')", "):format(n)" },
  }

  it("get the Lua to type, for any variable names", function()
    for _, line in ipairs(LINES) do
      local shown = start()(line[1])
      assert.truthy(shown:find(line[2], 1, true), line[1] .. "\n" .. shown)
      assert.falsy(shown:find("attempt to index a nil", 1, true), shown)
      assert.falsy(shown:find("did you mean", 1, true), shown)
    end
  end)

  it("get the Lua to type in scripts and after -e", function()
    local path = scratch.write("script.lua", "local z = roper.ones(2)\nprint(z.sum())\n")
    for wanted, command in pairs({
      ["z.sum: call it with a colon: z:sum()"] = { "./roper", path },
      ["is roper.zeros(2, 3) here"] = { "./roper", "-e", "torch.zeros(3)" },
      ["Python's True is true here"] = { "./roper", "-e", "{causal = True}" },
    }) do
      local status, _, errors = process.run(command)
      assert.equal(1, status)
      assert.truthy(errors:find(wanted, 1, true), errors)
    end
  end)

  it("get the Lua to type at the terminal", function()
    local screen = sessions.start()
    screen:type("x = roper.ones{2, 3}\r")
    sessions.enter(screen, "x.shape", "function (C); x.shape is a method: call x:shape()\n")
    sessions.enter(screen, "x.sum()", "error: x.sum: call it with a colon: x:sum()\n")
    sessions.enter(screen, "x[:, 1]",
      "error: unexpected symbol near ':'; PyTorch's x[:, 1] is x[{{}, 2}] here\n")
    sessions.leave(screen)
  end)

  it("are looked up without raising errors from user-defined metatables", function()
    answer("odd = setmetatable({}, {__index = error, __names = error})")
    assert.equal("error: boom\n", answer("error('boom', 0) odd.sum()"))
    assert.matches("^error: ", answer("odd.sum()"))
    assert.matches("^error: attempt to call a nil value %(field 'sum'%)",
      answer("odd = setmetatable({}, {__names = error}); odd.sum()"))
  end)

  it("are looked up quickly in messages with long words", function() -- else this takes hours
    local _, _, errors = process.run({ "./roper", "-e", "error(('x'):rep(1e6), 0)" })
    assert.equal("roper: -e:1: " .. ("x"):rep(1e6) .. "\n", errors)
  end)

  it("leave other error messages as they are", function()
    for _, line in ipairs({ "error('has no field')", "roper.zeros{-1}", "z:sum(7)", "1 + {}",
      "nothing_at_all", "roper.statistics.mean()", "x = = 2", "z:view(7)" }) do
      local shown = answer(line)
      assert.truthy(shown:find("^error"), line)
      assert.falsy(shown:find(" here", 1, true), shown)
    end
    assert.is_true(habits.is_python("for i in range(3):"))
    assert.is_false(habits.is_python("for i = 1, 3 do"))
  end)
end)
