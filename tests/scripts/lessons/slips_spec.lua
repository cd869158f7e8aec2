-- Frequent wrong answers to the questions of lessons, and the hints for them.

require("roper")
local lessons = require("roper.workbench.lesson")
local questions = require("roper.workbench.lesson.question")
local steps = require("roper.workbench.lesson.step")

local GIVEN = "given = {v = 'vector', m = 'position', n = 'position'}}"
local SINE = "roper.identity{'sin(m)*cos(n) - cos(m)*sin(n) == "

-- For each question of a lesson, a right answer, and wrong answers with words of their hints.
local SLIPS = {
  ["ten-minutes"] = {
    { "16 * 11", "6", "only the distance", "5", "difference", "27", "the sum", "106",
      "Both positions" },
    { "4", "1", "their distance", "3", "first ones", "0", "be equal" },
    { "c", "a", "or a position", "b", "that term", "d", "$p_m · p_n$" },
    { "0.5", "math.cos(60)", "radians", "math.cos(math.rad(20))", "3 positions apart",
      "math.cos(math.rad(160))", "Both arrows", "3 ^ 0.5 / 2", "the sine", "60", "its cosine",
      "1", "equal positions" },
    { "b", "a", "What about", "c", "still are" },
  },
  ["why-position"] = {
    { "1", "6", "if each weight were 1", "0", "always positive" },
    { "17", "20", "equal weights", "60", "by its weight first", "17 / 3", "divide again" },
    { "a", "b", "Neighbors", "c", "moves with" },
    { "4", "2", "Which other word", "1", "both count", "0", "Neither the query" },
    { "7", "10", "Count each word once", "5", "the two words", "2", "the others" },
  },
  ["mask-and-waves"] = {
    { "b", "a", "which keys" },
    { "1 / 4", "1 / 3", "Position 0 counts", "1 / 6", "without the mask", "1", "the sum",
      "0", "its own value", "4", "number of tokens" },
    { "1 / 100 - 1 / 101", "1 / 99 - 1 / 100", "sees 100 tokens", "1 / 101 - 1 / 100", "no minus" },
    { "0.5", "math.cos(60)", "radians", "math.cos(math.rad(30))", "two apart", "60", "the angle",
      "1", "equal positions" },
    { "c", "a", "cos 0 = 1", "b", "right side" },
    { SINE .. "sin(m - n)', given = given}", "3", "the whole line",
      SINE .. "sin(n - m)', given = given}", "counterexample",
      "roper.identity{'sin(m) == sin(m)', given = given}", "another line" },
    { "b", "a", "x_m · p_n" },
  },
  ["checking-identities"] = {
    { "a", "b", "digits" },
    { "3", "0.2", "whole numbers", "2", "subtract 7" },
    { "10", "100", "What is $t$", "0", "1 + 0", "91", "greater than 50" },
    { "b", "a", "is 1" },
    { "2 / 103", "2", "Divide by how many", "1 / 103", "Two numbers", "2 / 102", "103 numbers" },
    { "2", "3", "two terms", "1", "With one term" },
    { "5", "4", "That is $S$", "6", "number of trials" },
  },
  ["long-context"] = {
    { "651.9", "4096", "full turns", "11.38", "one radian" },
    { "b", "a", "every angle", "c", "652" },
    { "b", "a", "Where are the others" },
    { "b", "a", "two positions back", "c", "new now" },
    { "short = select(2, accuracy(model, linear, 32, 1)):item()", "short = 1", "far questions" },
    { "439", "400", "exponent", "25", "slower" },
    { "0.4", "1.6", "without YaRN", "0.1", "4 times as long" },
    { "0.868", "0", "first line", "1", "one turn", "4.09 / 31", "1 - g" },
    { "b", "a", "fast ones", "c", "linear interpolation", "d", "linear interpolation" },
    { "1 / 4", "1 / 8", "Add the other", "1 / 2", "one coin", "1/3", "three coins" },
  },
  ["relative-distance"] = {
    { "-4", "4", "the sign", "-1", "$y'$ after it", "-0.8", "weight" },
    { "-45", "45", "forward or back", "0", "forward rotation", "-90", "$m = 2$",
      "-1", "in positions" },
    { "b", "a", "signs", "c", "plus" },
    { "c", "a", "on labml's page", "b", "the sign" },
    { "roper.identity{'unrotate(rotate(v, n), m) == rotate(v, n - m)', " .. GIVEN,
      "roper.identity{'unrotate(rotate(v, n), m) == rotate(v, m - n)', " .. GIVEN, "the order",
      "roper.identity{'rotate(v, n) == rotate(v, n)', " .. GIVEN, "another line" },
    { "b", "a", "signs of equality", "c", "not rotated back", "d", "a sign of equality" },
    { "0", "1000", "any distance", "0.5", "both grow" },
    { "c", "a", "no length", "b", "already", "d", "$0 - m$" },
    { "b", "a", "not rotate the values", "c", "rotating back" },
    { "1000", "0", "with rotating back", "2000", "once" },
    { "2000", "0", "$n - m$", "1000", "$n$ alone" },
  },
  ["why-rotation"] = {
    { "d", "a", "Both grow", "b", "But what of", "c", "Try $m = 0$" },
    { "5", "25", "square", "35", "grow with the position", "7", "sum of the numbers" },
    { "175", "85", "mirror image", "65", "have changed", "110", "key end", "195", "by 130" },
    { "200", "40", "the same angle", "160", "position 4", "240", "position 6", "1000", "square" },
    { "25", "100", "four steps", "33.3", "From 3 to 7", "math.rad(25)", "in degrees" },
    { "b", "a", "The distance in", "c", "those at 0" },
    { "b", "a", "only one of them", "c", "at distance 0" },
    { "b", "a", "computes the vector" },
  },
  ["why-values"] = {
    { "b", "a", "How far is dog", "c", "gets another weight" },
    { "40", "20", "in the other", "-40", "forward or back", "0", "That is RoPE",
      "math.rad(40)", "in degrees" },
    { "one, other = 'cat sees mouse', 'mouse sees cat'",
      "one = 'cat sees mouse'", "Set both", "one, other = 'a b c', 'a b c'", "the same sentence",
      "one, other = 'cat sees mouse', 'cat mouse sees'", "another distance",
      "one, other = 'cat sees cat', 'cat  sees cat'", "words different" },
    { "c", "a", "dog is at -1", "b", "dog is at -2" },
    { "b", "a", "at both distances", "c", "does not rotate values" },
    { "-100", "100", "negative", "-40", "first sentence", "0", "That is RoPE", "-5",
      "Each position" },
    { "30", "-30", "where both end", "110", "not nearer", "70", "at 10 degrees", "-90",
      "Rotate back" },
    { "b", "a", "All distances", "c", "changes nothing" },
    { "b", "a", "weights are equal", "c", "any frequency" },
  },
  ["linear-attention"] = {
    { "2.37", "0", "$q · k$", "2", "$e^{-1}$", "1", "1 + 1$" },
    { "64 * 64", "64 * 1000", "one key", "1000 * 64 ^ 2", "before they are added", "1000 ^ 2",
      "number of weights", "64", "a vector" },
    { "64", "64 ^ 2", "$d²$", "2 * 64 ^ 2", "multiplications" },
    { "c", "a", "each query", "b", "no key is rotated", "d", "left side" },
    { "b", "a", "But then", "c", "no length" },
    { "a", "b", "are relative", "c", "summed once" },
    { "16", "15", "not quite", "5 * math.pi", "next whole", "31", "half a turn", "91", "radians" },
  },
  study = {
    { "b", "a", "counts from 1", "c", "last 5 letters", "d", "before the index" },
    { "17", "19", "is that nearer", "18", "index 5", "6", "That is the index" },
    { [[index:grade(puzzle, "elmwfhqk'#")]], [[index:grade(puzzle, "elmwfhqk")]], "end in" },
    { "a", "b", "the end of the text", "c", "across the first", "d", "after that d" },
    { "3", "1", "could be any", "2", "followed by a, b and d", "4", "are there enough", "5",
      "even earlier" },
    { "1", "4", "last digit of 14", "0", "there is a carry", "12", "before `==`", "14",
      "sum of the ones" },
    { "2", "1", "carried to the hundreds", "4", "from the ones", "12", "One digit stays" },
    { "26.6", "34.11", "in problems", "55", "relative to RoPE", "0.266", "in percent" },
    { "a", "b", "is taken away", "c", "which direction" },
    { "2 / 64", "1 / 64", "all minus", "2", "choices of signs", "64", "as extreme", "1 / 3",
      "plus or minus" },
    { "b", "a", "still learning", "c", "only 128" },
    { "c", "a", "with errors of", "b", "may still exist" },
    { "0.25", "1 / 8", "All minus", "0.031", "six pairs" },
    { "8", "7", "One more", "100", "far fewer", "6", "0.031" },
    { "b", "a", "On which task", "c", "contains -19" },
  },
  precision = {
    { "512", "1024", "two neighbors", "256", "$2^8$" },
    { "65504", "math.huge", "Find the largest", "70000", "becomes `inf`", "60000", "a larger one" },
    { "10", "1024", "halves", "11", "Count again" },
    { "c", "a", "grows", "b", "131071", "d", "One of the three" },
    { "a", "c", "by product", "b", "add up" },
  },
  ["attentive-convolution"] = {
    { "3", "6", "$o_2$", "0", "one position before", "9", "Only one" },
    { "b", "a", "before they are rotated back", "c", "no length" },
    { "b", "a", "have moved", "c", "without rotating back" },
    { "-1", "0", "go round", "1", "twice as fast" },
    { "0", "-1", "RoPER's", "1", "different directions" },
  },
  families = {
    { "b", "a", "product of two waves", "c", "product of two waves", "d", "new position" },
    { "b", "c", "only through", "a", "Which entry" },
    { "1 / 6", "0", "greater than 0", "1", "there are six" },
    { "{M = turned, b = slope}", "{b = slope}", "RoPE uses", "{M = turned}", "ALiBi uses", "1",
      "Type a table" },
    { "2", "4", "number of rotated", "8", "all features", "1", "how many pairs are they" },
    { "b", "a", "Then the angle", "c", "only that part" },
    { "0", "1", "does it change", "2", "counts no terms" },
    { "c", "a", "count as 16", "d", "however large" },
  },
  ["along-the-way"] = {
    { "-40", "40", "back", "-70", "token 3", "-60", "token 6 is in it", "-80", "negative" },
    { "a", "b", "Only their sum", "c", "difference" },
    { "0.5", "math.cos(math.rad(220))", "RoPE", "math.cos(math.rad(80))", "words",
      "math.cos(math.rad(40))", "again", "math.cos(60)", "radians", "60", "degrees" },
    { "1 / 2", "0", "mean of the angles", "1", "length 1", "3 ^ 0.5 / 2", "cancel" },
    { "148", "5", "exponents", "32", "exponential" },
    { "0.5", "0.25", "square", "1", "without rotation", "2", "denominator" },
    { "sigma = 0.05", "spread = 1", "Set the variable", "sigma = 0.0025", "$σ²$",
      "sigma = 0.025", "4 times" },
    { "b", "a", "rotated back", "c", "omits" },
  },
}

-- The questions of a lesson, and the expected answer to each.
local function asked(lesson, scope)
  local list = {}
  for _, step in ipairs(lesson.steps) do
    steps.prepare(step, scope)
    for _, question in ipairs(questions.of(step)) do
      list[#list + 1] = { question = question, expected = questions.expected(question, scope) }
    end
  end
  return list
end

describe("the questions #long", function()
  for name, cases in pairs(SLIPS) do
    it("of " .. name .. " have a hint for each frequent wrong answer", function()
      local scope = steps.scope()
      local list = asked(lessons.find(name), scope)
      assert.equal(#cases, #list)
      for i, case in ipairs(cases) do
        local question, fitted = list[i].question, {}
        local function verdict(line)
          return questions.judge(question, line, steps.layer(scope), list[i].expected)
        end
        assert.equal("right", verdict(case[1]).kind, question.question)
        for j = 2, #case, 2 do
          local found = verdict(case[j])
          assert.equal("wrong", found.kind, case[j])
          assert.truthy(found.hint and found.hint:find(case[j + 1], 1, true), case[j])
          fitted[found.hint] = true
        end
        for _, hint in ipairs(question.conditions) do
          assert.is_true(fitted[hint[2]], "no slip is given for the hint: " .. hint[2])
        end
      end
    end)
  end

  it("reply to each wrong choice with its own hint, and to two wrong numbers or more", function()
    for _, lesson in ipairs(lessons.all()) do
      local scope = steps.scope()
      for _, one in ipairs(asked(lesson, scope)) do
        local question = one.question
        local place = lesson.name .. ": " .. question.question
        for choice in ipairs(question.choices or {}) do
          local verdict = questions.judge(question, questions.letter(choice), scope, one.expected)
          assert.equal(choice ~= one.expected, verdict.hint ~= nil, place)
        end
        assert.is_true(question.kind ~= "number" or #question.conditions >= 2, place)
      end
    end
  end)
end)
