local checks = require("tests.tasks.checks")
local golden = require("tests.fixtures.tasks")
local roper = require("roper")

-- A checker of rows with these options: signs in their places, every substring from the pool.
local function checker(options)
  local alphabet = "^[a-" .. string.char(96 + options.alphabet) .. "]*$"
  return function(text, at)
    local random = options.random_length
    if at == 1 then
      random = math.max(random, options.substring_length)
    end
    local fresh = text:sub(at, at + random - 1)
    assert.truthy(fresh:match(alphabet))
    if #fresh < random then
      return fresh, ""
    end
    local sign = at + random
    local pool = text:sub(1, sign - 1):gsub(">", "")
    local piece = text:sub(sign + 1, sign + options.substring_length)
    assert.truthy(pool:find(piece, 1, true), "not in the pool: " .. piece)
    return fresh .. ">", piece .. ("?"):rep(options.substring_length - #piece)
  end
end

local function variants()
  return {
    { alphabet = 4, random_length = 4, substring_length = 40, length = 513 },
    { alphabet = 2, random_length = 1, substring_length = 1, length = 100 },
    { alphabet = 26, random_length = 20, substring_length = 5, length = 300 },
    { alphabet = 3, random_length = 7, substring_length = 7, length = 9 },
    { alphabet = 3, random_length = 50, substring_length = 7, length = 5 },
  }
end

describe("substring_prefix:batch", function()
  it("repeats pieces of the row so far, at fixed positions, and marks them", function()
    for seed, options in ipairs(variants()) do
      options.seed = seed
      checks.rows(roper.tasks.substring_prefix(options), 30, checker(options))
    end
  end)

  it("draws each start of the pool with the same probability", function()
    local task = roper.tasks.substring_prefix({
      alphabet = 26, random_length = 10, substring_length = 3, length = 14, seed = 1,
    })
    local counts = {}
    for _ = 1, 40 do
      local tokens = task:batch(250)
      for row = 1, 250 do
        local pool, piece = task:decode(tokens[row]):match("^(%l+)>(%l+)$")
        local start = pool:find(piece, 1, true)
        if not pool:find(piece, start + 1, true) then
          checks.count(counts, start)
        end
      end
    end
    checks.uniform(counts, 8)
  end)
end)

describe("substring_prefix:question", function()
  it("ends with the first half of a substring, and fits into a row", function()
    local seen = {}
    for seed, options in ipairs(variants()) do
      options.seed = seed
      local task = roper.tasks.substring_prefix(options)
      local first = math.max(options.random_length, options.substring_length)
      for _ = 1, 50 do
        local question, answer = task:question()
        local beginning = question:match("[^>]*$")
        assert.equal(options.substring_length // 2, #beginning)
        assert.equal(options.substring_length, #beginning + #answer)
        assert.is_true(#question + #answer
                       <= math.max(options.length, first + 1 + options.substring_length))
        if seed == 1 then
          seen[select(2, question:gsub(">", ""))] = true
        end
      end
    end
    assert.equal(10, #seen) -- after every number of problems that a row has room for
    assert.is_nil(roper.tasks.substring_prefix():stop())
  end)
end)

describe("substring_prefix:grade", function()
  it("accepts the endings that make a piece of the pool, and nothing else", function()
    for seed, options in ipairs(variants()) do
      options.seed = seed
      checks.grades(roper.tasks.substring_prefix(options), 3, function(question, text, answer)
        local before, beginning = question:match("^(.*)>(.*)$")
        local pool = before:gsub(">", "")
        return #text == #answer and pool:find(beginning .. text, 1, true) ~= nil
      end)
    end
  end)
end)

describe("substring_prefix:answer", function()
  local task = roper.tasks.substring_prefix({
    alphabet = 3, random_length = 2, substring_length = 4, length = 30,
  })

  it("completes a substring from any beginning", function()
    assert.equal("bca", task:answer("abca>a"))
    assert.equal("abca", task:answer("abca>"))
    assert.equal("b", task:answer("abca>abcaab>caa"))
  end)

  it("uses only pieces that fit before the sign", function()
    assert.error_matches(function() task:answer("abca>b") end, "expected a question")
  end)

  it("rejects texts of another form", function()
    checks.refuses(task, "substring_prefix: expected a question", {
      "", ">", "abc>a", "abca", "abcab>a", "abca>abca", "abca>abcaa", "abca>abcaab", "abcd>a",
      "abca>>a", "abca>abcaab>d", "abca>abc>ab>c", "Abca>a", "abca>c",
      "abca>" .. ("abcaab>"):rep(100),
    })
  end)
end)

describe("substring_prefix:floor", function()
  it("agrees with listing every row", function()
    checks.floors(roper.tasks.substring_prefix, golden.prefix_floors, 1e-3)
  end)

  it("is slightly below the study's final losses with the standard options", function()
    local nats, error = roper.tasks.substring_prefix():floor()
    assert.is_true(error < 1e-3)
    assert.is_true(nats > 0.31 and nats < 0.3205, nats)
  end)
end)

describe("substring_prefix:vocabulary", function()
  it("is the sign and the letters in use", function()
    assert.equal(">ab", table.concat(roper.tasks.substring_prefix({ alphabet = 2 }):vocabulary()))
    assert.equal(">abcd", table.concat(roper.tasks.substring_prefix():vocabulary()))
  end)
end)
