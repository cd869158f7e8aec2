local own = require("roper.tasks.own")
local roper = require("roper")

local FILE <const> = "tests/scripts/roper/tasks/own_spec.lua"

-- A definition of reversal with changes; false removes a member.
local function definition(changes)
  local all = {
    options = { { "letters", { smallest = 1, largest = 20 }, 4, "in a problem" },
      { "length", { smallest = 2, largest = 100 }, 20, "tokens in a row" } },
    vocabulary = { "a", "b", "c", ">", ";" },
    stop = ";",
    generate = function(options, random)
      local letters = {}
      for i = 1, random(options.letters) do
        letters[i] = random:choice({ "a", "b", "c" })
      end
      local text = table.concat(letters)
      return text .. ">", text:reverse() .. ";"
    end,
  }
  for name, value in pairs(changes or {}) do
    all[name] = value or nil
    if value == false then
      all[name] = nil
    end
  end
  return all
end

local count = 0

-- Registers a definition under a new name; returns the name.
local function register(changes)
  count = count + 1
  local name = "spec" .. count
  roper.tasks.register(name, definition(changes))
  return name
end

local function task_of(changes, options)
  return roper.tasks[register(changes)](options)
end

local function refuses(changes, expected)
  local ok, message = pcall(register, changes)
  assert.is_false(ok)
  assert.truthy(message:find(FILE, 1, true), message)
  assert.truthy(message:find(expected, 1, true), message)
  assert.is_nil(own.find("spec" .. count))
end

describe("tasks.register", function()
  it("makes a task like any other", function()
    local name = register()
    assert.is_true(roper.tasks.has_problems(name))
    assert.truthy((" " .. table.concat(roper.tasks.list(), " ") .. " "):find(" " .. name .. " "))
    local options = roper.tasks.options(name)
    assert.same({ "length", "letters" }, { options[1][1], options[2][1] })
    assert.same({ { smallest = 1, largest = 20 }, 4 }, { options[2][2], options[2][3] })
    local task = roper.tasks[name]({ letters = 3, seed = 5 })
    assert.equal(name .. "{length = 20, letters = 3, seed = 5}", tostring(task))
    assert.same({ name, 20, 20, ";", 3 }, { task:name(), task:length(), task:longest(),
      task:stop(), task:options().letters })
    assert.same({ "a", "b", "c", ">", ";" }, task:vocabulary())
    assert.is_nil(task:floor())
    assert.error_matches(function() roper.tasks[name]({ letter = 3 }) end,
      'unknown option letter; did you mean "letters"')
    assert.error_matches(function() roper.tasks[name]({ letters = 21 }) end, "from 1 to 20")
  end)

  it("fills rows with problems, and marks the answers", function()
    local task = task_of()
    local tokens, marks = task:batch(5, { answers = true })
    assert.same({ 5, 20 }, tokens:shape())
    assert.equal("int32", tokens:dtype())
    for row = 1, 5 do
      local text, answers = task:decode(tokens[row]), ""
      for question, answer in text:gmatch("([abc]+)>([abc]*;?)") do
        assert.equal((question:reverse() .. ";"):sub(1, #answer), answer)
      end
      for i, mark in ipairs(marks[row]:totable()) do
        answers = answers .. (mark == 1 and text:sub(i, i) or " ")
      end
      assert.equal(text:gsub("[abc]+>", function(part) return (" "):rep(#part) end)
        :gsub("[abc]+$", function(part) return (" "):rep(#part) end):gsub("%s+$", ""),
        (answers:gsub("[abc]+$", ""):gsub("%s+$", "")))
    end
    assert.equal(1, select("#", task:batch(1)))
  end)

  it("gives the same rows for the same seed, whatever else draws random numbers", function()
    local name = register()
    local first = roper.tasks[name]({ seed = 3 }):batch(4):totable()
    roper.seed(9)
    roper.rand(5)
    math.random()
    local task = roper.tasks[name]({ seed = 3 })
    for row = 1, 4 do
      assert.same(first[row], task:batch(1):totable()[1])
    end
    assert.not_same(first, roper.tasks[name]({ seed = 4 }):batch(4):totable())
    local seed, counter = task:random()
    local question = task:question()
    task:set_random(seed, counter)
    assert.equal(question, (task:question()))
    assert.same(3, task:options().seed)
  end)

  it("has a hash of its problems", function()
    local task = task_of()
    assert.truthy(task:hash():find("^%x+$"))
    assert.equal(task:hash(), task_of():hash())
    assert.not_equal(task:hash(), task_of({}, { letters = 5 }):hash())
    assert.is_nil(roper.tasks.copy():hash())
  end)

  it("does not advance roper's own generator", function()
    roper.seed(4)
    local before = { roper.random_state() }
    task_of():batch(3)
    assert.same(before, { roper.random_state() })
  end)

  it("grades by the answer, by stop, and by a function", function()
    local task = task_of()
    local question, answer = task:question()
    assert.is_true(task:grade(question, answer))
    assert.is_false(task:grade(question, "a" .. answer))
    assert.equal(answer, task:answer(question))
    assert.error_matches(function() task:answer("aaaa>") end,
      'the answer to "aaaa>" is not known: the task spec%d+ has no function answer')
    local solver = task_of({
      answer = function(asked) return asked:sub(1, -2):reverse() .. ";" end,
    })
    assert.equal("cba;", solver:answer("abc>"))
    assert.is_true(solver:grade("abc>", "cba;"))
    local lenient = task_of({ grade = function(_, text) return text:find(";$") ~= nil end })
    assert.is_true(lenient:grade("abc>", "b;"))
    assert.is_false(lenient:grade("abc>", "b"))
  end)

  it("passes on Ctrl-C in the function that answers", function()
    local is_pressed = false
    local task = task_of({ grade = function() return true end, answer = function(asked)
      if is_pressed then
        error("interrupted", 0)
      end
      return asked:sub(1, -2):reverse() .. ";"
    end })
    is_pressed = true
    assert.same({ false, "interrupted" }, { pcall(task.grade, task, "abc>", "cba;") })
  end)

  it("takes lists of tokens, of several bytes too, and encodes the longest token", function()
    local task = task_of({ vocabulary = { "zwei", "drei", "größer", "=", "1", "10", ";" },
      generate = function(_, random)
        return { random:choice({ "zwei", "drei" }), "größer", "=" }, { "10", ";" }
      end })
    assert.same({ 2, 3, 5, 4 }, task:encode("größer=101"):totable())
    assert.truthy(task:decode(task:batch(1)[1]):find("^....größer=10;....größer=10;"))
    assert.equal("1", task:decode({ 4 }))
    assert.error_matches(function() task:encode("zwoelf") end, 'got "z" at index 1')
    assert.error_matches(function() task:decode({ 7 }) end, "token ids from 0 to 6, got 7")
    assert.same({ 0 }, task:encode(""):shape())
  end)

  it("shows a whole character that is no token", function()
    assert.error_matches(function() task_of():encode("aé>") end, 'got "é" at index 2$')
    assert.error_matches(function() task_of():encode("a\xFF>") end, 'got "\\xFF" at index 2$')
  end)

  it("takes whole rows, whose first token is the question", function()
    local task = task_of({ stop = false, generate = function(options, random)
      local row = {}
      for i = 1, options.length do
        row[i] = random:choice({ "a", "b" })
      end
      return row
    end })
    local tokens, marks = task:batch(2, { answers = true })
    assert.same({ 2, 20 }, tokens:shape())
    assert.same({ 0, 1 }, { marks:totable()[1][1], marks:totable()[2][2] })
    local question, answer = task:question()
    assert.same({ 1, 19 }, { #question, #answer })
  end)

  it("sets positions and a floor", function()
    local task = task_of({ floor = function(options) return options.letters / 4 end,
      positions = function(tokens, options)
        local list = {}
        for i, token in ipairs(tokens) do
          list[i] = token == ">" and options.letters or i / 2
        end
        return list
      end })
    assert.same({ 1, 0 }, { task:floor() })
    local positions = task:positions(task:encode("ab>b"):view({ 1, -1 }))
    assert.equal("float64", positions:dtype())
    assert.same({ { 0.5, 1, 4, 2 } }, positions:totable())
    assert.is_nil(task_of():positions(task:encode("ab"):view({ 1, -1 })))
    assert.error_matches(function() task:positions(task:encode("ab")) end, "expected int32 tokens")
  end)

  it("poses problems up to the longest of its own", function()
    local short, long = task_of({}, { letters = 2 }), task_of({}, { letters = 8 })
    assert.is_true(short:poses("ab>", "ba;"))
    assert.is_false(short:poses("abc>", "cba;"))
    assert.is_false(short:poses("xyz"))
    local question = roper.evaluate.problem(long, short)
    assert.is_true(#question > 3)
    assert.error_matches(function() roper.evaluate.problem(short, long) end, "found none in 10000")
  end)

  it("trains, evaluates and samples without a floor", function()
    local task = task_of({}, { letters = 2, length = 16 })
    local model = roper.nn.Transformer({ vocabulary = task:vocabulary(), d_model = 16, layers = 1,
      heads = 2 })
    roper.train({ model = model, task = task, steps = 3, batch = 2, progress = false,
      optimizer = roper.optim.Adam() })
    local found = roper.evaluate.answers(model, task, { sequences = 4 })
    assert.is_true(found.loss > 0)
    assert.is_nil(found.floor)
    assert.is_nil(found.floor_answers)
    assert.same({}, found.by_distance)
    assert.equal(0.5, roper.evaluate.answers(model, task_of({ floor = function() return 0.5 end }),
      { sequences = 4 }).floor)
    local solved, samples = roper.evaluate.solve(model, task, { problems = 5 })
    assert.same({ "number", 5 }, { type(solved), #samples })
    local longer = roper.evaluate.longer(model, task, { { letters = 5 } }, { problems = 2,
      sequences = 2 })
    assert.equal("letters=5", longer[1].name)
  end)

  it("can run the same file again", function()
    local name = register()
    roper.tasks.register(name, definition({ vocabulary = { "a", "b", "c", ">", ";", "x" } }))
    assert.equal(6, #roper.tasks[name]():vocabulary())
  end)
end)

describe("the check of a task", function()
  it("refuses names that exist, and invalid ones", function()
    for name, expected in pairs({ copy = "is a built-in task", text = "is a built-in task",
                                  list = "or a function of roper.tasks",
                                  ["a b"] = 'letters, digits and _, got "a b"',
                                  [1] = "got 1" }) do
      local ok, message = pcall(function() roper.tasks.register(name, definition()) end)
      assert.is_false(ok)
      assert.truthy(message:find(FILE, 1, true))
      assert.truthy(message:find(expected, 1, true), message)
    end
    local other = assert(load("local r, d = ... r.tasks.register('twice_spec', d)", "@other.lua"))
    other(roper, definition())
    assert.error_matches(function() roper.tasks.register("twice_spec", definition()) end,
      "own_spec.lua: the task twice_spec is already registered, by other.lua; choose another name")
  end)

  it("names what is missing or wrong in a definition", function()
    refuses({ generate = false }, "option generate: expected a function, got nil")
    refuses({ generates = 1 }, 'unknown option generates; did you mean "generate"')
    refuses({ vocabulary = {} }, "vocabulary: expected a list of strings, got an empty one")
    refuses({ vocabulary = { "a", 2 } }, "expected a list of strings, got 2 at index 2")
    refuses({ vocabulary = { "a", b = "c" } }, "strings, got a table with other keys")
    refuses({ vocabulary = { "a", "" } }, "got an empty one at index 2")
    refuses({ vocabulary = { "a", "b", "a" } }, 'got "a" at the indices 1 and 3')
    refuses({ stop = "#" }, 'stop: expected a token of the vocabulary, got "#"')
    refuses({ options = { "letters" } }, "options: row 1: expected rows")
    refuses({ options = { { "letters", "lots", 2 } } }, "options: row 1: letters: expected a kind")
    refuses({ options = { { "letters", "size", 0 } } },
      "letters: the default: expected a positive integer, got 0")
    refuses({ options = { { "length", { smallest = 2, largest = 1 << 53 }, 9 } } }, "length: "
      .. "expected the kind {smallest = .., largest = ..} from 2 to 1048576, got {smallest = 2, "
      .. "largest = 9007199254740992}")
    refuses({ options = { { "length", "size", 9 } } }, "length: expected the kind {smallest = ..")
    refuses({ options = { { "seed", "integer", 0 } } }, "seed is added to every task")
    refuses({ options = { { "n", "size", 1 }, { "n", "size", 1 } } }, "row 2: n is the name")
    refuses({ longer = { "digits" } }, 'longer: no option "digits" with a number')
    refuses({ longer = 2 }, "longer: expected a list of options or a function, got 2")
    assert.error_matches(function() roper.tasks.register("nothing_spec") end,
      "task nothing_spec %(.*own_spec.lua%): expected a table with vocabulary and generate")
  end)

  it("refuses tokens outside the vocabulary, and wrong shapes or lengths", function()
    local function returns(...)
      local results = table.pack(...)
      return { generate = function() return table.unpack(results, 1, results.n) end }
    end
    refuses(returns("ax>", "a;"), 'problem 0: the question: expected tokens of the vocabulary, got '
      .. '"x" at index 2 of "ax>"')
    refuses(returns("aé>", "a;"), 'got "é" at index 2')
    refuses(returns("a\xFF>", "a;"), "at index 2")
    refuses(returns({ "a", "x" }, "a;"), 'the question: expected a list of tokens of the '
      .. 'vocabulary, got "x" at index 2')
    refuses(returns({ "a", 7 }, "a;"), "got 7 at index 2")
    refuses(returns({ a = 1 }, "a;"), "got nil at index 1")
    refuses(returns(5, "a;"), "the question: expected a text or a list of tokens, got 5")
    refuses(returns("a>", false), "the answer: expected a text or a list of tokens, got false")
    refuses(returns(nil), "the row: expected a text or a list of tokens, got nil")
    refuses(returns("", "a;"), "expected at least one token in the question, got none")
    refuses(returns("a>", ""), "expected at least one token in the answer, got none")
    refuses(returns("a>", "a"), 'the answer: expected the stop token ";" at its end')
    refuses(returns("a>", ";a;"), 'the answer: expected the stop token ";" at its end')
    refuses(returns(("a"):rep(20), "a;"), "expected at most length = 20 tokens, got 22")
    refuses(returns("abc"), "expected a question and an answer, or a row of length = 20 tokens, "
      .. "got one value of 3 tokens")
    refuses({ stop = false }, "expected answers of one length, or a definition with stop")
    refuses({ vocabulary = { "a", "aa", ">", ";" },
      generate = function() return { "a", "a", ">" }, "a;" end }, "reads as other tokens")
  end)

  it("refuses other problems for the same seed", function()
    local calls = 0
    refuses({ generate = function() return math.random() < 0.5 and "a>" or "b>", "a;" end },
      "expected the same problem for the same seed")
    refuses({ generate = function()
      calls = calls + 1
      return ("a"):rep(calls % 5 + 1) .. ">", "a;"
    end }, "not math.random, and keep no state")
    roper.seed(3)
    refuses({ generate = function()
      return roper.randint(1, 2, { 1 }):item() > 1 and "a>" or "b>", "a;"
    end }, "but it used roper's global generator")
    assert.same({ 3, 0 }, { roper.random_state() })
  end)

  it("reports errors of the functions, and results of other types", function()
    refuses({ generate = function() error("on purpose") end }, "generate raised an error (")
    refuses({ generate = function() error({ code = 7 }) end },
      "generate raised an error: error object {code = 7}")
    refuses({ generate = function(_, random) return random(3, 1) end },
      "random: expected integers m <= n")
    refuses({ positions = function() return { 1 } end }, "positions: expected a list of")
    refuses({ positions = function(tokens) return table.pack(("x"):rep(#tokens)) end },
      "finite numbers, one for each token")
    refuses({ positions = function(tokens)
      local list = {}
      for i = 1, #tokens do
        list[i] = i == 2 and 1 / 0 or i
      end
      return list
    end }, "finite numbers, one for each token, got inf at index 2")
    refuses({ positions = function(tokens)
      local list = {}
      for i = 1, #tokens do
        list[i] = #tokens - i
      end
      return list
    end }, "positions: expected positions that do not depend on later tokens, got ")
    refuses({ floor = function() return -1 end }, "floor: expected a finite non-negative number, "
      .. "got -1")
    refuses({ grade = function() return 1 end }, "grade: expected true or false, got 1")
    refuses({ grade = function() return false end }, "grade: expected true for ")
    refuses({ answer = function() return "a;" end }, "which generate returns for")
  end)

  it("waits until the task is created if an option is required", function()
    local name = register({ options = { { "letters", "size", nil, "in a problem" } },
      generate = function(options) return ("x"):rep(options.letters), "a;" end })
    assert.error_matches(function() roper.tasks[name]() end, "option letters: expected a positive")
    assert.error_matches(function() roper.tasks[name]({ letters = 2 }) end,
      "own_spec.lua%): generate: problem 0: the question: expected tokens of the vocabulary")
  end)

  it("does not let generate change the options", function()
    local task = task_of({ generate = function(options)
      options.letters = options.letters + 1
      return ("a"):rep(options.letters) .. ">", "a;"
    end })
    assert.equal("aaaaa>", (task:question()))
    assert.equal("aaaaa>", (task:question()))
  end)
end)

describe("help", function()
  it("describes a registered task and completes its options", function()
    local name = register({ summary = "reverse\nletters" })
    local text = require("roper.workbench.help").text("roper.tasks." .. name, { roper = roper })
    assert.truthy(text:find("Creates the task " .. name .. ": reverse letters.", 1, true))
    assert.truthy(text:find("letters +integer = 4: in a problem, from 1 to 20\n"))
    local complete = require("roper.workbench.session.repl.complete")
    local globals = { roper = roper }
    assert.same({ "letters = " }, (complete.names("roper.tasks." .. name .. "{let", globals)))
    assert.same({ "roper.tasks." .. name }, (complete.names("roper.tasks." .. name, globals)))
  end)
end)

describe("tasks.random", function()
  it("draws integers and numbers like math.random", function()
    local random, seen = roper.tasks.random(7, 3), {}
    for _ = 1, 300 do
      local n, m, x = random(6), random(-2, 2), random()
      assert.is_true(n >= 1 and n <= 6 and m >= -2 and m <= 2 and x >= 0 and x < 1)
      assert.same({ "integer", "float" }, { math.type(m), math.type(x) })
      seen[n] = (seen[n] or 0) + 1
    end
    for n = 1, 6 do
      assert.is_true(seen[n] > 20)
    end
    assert.equal(5, random(5, 5))
    assert.is_true(random(0, 0xFFFFFFFE) >= 0)
    for _, range in ipairs({ { 2, 1 }, { 0 }, { 1.5, 2 }, { 0, 0xFFFFFFFF }, { "x", 3 },
                             { math.mininteger, math.maxinteger } }) do
      assert.error_matches(function() random(table.unpack(range)) end, "random: expected integers")
    end
  end)

  it("gives each problem numbers of its own", function()
    local function draws(seed, index)
      local random, list = roper.tasks.random(seed, index), {}
      for i = 1, 8 do
        list[i] = random(1000000)
      end
      return list
    end
    assert.same(draws(1, 2), draws(1, 2))
    assert.not_same(draws(1, 2), draws(1, 3))
    assert.not_same(draws(1, 2), draws(2, 2))
    assert.same(draws(1), draws(1, 0))
  end)

  it("shuffles in place", function()
    local list = { 1, 2, 3, 4, 5, 6, 7, 8 }
    assert.equal(list, roper.tasks.random(2):shuffle(list))
    assert.not_same({ 1, 2, 3, 4, 5, 6, 7, 8 }, list)
    table.sort(list)
    assert.same({ 1, 2, 3, 4, 5, 6, 7, 8 }, list)
    assert.error_matches(function() roper.tasks.random(2):choice({}) end, "got an empty one")
  end)
end)
