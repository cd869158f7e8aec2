local checks = require("tests.tasks.checks")
local core = require("roper.core")
local fixture = require("tests.fixtures.tasks")
local roper = require("roper")
local tables = require("roper.base.tables")
local statistics = require("roper.tensor.statistics")

local TASKS <const> = {
  { "addition", { max_digits = 3, length = 120 } },
  { "addition", { max_digits = 18, length = 641 } },
  { "addition", { max_digits = 5, length = 120, coupled = true } },
  { "substring_index", { length = 161 } },
  { "substring_index", { letters = 100, length = 500 } },
  { "substring_prefix", { substring_length = 8, length = 90 } },
  { "substring_prefix", { alphabet = 2, random_length = 9, substring_length = 5, length = 70 } },
  { "copy", { alphabet = 3, letters = 9, length = 60 } },
  { "recall", { pairs = 7, length = 90 } },
  { "recall", { pairs = 52, length = 300 } },
  { "selective_copy", { letters = 5, filler = 9, alphabet = 3, length = 50 } },
  { "selective_copy", { letters = 16, filler = 48, length = 200 } },
  { "needle", { distance = 3, spread = 7, length = 55 } },
  { "needle", { distance = 9, spread = 4, before = 6, alphabet = 2, length = 134 } },
  { "state_tracking", { kind = "flip_flop", length = 60 } },
}

-- The same, and small problems of each kind.
local ALL <const> = table.move(TASKS, 1, #TASKS, 1, {})
for _, name in ipairs(core.tasks.list()) do
  ALL[#ALL + 1] = { name, checks.small(name) }
end

local function make(name, options, seed)
  return roper.tasks[name](tables.merged(options, { seed = seed }))
end

describe("task:explain", function()
  it("agrees with the surprisal from listing every row", function()
    for _, case in ipairs(fixture.explained) do
      local task = make(case.task, case.options, 1)
      local nats, sources = task:explain(task:encode(case.row):view({ 1, -1 }))
      assert.same({ 1, #case.row }, nats:shape())
      assert.same({ 1, #case.row }, sources:shape())
      for i, got in ipairs(nats:totable()[1]) do
        if i > 1 or case.task == "substring_prefix" then
          assert.near(case.nats[i], got, 1e-11, ("%s %s at %d"):format(case.task, case.row, i))
        end
      end
    end
  end)

  it("counts the indices that continue a digit: 1, 10, 11, 12 of 13", function()
    local task = roper.tasks.substring_index()
    for index, expected in pairs({ ["5"] = { 13, 1 }, ["1"] = { 13 / 4, 4 },
                                   ["12"] = { 13 / 4, 4 } }) do
      local ids = task:encode(("?s='dyjeofuxvejmg'; s[%s:]"):format(index))
      local nats = task:explain(ids:view({ 1, -1 })):totable()[1]
      assert.near(math.log(expected[1]), nats[23], 1e-15)
      assert.near(math.log(expected[2]), nats[24], 1e-15)
    end
  end)

  it("has the floor as its mean", function()
    for i, case in ipairs(ALL) do
      local task = make(case[1], case[2], 40 + i)
      local tokens = task:batch(1500)
      local nats = task:explain(tokens):narrow(2, 2, task:length() - 1)
      local means = nats:mean(2):totable()
      local floor, error = task:floor()
      local spread = (statistics.standard_error(means) ^ 2 + error ^ 2) ^ 0.5
      assert.near(floor, statistics.mean(means), 4.5 * spread + 1e-12, tostring(task))
    end
  end)

  it("names an earlier position of the same character, for tokens of answers only", function()
    for i, case in ipairs(TASKS) do
      local task = make(case[1], case[2], 70 + i)
      local tokens, is_answer = task:batch(20, { answers = true })
      local _, sources = task:explain(tokens)
      local ids, marks = tokens:totable(), is_answer:totable()
      local targets = (task:targets(tokens) or tokens):totable()
      local found = 0
      for row, places in ipairs(sources:totable()) do
        for at, source in ipairs(places) do
          if source >= 0 then
            found = found + 1
            assert.is_true(source + 1 < at)
            assert.equal(ids[row][source + 1], targets[row][at])
            assert.equal(1, marks[row][at])
          end
        end
      end
      assert.is_true(found > 20, tostring(task))
    end
  end)

  -- The row below, with the place of the character that each repeats, "." for none, written as
  -- that character; and for one of them the distance, counted by hand.
  it("finds the source of answers", function()
    for _, case in ipairs({
      { roper.tasks.addition({ length = 60 }), "?d=58+3; 8e0+3e0+0e0==11e0 and 5e1+0e1+1e1==6e1 "
        .. "and d==61#",
        ".........8...3.................5.......1...............61.", { 40, 17 } },
      { roper.tasks.addition({ length = 60 }), "?d=95+5; 5e0+5e0+0e0==10e0 and 9e1+0e1+1e1==10e1 "
        .. "and d==100#",
        ".........5...5.................9.......1............", { 10, 5 } },
      { roper.tasks.substring_index({ letters = 4, length = 60 }), "?s='abca'; s[2:]=='ca'#?s='x",
        "...................ca......", { 20, 13 } },
      { roper.tasks.substring_prefix({ substring_length = 3, length = 40 }),
        "abcd>bcdacad>cad", ".....bcd.....cad", { 14, 4 } },
      { roper.tasks.copy({ length = 60 }), "kqhzz>kqhzz#a>a#ab", "......kqhzz...a...", { 7, 6 } },
      { roper.tasks.recall({ length = 60 }), "?k3Q8b1>b1k3Q8?a2>a2?b", ".........1.3.8.....2..",
        { 12, 9 } },
      { roper.tasks.selective_copy({ letters = 3, filler = 4, length = 60 }),
        "..k.hk.>khk#a.b..a.>ab", "........khk.........ab", { 10, 5 } },
      { roper.tasks.needle({ distance = 4, spread = 3, length = 60 }),
        "abK7az?K7L0lmno?L0z", "........7........0.", { 18, 7 } },
    }) do
      local task, row, expected, one = table.unpack(case)
      row = row:sub(1, #expected)
      local _, sources = task:explain(task:encode(row):view({ 1, -1 }))
      local text = {}
      for at, source in ipairs(sources:totable()[1]) do
        text[at] = source < 0 and "." or row:sub(source + 1, source + 1)
        if at == one[1] then
          assert.equal(one[2], at - source - 1, row)
        end
      end
      assert.equal(expected:sub(1, #row), table.concat(text))
    end
  end)

  it("accepts rows that are truncated anywhere", function()
    for i, case in ipairs(ALL) do
      local task = make(case[1], case[2], 90 + i)
      local tokens = task:batch(3)
      local nats, sources = task:explain(tokens)
      for width = 1, task:length() do
        local cut, places = task:explain(tokens:narrow(2, 1, width))
        local same = case[1] ~= "substring_prefix" -- there later letters tell which piece it was
        assert.equal(0, (cut - nats:narrow(2, 1, width)):abs():max():item(), tostring(task))
        if same then
          assert.equal(0, (places - sources:narrow(2, 1, width)):abs():max():item())
        end
      end
    end
  end)

  it("rejects rows that the task does not generate", function()
    local rows = { addition = "?d=77+38; 7e0+8e0+0e0==15e0 and 7e1+3e1+1e1==11e1 and 0e2+0e2+1e2"
      .. "==1e2 and d==115#?d=", substring_index = "?s='dyjeofuxvejmg'; s[12:]=='g'#?s='abc",
      substring_prefix = "abcdabcdab>abcdabcdabcad>dabcdabcad", copy = "kqhzz>kqhzz#a>a#ab>a",
      recall = "?k3Q8b1>b1k3Q8?a2>a2?b1c4>c", selective_copy = "..k.bk.>kbk#a.b..a.>ab",
      needle = "abK7az?K7L0lmno?L0zB" }
    local options = { substring_prefix = { substring_length = 10, random_length = 3, length = 60 },
      selective_copy = { letters = 3, filler = 4, length = 60 },
      needle = { distance = 4, spread = 3, length = 60 } }
    for name, row in pairs(rows) do
      local task = roper.tasks[name](options[name] or { length = 120 })
      local function explain(text)
        return pcall(task.explain, task, task:encode(text):view({ 1, -1 }))
      end
      assert.is_true(explain(row))
      local refused = 0
      for _, text in ipairs(checks.corruptions(row, task:vocabulary())) do
        local ok, message = explain(text)
        if not ok then
          refused = refused + 1
          assert.truthy(message:find("task:explain: expected a row of " .. name, 1, true))
        end
      end
      assert.is_true(refused > 20, name .. " " .. refused)
    end
    local task = roper.tasks.substring_index({ length = 30 })
    local function refuses(message, tokens)
      assert.error_matches(function() task:explain(tokens) end, message)
    end
    refuses("task:explain: expected int32 tokens %[rows, up to 30%], got int32 %[1, 31%]",
            roper.zeros({ 1, 31 }, "int32"))
    refuses("got float32 %[1, 3%]", roper.zeros({ 1, 3 }))
    refuses("got int32 %[3%]", roper.zeros({ 3 }, "int32"))
    refuses("token ids from 0 to 44, got 45 at index 2", roper.tensor({ { 1, 45 } }, "int32"))
    refuses("got one with no problem of this task at index 1", roper.zeros({ 1, 9 }, "int32"))
  end)
end)
