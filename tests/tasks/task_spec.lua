local checks = require("tests.tasks.checks")
local core = require("roper.core")
local roper = require("roper")

local nan = 0 / 0

-- Those that C implements.
for _, name in ipairs(core.tasks.list()) do
  local make = roper.tasks[name]
  local given = checks.small(name)

  describe("tasks." .. name, function()
    it("uses the default of every option that is not given", function()
      local options = make():options()
      for _, row in ipairs(roper.tasks.options(name)) do
        assert.equal(row[3], options[row[1]])
      end
      assert.equal(1, options.seed)
    end)

    it("keeps its options, which create the same task", function()
      local task = make(given)
      assert.same(given, task:options())
      assert.equal(50, task:length())
      assert.same(task:batch(2):totable(), make(task:options()):batch(2):totable())
    end)

    it("rejects values outside each option's range, and names both", function()
      for _, row in ipairs(roper.tasks.options(name)) do
        local kind = type(row[2]) == "table" and row[2] or {}
        local range = kind[1] and "one of " .. table.concat(kind, ", ") or kind.smallest
          and ("an integer from %d to %d"):format(kind.smallest, kind.largest) or "true or false"
        range = ("tasks.%s: option %s: expected %s, got "):format(name, row[1], range)
        local wrong = {
          (kind.smallest or 0) - 1, (kind.largest or 1) + 1, math.maxinteger, math.mininteger,
          2.5, nan, math.huge, "8", {}, kind.smallest and true or 1,
        }
        for _, value in ipairs(wrong) do
          local ok, message = pcall(make, { [row[1]] = value })
          assert.is_false(ok)
          assert.truthy(message:find(range, 1, true), message)
        end
      end
    end)

    it("works at both ends of each option's range", function()
      for _, row in ipairs(roper.tasks.options(name)) do
        for _, value in ipairs(checks.ends(row[2])) do
          local task = make({ [row[1]] = value })
          assert.same({ 1, task:length() }, task:batch(1):shape())
          assert.is_true(task:grade(task:question()))
        end
      end
    end)

    it("prints as the expression that makes it", function()
      local source = tostring(make(given))
      assert.same(given, load("return (...)." .. source, "", "t", {})(roper.tasks):options())
    end)
  end)

  describe(name .. ":batch", function()
    it("returns int32 [rows, length] ids and marks", function()
      local task = make(given)
      local tokens, answers = task:batch(3, { answers = true })
      assert.same({ 3, 50 }, tokens:shape())
      assert.same({ 3, 50 }, answers:shape())
      assert.equal("int32", tokens:dtype())
      assert.equal("int32", answers:dtype())
      for _, options in ipairs({ {}, { answers = false } }) do
        assert.equal(1, select("#", task:batch(3, options)))
      end
      assert.equal(1, select("#", task:batch(3)))
    end)

    it("depends on the seed only, row by row", function()
      local whole = make(given):batch(4):totable()
      local one = make(given)
      for row = 1, 4 do
        assert.same(whole[row], one:batch(1):totable()[1])
      end
      local other = make(given)
      other:set_random(8, 0)
      assert.not_same(whole, other:batch(4):totable())
    end)
  end)

  describe(name .. ":positions", function()
    local task = make(given)

    it("are float64 and finite for any text, or nil", function()
      roper.seed(1)
      local tokens = roper.randint(0, #task:vocabulary() - 1, { 40, 60 })
      local positions = task:positions(tokens)
      assert.equal(given.coupled or false, positions ~= nil)
      if positions then
        assert.same({ 40, 60 }, positions:shape())
        assert.equal("float64", positions:dtype())
        assert.is_true(positions:min():item() >= 0 and positions:max():item() < 60)
        assert.same({ 0, 3 }, task:positions(roper.zeros({ 0, 3 }, "int32")):shape())
      end
    end)
  end)

  describe(name .. ":random", function()
    it("is a state to continue from, for batches and questions", function()
      local task = make(given)
      task:batch(2)
      local seed, counter = task:random()
      local batch = task:batch(2):totable()
      local question, answer = task:question()
      local options = task:options()
      options.seed = -5
      local twin = make(options)
      twin:set_random(seed, counter)
      assert.same(batch, twin:batch(2):totable())
      assert.same({ question, answer }, { twin:question() })
      assert.same({ task:random() }, { twin:random() })
    end)

    it("starts with the seed, at 0, and accepts every integer", function()
      for _, seed in ipairs({ 0, -1, math.maxinteger, math.mininteger }) do
        local task = make({ seed = seed })
        assert.same({ seed, 0 }, { task:random() })
        task:set_random(seed, seed)
        assert.same({ seed, seed }, { task:random() })
        task:batch(1)
      end
    end)

    it("is not changed by floor", function()
      local task = make(given)
      task:batch(1)
      local before = { task:random() }
      local nats, error = task:floor()
      assert.same(before, { task:random() })
      assert.same({ nats, error }, { task:floor() })
      assert.same({ nats, error }, { make(given):floor() })
    end)
  end)

  describe(name .. ":encode and :decode", function()
    local task = make(given)
    local vocabulary = task:vocabulary()

    it("are each other's inverse on the whole vocabulary, in ASCII order", function()
      local text = table.concat(vocabulary)
      local ids = task:encode(text):totable()
      for id, character in ipairs(vocabulary) do
        assert.equal(id - 1, ids[id])
        assert.is_true(id == 1 or vocabulary[id - 1] < character)
      end
      assert.equal(text, task:decode(ids))
      assert.equal(text, task:decode(task:encode(text)))
      assert.equal("", task:decode(task:encode("")))
      assert.equal("", task:decode({}))
    end)

    it("use every character, and no other", function()
      local used = {}
      local long = make()
      local rows = long:batch(64)
      for row = 1, 64 do
        for character in long:decode(rows[row]):gmatch(".") do
          used[character] = true
        end
      end
      local list = {}
      for character in pairs(used) do
        list[#list + 1] = character
      end
      table.sort(list)
      assert.same(long:vocabulary(), list)
    end)

    it("reject a character outside the vocabulary, with its index", function()
      local known = vocabulary[2]
      assert.error_matches(function() task:encode(known .. "~") end,
                           'task:encode: expected .*got "~" at index 2')
      assert.error_matches(function() task:encode("\0") end, 'got "\\x00" at index 1')
      assert.error_matches(function() task:encode("é") end, 'got "é" at index 1')
    end)

    it("reject an id outside the vocabulary, with its index", function()
      for _, id in ipairs({ -1, #vocabulary }) do
        assert.error_matches(function() task:decode({ 0, id }) end,
                             ("expected token ids from 0 to %d, got %d at index 2")
                               :format(#vocabulary - 1, id):gsub("%-", "%%-"))
      end
      for _, id in ipairs({ 1 << 32, 0.5, nan, "x", {} }) do
        assert.error_matches(function() task:decode({ id }) end,
                             "token ids from 0 to .* at index 1")
      end
    end)
  end)

  describe(name .. ":grade", function()
    it("accepts the given answer, rejects a shorter, longer or empty one", function()
      local task = make(given)
      for _ = 1, 50 do
        local question, answer = task:question()
        assert.is_true(task:grade(question, answer))
        assert.is_true(task:grade(question, task:answer(question)))
        assert.is_false(task:grade(question, answer:sub(1, -2)))
        assert.is_false(task:grade(question, answer .. answer:sub(-1)))
        assert.is_false(task:grade(question, answer .. "\0"))
        assert.is_false(task:grade(question, " " .. answer:sub(1, -2)))
        assert.is_false(task:grade(question, ""))
      end
    end)

    it("rejects a question of another task", function()
      local task = make(given)
      local question, answer = task:question()
      local list = { "", "?", "\0", ">" .. question, question .. "~",
        question .. answer .. question, ("9"):rep(5000), ("?"):rep(100) }
      if not task:targets(task:encode(question):view({ 1, -1 })) then -- else states are tokens too
        list[#list + 1] = answer
      end
      for _, wrong in ipairs(list) do
        assert.error_matches(function() task:grade(wrong, answer) end,
                             name .. ": expected a question")
        assert.error_matches(function() task:answer(wrong) end, name .. ": expected a question")
      end
    end)
  end)
end
