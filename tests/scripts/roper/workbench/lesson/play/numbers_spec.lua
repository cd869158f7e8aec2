-- Figures of rotations and tokens show the numbers that the core computes, in a real
-- browser.

local browser = require("tests.browser")
local core = require("roper.core")
local lessons = require("roper.workbench.lesson")
local page = require("roper.workbench.lesson.page")
local kinds = require("roper.workbench.lesson.play")
local roper = require("roper")
local scratch = require("tests.scratch")
local tables = require("roper.base.tables")

-- Runs a list of actions on the page, and writes the contents of its figures after each.
-- Each is {figure, set = {name = value}}, {figure, drag = token, to = share of the line, button =
-- mouse button} or {figure, press = token, key}.
local HAND <const> = [[
  const figures = document.querySelectorAll(".play");
  const acts = {
    set(figure, { set }) {
      for (const [name, value] of Object.entries(set)) {
        const inputs = [...figure.querySelectorAll(`[name=${name}]`)];
        const input = inputs.find((one) => one.type !== "radio" || one.value === value);
        if (input.type === "range") input.value = value;
        else input.checked = value !== false;
        input.dispatchEvent(new Event("input", { bubbles: true }));
      }
    },
    drag(figure, { drag, to, button = 0 }) {
      const token = figure.querySelectorAll(".token")[drag - 1];
      const box = token.parentElement.getBoundingClientRect();
      const send = (target, type, share) => target.dispatchEvent(new PointerEvent(type, {
        bubbles: true, pointerId: 7, button, clientX: box.left + share * box.width }));
      send(token, "pointerdown", 0);
      send(window, "pointermove", 1 - to);
      send(window, "pointermove", to);
      send(window, "pointerup", to);
      send(window, "pointermove", 0);
    },
    press(figure, { press, key }) {
      figure.querySelectorAll(".token")[press - 1].dispatchEvent(
        new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    },
  };
  function seen(figure) {
    const shown = {};
    for (const element of figure.querySelectorAll("[data-show]")) {
      const arrow = element.getAttribute("transform");
      shown[element.dataset.show] = arrow || element.textContent;
    }
    return shown;
  }
  const results = TOLD.map((told) => {
    const figure = figures[told.figure - 1];
    for (const name of Object.keys(acts)) if (name in told) acts[name](figure, told);
    return seen(figure);
  });
  const unnamed = [...document.querySelectorAll("input, [role=slider]")].filter((one) =>
    !one.labels?.length && !one.getAttribute("aria-label")).length;
  document.body.textContent = JSON.stringify({ results, unnamed,
    pictures: [...document.querySelectorAll("figure")].map((figure) => figure.hidden) });
]]

local function vector(list)
  return roper.tensor({ list }, "float64")
end

-- The `transform` of an arrow in the picture.
local function arrow(pair, from)
  local x, y, from_x, from_y = pair[1], pair[2], table.unpack(from or { 0, 0 })
  return { x, y, -y, x, from_x, from_y }
end

-- The values that the core computes for each kind of figure, by name: numbers, or lists of them.
local expected = {}

function expected.rotation(play, state)
  local count, found = #play.vectors, {}
  local rope = roper.position.rope({ dim = 2 * count, pairing = "interleaved",
    base = not state.theta and 10 ^ state.base or nil,
    frequencies = state.theta and { state.theta } or nil })
  local flat = {}
  for _, pair in ipairs(play.vectors) do
    table.move(pair, 1, 2, #flat + 1, flat)
  end
  local turned = rope:rotate(vector(flat), state.position):totable()[1]
  for t, theta in ipairs(rope:thetas():totable()) do
    local pair = { turned[2 * t - 1], turned[2 * t] }
    found["arrow" .. t], found["x" .. t], found["y" .. t] = arrow(pair), pair[1], pair[2]
    found["theta" .. t], found["turn" .. t] = theta, state.position * theta
    found["degrees" .. t] = math.deg(state.position * theta)
  end
  return found
end

-- The output and the weights of the query of a figure: with the rotary scheme that rotates the same
-- tensors, or else with tensors that `turned` has rotated.
local function attend(play, state, turned, mask)
  local own, is_rotary = state.positions[#state.positions], state.turns:find("^qk?v?o?$")
  local function heads(letter, list)
    return roper.tensor({ { tables.map(list, function(pair, i)
      return is_rotary and pair or turned(letter, pair, letter == "q" and own or state.positions[i])
    end) } }, "float64")
  end
  local o, a = roper.attention(heads("q", { play.query }), heads("k", play.keys),
    heads("v", play.values), { query_positions = { own },
      key_positions = state.positions, weights = true,
      mask = roper.tensor({ { { mask } } }, "int32"), position = is_rotary and
        roper.position.rope({ dim = 2, frequencies = { play.theta }, rotate = state.turns }) })
  o, a = o:totable()[1][1][1], a:totable()[1][1][1]
  return is_rotary and o or turned("o", o, -own), a
end

function expected.attention(play, state)
  local own, found, mask = state.positions[#state.positions], {}, {}
  local rope = roper.position.rope({ dim = 2, frequencies = { play.theta } })
  local function turned(letter, pair, place)
    local times = select(2, state.turns:gsub(letter, ""))
      - select(2, state.turns:gsub(letter:upper(), ""))
    return rope:rotate(vector(pair), times * place):totable()[1]
  end
  local query = turned("q", play.query, own)
  for i, place in ipairs(state.positions) do
    mask[i] = (state.causal == false or place <= own) and 1 or 0
  end
  local output, weights = attend(play, state, turned, mask)
  local sum, by_distance = { 0, 0 }, { 0, 0 }
  for i, place in ipairs(state.positions) do
    local key = turned("k", play.keys[i], place)
    found["position" .. i], found["distance" .. i] = place, place - own
    found["key" .. i], found["weight" .. i] = arrow(key), weights[i]
    found["score" .. i] = mask[i] == 1
      and (vector(query) * vector(key)):sum():item() / 2 ^ 0.5 or "not seen"
    local value = turned("v", play.values[i], place)
    if play.has_output then
      local part = { weights[i] * value[1], weights[i] * value[2] }
      found["value" .. i], found["part" .. i] = arrow(value), arrow(part, sum)
      sum = { sum[1] + part[1], sum[2] + part[2] }
      local back = turned("o", part, -own)
      found["moved" .. i] = arrow(turned("o", value, -own))
      found["back" .. i] = arrow(back, by_distance)
      by_distance = { by_distance[1] + back[1], by_distance[2] + back[2] }
    end
  end
  found.query = arrow(query)
  if play.has_output then
    found.ending = state.turns:find("o$") and "Rotated back: output o"
      or state.turns:find("O") and "Rotated forward: output o" or "Not rotated back: output o"
    found.sum, found.output = arrow(sum), arrow(output)
    found.output_x, found.output_y = output[1], output[2]
  end
  return found
end

-- The values, besides the output, that change when all tokens move together.
local CHANGES <const> = { q = "scores", qkkvo = "scores", qkv = "output", qkvO = "output",
  qkvvo = "output" }

-- The actions on a figure of each kind, and its state after each.
local actions = {}

function actions.rotation(play)
  local second = #play.vectors > 1 and { base = 2.5 } or { theta = 0.35 }
  local function state(fields)
    for name, value in pairs(second) do
      fields[name] = value
    end
    return fields
  end
  return { { { set = second }, state({ position = play.position }) },
    { { set = { position = 17 } }, state({ position = 17 }) },
    { { set = { position = 0 } }, state({ position = 0 }) } }
end

function actions.attention(play)
  local first, last = play.positions[1], #play.positions
  local by = play.positions[last] <= 17 and 7 or -7 -- a move of all tokens that stays on the line
  local list, turns = {}, play.turns[#play.turns]
  local function add(act, positions, causal)
    list[#list + 1] = { act, { positions = positions, turns = turns, causal = causal,
      is_together = act.set and act.set.first == first + by } }
  end
  -- The initial positions, all moved; those of the first and the last token can be given.
  local function moved(steps, of_first, of_last)
    local positions = tables.map(play.positions, function(place) return place + steps end)
    positions[1], positions[last] = of_first or positions[1], of_last or positions[last]
    return positions
  end
  add({ set = {} }, play.positions)
  for _, each in ipairs(play.turns) do
    turns = each
    add({ set = { turns = turns, first = first } }, play.positions)
    add({ set = { first = first + by } }, moved(by))
    add({ drag = 1, to = 0.51 }, moved(by, 12))
    add({ drag = 1, to = 0.9, button = 2 }, moved(by, 12))
    add({ press = last, key = "PageDown" }, moved(by, 12, play.positions[last] + by - 5))
    add({ press = last, key = "Home" }, moved(by, 12, 0))
    add({ set = { causal = false } }, moved(by, 12, 0), false)
    add({ drag = last, to = 2 }, moved(by, 12, 24), false)
    add({ set = { causal = true, first = 0 } }, moved(by - 12, 0, 12))
    for token, place in ipairs(play.positions) do
      local positions = moved(by - 12, 0, 12)
      table.move(play.positions, 1, token, 1, positions)
      add({ drag = token, to = place / 24 }, positions)
    end
  end
  return list
end

-- Numbers in a text.
local function numbers_in(text)
  local list = {}
  for number in text:gsub("−", "-"):gsub(",", ""):gmatch("%-?%d[%d.e+-]*") do
    list[#list + 1] = assert(tonumber(number), number)
  end
  return list
end

-- An error in the numbers that a figure shows; nil if there is none.
local function difference(values, shown)
  for name, value in pairs(values) do
    local text = shown[name]
    local is_number = type(value) == "number"
    if type(value) == "string" and value ~= text then
      return ("%s: expected %s, got %s"):format(name, value, text)
    end
    local decimals = is_number and #(tostring(text):match("%.(%d+)$") or "")
    local near = is_number and 0.5 * 10 ^ -decimals + 1e-6 or 1e-6
    local list = numbers_in(tostring(text))
    for i, number in ipairs(is_number and { value } or type(value) == "table" and value or {}) do
      local found = list[i]
      if not found or not (found == number or math.abs(found - number) <= near) then
        return ("%s: expected %s, got %s"):format(name, number, text)
      end
    end
  end
  return nil
end

-- Does any number of a kind, such as "score", differ before and after?
local function differs(kind, before, after)
  for name, text in pairs(before) do
    if name:find("^" .. kind) and after[name] ~= text then
      return true
    end
  end
  return false
end

describe("an interactive figure", function()
  local plays = {} -- of all lessons

  setup(function()
    scratch.create()
    local steps = {}
    for _, lesson in ipairs(lessons.all()) do
      for _, step in ipairs(lesson.steps) do
        local play = step.figure and step.figure.play
        if play and expected[play.kind] then
          plays[#plays + 1] = play
          steps[#steps + 1] = { title = lesson.name, text = "", claims = {}, figure = {
            caption = "still", claims = {}, play = play,
            draw = "return plot.line({1, 2}, {format = format})" } }
        end
      end
    end
    local lesson = { name = "play", title = "t", before = "b", after = "a", needs = {},
      notation = {}, steps = steps }
    page.write({ lesson }, scratch.path("site"))
    page.write({ lesson }, scratch.path("paper"), "handout")
  end)
  teardown(scratch.remove)

  it("is hidden until its script runs, and is left out of handouts", function()
    local text = scratch.read(scratch.path("site/play.html"))
    assert.equal(#plays, select(2, text:gsub('<figure class="play [^>]*hidden=""', "")))
    assert.equal(#plays, select(2, text:gsub("<figcaption>still", "")))
    assert.equal(3, select(2, text:gsub("<script>", "")))
    text = scratch.read(scratch.path("paper/play.html"))
    assert.is_nil(text:find("<script>", 1, true))
    assert.is_nil(text:find('class="play', 1, true))
  end)

  it("has its options in the help of lessons, as those of each kind", function()
    assert.equal("LessonAttention|LessonClocks|LessonDerivation|LessonHeads|LessonRotation|"
      .. "LessonSentence", kinds.TYPES)
  end)

  it("is rejected if it cannot be drawn", function()
    local function refused(given, message)
      local ok, found = pcall(lessons.lesson, { order = 1, title = "t", before = "b", after = "a",
        steps = { { title = "t", text = "t", figure = { caption = "c", draw = "x",
          claims = { { "true", instead = { "x", "y" } } }, play = given } } } })
      assert.is_false(ok)
      assert.truthy(found:find("figure, play: " .. message, 1, true), found)
    end
    refused({ kind = "dance" }, "option kind: expected one of attention, clocks, derivation, ")
    refused({ kind = "clocks", caption = "c", pairs = 4 },
      "option pairs: expected an integer from 16 to 64, got 4")
    refused({ kind = "rotation", caption = "c", vectors = { { 1, 2 }, { 1 } } },
      "option vectors: expected pairs of numbers, got a table")
    refused({ kind = "rotation", caption = "c", vectors = {} },
      "option vectors: expected 1 or more pairs of numbers, got 0")
    local function attention(changes)
      return tables.merged({ kind = "attention", caption = "c" }, changes)
    end
    refused(attention({ keys = { { 1, 2 } } }), "option keys: expected 4 pairs of numbers, got 1")
    refused(attention({ positions = { 1 }, keys = { { 1, 2 } } }),
      "option values: expected 1 pairs of numbers, got 4")
    refused(attention({ positions = { 1, 2, 3, 25 } }),
      "option positions: expected integers from 0 to 24, got 25 at index 4")
    refused(attention({ turns = { "qx" } }), "option turns: expected letters of what is rotated")
    refused(attention({ query = { 1 } }), "option query: expected 2 numbers, got 1")
  end)

  browser.it("plays a motion that ends at the still picture", function(path)
    local document = browser.load(path, scratch.read(scratch.path("site/play.html")), [[
      addEventListener("load", () => {
        const queue = [], lines = [];
        requestAnimationFrame = (frame) => queue.push(frame);
        for (const button of document.querySelectorAll(".motion")) {
          const arrow = button.closest(".play").querySelector(
            "[data-show=arrow1], [data-show=key1]");
          const seen = [arrow.getAttribute("transform")];
          button.click();
          for (let now = 0; queue.length > 0; now += 20) {
            queue.splice(0).forEach((frame) => frame(now));
            seen.push(arrow.getAttribute("transform"));
          }
          lines.push(`${new Set(seen).size > 3} ${seen[0] === seen.at(-1)}`);
        }
        document.body.textContent = lines.join("\n") + "\n";
      });]])
    local body = document:match("<body>(.*)</body>")
    local moving = 0
    for moved, ended in body:gmatch("(%l+) (%l+)\n") do
      moving = moving + 1
      assert.same({ "true", "true" }, { moved, ended })
    end
    assert.is_true(moving >= 5, body)
  end)

  browser.it("shows the numbers that the core computes, whatever is dragged", function(path)
    local acts, states = {}, {}
    for i, play in ipairs(plays) do
      for _, entry in ipairs(actions[play.kind](play)) do
        entry[1].figure = i
        acts[#acts + 1], states[#states + 1] = entry[1], entry[2]
      end
    end
    local document = browser.load(path, scratch.read(scratch.path("site/play.html")),
      "const TOLD = " .. core.json_encode(acts) .. ";" .. HAND)
    local body = assert(document:match("<body>(.*)</body>"))
    local found = core.json_decode((body:gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&amp;", "&")))
    assert.equal(0, found.unnamed)
    for i, is_hidden in ipairs(found.pictures) do
      local play = plays[(i + 1) // 2]
      assert.equal(i % 2 == 1 and not play.beside, is_hidden)
    end
    assert.equal(#acts, #found.results)
    for i, shown in ipairs(found.results) do
      local play = plays[acts[i].figure]
      local wrong = difference(expected[play.kind](play, states[i]), shown)
      assert.is_nil(wrong, ("%s after %s: %s"):format(play.kind, core.json_encode(acts[i]), wrong))
      if states[i].is_together then
        local before, changes = found.results[i - 1], CHANGES[states[i].turns]
        assert.is_true(differs("position", before, shown))
        assert.equal(changes == "scores", differs("score", before, shown))
        assert.equal(changes == "scores", differs("weight", before, shown))
        assert.equal(changes ~= nil and play.has_output, differs("output_", before, shown))
      end
    end
  end)
end)
