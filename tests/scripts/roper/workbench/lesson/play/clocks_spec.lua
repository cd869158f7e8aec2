-- The clocks of a head add up to the score that the library computes.

local browser = require("tests.browser")
local clocks = require("roper.workbench.lesson.play.clocks")
local core = require("roper.core")
local lessons = require("roper.workbench.lesson")
local page = require("roper.workbench.lesson.page")
local roper = require("roper")
local scratch = require("tests.scratch")
local tables = require("roper.base.tables")

-- The states of the figure's controls.
local STATES <const> = { { distance = 0, base = 4, fraction = 1, head = 1 },
  { distance = 40, base = 4, fraction = 1, head = 1 },
  { distance = 40, base = 2.5, fraction = 1, head = 1 },
  { distance = 7, base = 2.5, fraction = 0.25, head = 1 },
  { distance = 7, base = 4, fraction = 0, head = 0 },
  { distance = 8, base = 4, fraction = 1, head = 0 },
  { distance = 60, base = 6, fraction = 0.5, head = 0 } }

-- Sets the controls as in STATES, and writes the scores, the words and the number of hands.
local HAND <const> = [=[
  addEventListener("load", () => {
    const [plain, figure] = document.querySelectorAll(".clocks");
    const find = (selector) => figure.querySelector(selector);
    const seen = STATES.map((state) => {
      for (const [name, value] of Object.entries(state)) {
        const inputs = [...figure.querySelectorAll(`[name=${name}]`)];
        if (inputs.length > 1) inputs[value].checked = true;
        else inputs[0].value = value;
        inputs[0].dispatchEvent(new Event("input", { bubbles: true }));
      }
      return { score: find(".score").textContent, say: find(".say").textContent,
        hands: figure.querySelectorAll(".arrow.k").length };
    });
    const heads = JSON.parse(find(".stage").dataset.heads);
    figure.dispatchEvent(new CustomEvent("data",
      { detail: [["another", heads[0].map(() => [1, 0])]] }));
    const most = find(".limit").textContent;
    const choice = plain.querySelector("fieldset").hidden;
    document.body.textContent = JSON.stringify({ seen, heads, most, choice });
  });
]=]

-- The score from the library of vectors whose pairs have these lengths and angles.
local function score_of(head, state)
  local count = #head
  local query, key = {}, {}
  for t, pair in ipairs(head) do
    query[2 * t - 1], query[2 * t] = 1, 0
    key[2 * t - 1], key[2 * t] = pair[1] * math.cos(pair[2]), pair[1] * math.sin(pair[2])
  end
  local q, k = roper.tensor({ query }, "float64"), roper.tensor({ key }, "float64")
  local turned = q
  if state.fraction > 0 then
    turned = roper.position.rope({ dim = 2 * count, base = 10 ^ state.base,
      fraction = state.fraction, pairing = "interleaved" }):rotate(q, state.distance)
  end
  return (turned * k):sum():item()
end

describe("the clocks of a head", function()
  setup(scratch.create)
  teardown(scratch.remove)

  browser.it("add up to the score of the library, for each base and fraction", function(path)
    page.write({ lessons.find("relative-score") }, scratch.path("site"))
    local document = browser.load(path, scratch.read(scratch.path("site/relative-score.html")),
      "const STATES = " .. core.json_encode(STATES) .. ";" .. HAND)
    local found = core.json_decode((document:match("<body[^>]*>(.*)</body>")))
    for i, state in ipairs(STATES) do
      local seen, head = found.seen[i], found.heads[state.head + 1]
      local score = score_of(head, state)
      local shown = tonumber((seen.score:gsub("−", "-")))
      assert.is_true(math.abs(score - shown) <= 0.05 + 1e-9, ("%d: %g %g"):format(i, score, shown))
      assert.equal(32, seen.hands)
      local distance, adding, all = seen.say:match("At distance (%d+), (%d+) of (%d+)")
      assert.equal(state.distance, tonumber(distance))
      assert.is_true(tonumber(adding) <= 32 and tonumber(all) == 32)
      local still = math.tointeger(32 - 32 * state.fraction)
      assert.equal(still > 0 and tostring(still) or nil, seen.say:match("(%d+) do not turn"))
    end
    local trained, ones = table.unpack(found.heads)
    assert.near(2, ones[1][1], 1e-12)
    assert.equal(0, ones[1][2])
    assert.equal(32, #tables.keys(tables.set(tables.map(trained, function(pair)
      return pair[2]
    end))))
    assert.equal(" of at most 32.0", found.most) -- of the data of a session
    assert.is_true(found.choice)
  end)

  it("are refused if data have another number of pairs", function()
    local ok, problem = pcall(clocks.draw, { pairs = 32, farthest = 10 },
      { { "a head", { { 1, 0 } } } })
    assert.is_false(ok)
    assert.equal("clocks: data 1: expected {words, a list of 32 pairs}", problem)
  end)
end)
