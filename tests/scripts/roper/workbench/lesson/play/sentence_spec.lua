-- The sentence that moves computes and shows what roper.attention computes, and its verdicts follow
-- from the numbers.

local browser = require("tests.browser")
local core = require("roper.core")
local lessons = require("roper.workbench.lesson")
local page = require("roper.workbench.lesson.page")
local process = require("tests.process")
local roper = require("roper")
local scratch = require("tests.scratch")
local tables = require("roper.base.tables")

local THETA <const>, WAVE <const> = math.pi / 6, 0.7
local SCRIPT <const> = "tests/scripts/roper/workbench/lesson/play/sentence.mjs"

-- What stays and what changes: scores and output if the whole sentence moves, scores and values if
-- its last word is pulled away.
local TABLE <const> = {
  none = { "stay", "stays", "stay", "as it is" },
  waves = { "change", "changes", "change", "with its wave" },
  rope = { "stay", "stays", "change", "as it is" },
  forward = { "stay", "turns with the text", "change", "turned by its position" },
  roper = { "stay", "stays", "change", "turned by its distance" },
}

local ROTATE <const> = { rope = "qk", forward = "qkv", roper = "qkvo" }

local function wave(pair, place)
  return { pair[1] + WAVE * math.cos(THETA * place), pair[2] + WAVE * math.sin(THETA * place) }
end

-- The scores, weights, sum and output of a case, from the library.
local function expected(case)
  local own = case.query + 1
  local place = case.places[own]
  local places = table.move(case.places, 1, own, 1, {})
  local rope = roper.position.rope({ dim = 2, frequencies = { THETA },
    rotate = ROTATE[case.method] })
  local function heads(field, first)
    local list = {}
    for j = first, own do
      local vector = case.words[j][field]
      list[#list + 1] = case.method == "waves" and wave(vector, case.places[j]) or vector
    end
    return roper.tensor({ { list } }, "float64")
  end
  local q, k, v = heads("q", own), heads("k", 1), heads("v", 1)
  local is_rotary = ROTATE[case.method] ~= nil
  local output, weights = roper.attention(q, k, v, { query_positions = { place }, weights = true,
    key_positions = places, position = is_rotary and rope or nil })
  local asking = is_rotary and rope:rotate(q, { place }) or q
  local keys = is_rotary and rope:rotate(k, places) or k
  local out = output:view({ 1, 2 })
  local has_back = case.method == "roper"
  return { scores = (asking:matmul(keys:transpose(3, 4)) / 2 ^ 0.5):view({ own }):totable(),
    weights = weights:view({ own }):totable(), output = out:totable()[1],
    sum = (has_back and rope:rotate(out, { place }) or out):totable()[1] }
end

-- The first number that differs by more than `within`.
local function difference(case, within)
  local found = expected(case)
  for _, name in ipairs({ "scores", "weights", "sum", "output" }) do
    for i, number in ipairs(found[name]) do
      if math.abs(case[name][i] - number) > within then
        return ("%s %d: expected %s, got %s"):format(name, i, number, case[name][i])
      end
    end
  end
end

local function missing_node()
  local status = process.run({ "sh", "-c", "command -v node" })
  return status ~= 0 and "Node.js is not installed (apt-get install nodejs)" or nil
end

local function answer(...)
  local status, output, errors = process.run({ "node", SCRIPT, ... })
  assert(status == 0, errors)
  return core.json_decode(output)
end

describe("the sentence that moves", function()
  it("computes what roper.attention computes, and says what stays", function()
    local reason = missing_node()
    if reason then
      pending(reason)
      return
    end
    local found = answer()
    assert.equal(350, #found.attention)
    for _, case in ipairs(found.attention) do
      local wrong = difference(case, 1e-12)
      assert.is_nil(wrong, case.method .. ": " .. tostring(wrong))
    end
    for _, rows in ipairs(found.tables) do
      for i, name in ipairs(found.methods) do
        assert.same(TABLE[name], rows[i], name)
      end
    end
    assert.equal(40, #found.tables)
    for name, text in pairs(found.fullTurns) do
      assert.equal(name == "none", text:find("Without positions", 1, true) ~= nil, text)
    end
  end)

  describe("in a browser", function()
    local seen, reason

    setup(function()
      local _
      _, reason = browser.find()
      reason = reason or missing_node()
      if not reason then
        scratch.create()
        page.write({ lessons.find("ten-minutes") }, scratch.path("site"))
        local found = answer(scratch.path("site/ten-minutes.html"))
        assert.same({}, found.problems)
        seen = found.seen
      end
    end)
    teardown(scratch.remove)

    local function skipped()
      if reason then
        pending(reason)
      end
      return reason
    end

    it("shows what roper.attention computes, whatever is moved", function()
      if skipped() then
        return
      end
      assert.is_true(#seen > 40)
      for _, case in ipairs(seen) do
        local wrong = difference(case, 0.005 + 1e-9)
        assert.is_nil(wrong, ("%s (%s): %s"):format(case.act, case.method, wrong))
        for j, distance in ipairs(case.distances) do
          assert.equal(case.places[j] - case.places[case.query + 1], distance)
        end
      end
    end)

    it("moves as it is asked to", function()
      if skipped() then
        return
      end
      local acts = {} -- the positions after each act of the first method, and the others
      for _, case in ipairs(seen) do
        acts[case.act] = acts[case.act] or case
      end
      assert.same({ 6, 7, 8, 9, 10 }, acts.open.places)
      local dragged, pulled = acts["drag .grip 0 90"].places, acts["drag .word 4 120"].places
      assert.is_true(dragged[1] > 6 and dragged[5] == dragged[1] + 4)
      assert.is_true(pulled[4] == dragged[4] and pulled[5] > dragged[5])
      local stretched = acts["press .word 2 ArrowRight"].places
      assert.same({ pulled[1], pulled[2], pulled[3] + 1, pulled[4] + 1, pulled[5] + 1 }, stretched)
      assert.equal(3, acts["drag .word 3 0"].query)
      assert.equal(4, acts["press .word 4 Enter"].query)
      assert.equal(10, acts["press .grip 0 PageUp"].places[1] - stretched[1])
      assert.equal(1000, acts["press .grip 0 End"].places[1])
      assert.equal(999, acts["drag [data-step] 0 0"].places[1])
      assert.equal(0, acts["drag .far 0 0"].places[1])
      assert.equal(2, #acts["write dog bites"].words)
      assert.same(acts["drag .word 0 0"].words, acts["write one"].words)
      assert.equal(6, #acts["write one two three four five six seven"].words)
      assert.is_true(acts.touch.places[6] > acts["press .word 5 ArrowRight"].places[6])
    end)

    it("shows what answers the questions below it", function()
      if skipped() then
        return
      end
      local tries = {}
      for _, case in ipairs(seen) do
        tries[case.act] = case
      end
      local pull, forward, twice = tries["try pull"], tries["try forward"], tries["try twice"]
      assert.equal(3, pull.places[5] - pull.places[4])
      assert.truthy(pull.method == "roper" and pull.say:find("turned by its distance", 1, true))
      assert.equal("forward", forward.method)
      assert.truthy(forward.say:find("the output turns with the text", 1, true), forward.say)
      local same, other, first, second = twice.say:gsub("−", "-"):match(
        "the scores are (%S+) and (%S+)%. .* angles: (%S+) and (%S+)%.$")
      assert.truthy(same == other and same, twice.say)
      assert.near(twice.scores[1], tonumber(first), 1e-9)
      assert.near(twice.scores[4], tonumber(second), 1e-9)
    end)

    it("judges each move by the numbers", function()
      if skipped() then
        return
      end
      for _, case in ipairs(seen) do
        for i, name in ipairs({ "none", "waves", "rope", "forward", "roper" }) do
          assert.same(#case.words > 2 and TABLE[name] or case.table[i], case.table[i], case.act)
        end
      end
      local function moved(method, act)
        for _, case in ipairs(seen) do
          if case.method == method and case.act == act then
            return case
          end
        end
      end
      for method, row in pairs(TABLE) do
        local case = moved(method, method == "forward" and "drag [data-step] 0 0"
          or "drag .grip 0 90")
        assert.equal(row[1] == "stay", case.tags.scores == "unchanged", method)
        assert.equal(row[2] == "stays", case.tags.output == "unchanged", method)
        assert.equal(row[1] == "stay", case.say:find("No score changes", 1, true) ~= nil, method)
        assert.equal(row[2] == "turns with the text",
          case.say:find("output turns with the text", 1, true) ~= nil, method)
      end
      local pulled = tables.map({ "rope", "roper" }, function(method)
        return moved(method, "drag .word 4 120").say
      end)
      assert.truthy(pulled[1]:find("Each value arrives as it is", 1, true))
      assert.truthy(pulled[2]:find("turned by its distance", 1, true))
      assert.truthy(moved("none", "drag .word 4 120").say:find("no score and no output", 1, true))
    end)
  end)
end)
