-- The heads of models by distance, before, during and after training.

local browser = require("tests.browser")
local core = require("roper.core")
local heads = require("roper.workbench.lesson.play.heads")
local markup = require("roper.text.markup")
local play = require("roper.workbench.lesson.play")

-- Two methods with three states of one head with four distances.
local DATA <const> = { methods = { "RoPE", "RoPER" }, every = 10, weights = {
  { { { 400, 300, 200, 100 } }, { { 100, 200, 600, 100 } }, { { 0, 0, 900, 100 } } },
  { { { 400, 300, 200, 100 } }, { { 100, 700, 100, 100 } }, { { 0, 800, 200, 0 } } } } }

local HAND <const> = [=[
  addEventListener("load", () => {
    const figure = document.querySelector(".heads");
    const find = (selector) => figure.querySelector(selector);
    const look = () => ({ say: find(".say").textContent, step: find("output").textContent,
      cells: [...figure.querySelectorAll("td")].map((cell) => cell.textContent).join(" "),
      now: figure.querySelectorAll(".now").length, was: figure.querySelectorAll(".was").length });
    const seen = [look()];
    for (const value of [0.5, 2]) {
      find("input").value = value;
      find("input").dispatchEvent(new Event("input", { bubbles: true }));
      seen.push(look());
    }
    figure.dispatchEvent(new CustomEvent("data", { detail: { methods: ["RoPE", "RoPER"], every: 5,
      weights: [1, 2].map((i) => [[[1000, 0, 0, 0]], [[0, 0, 0, 1000 / i]]]) } }));
    seen.push(look());
    document.body.textContent = JSON.stringify(seen);
  });
]=]

describe("the heads by distance", function()
  setup(require("tests.scratch").create)
  teardown(require("tests.scratch").remove)

  it("are shown during training, and replaced by those of a session", function()
    local path, reason = browser.find()
    if not path then
      pending(reason)
      return
    end
    local given = play.check("figure", { kind = "heads", caption = "c", data = "heads" })
    local _, script = play.assets({ "heads" })
    local page = markup.render({ play.figure(given, "c", DATA), script })
    local found = core.json_decode((browser.load(path,
      "<!doctype html><html><head></head><body><p></p>" .. page .. "</body></html>", HAND)
      :match("<body[^>]*>(.*)</body>")))
    local before, between, after, other = table.unpack(found)
    assert.equal("Before training, the heads have their largest weight at these distances: RoPE at "
      .. "0; RoPER at 0.", before.say)
    assert.equal("5", between.step)
    assert.equal("2  0.40 1  0.50", between.cells)
    assert.equal("After 20 steps, the heads have their largest weight at these distances: RoPE at "
      .. "2; RoPER at 1.", after.say)
    assert.equal("2  0.90 1  0.80", after.cells)
    assert.equal("3  1.00 3  0.50", other.cells)
    assert.truthy(other.say:find("^After 5 steps"), other.say)
    assert.same({ 2, 2 }, { after.now, after.was })
  end)

  it("are refused if methods differ in their number of states, heads or distances", function()
    local function refused(data, message)
      local ok, problem = pcall(heads.draw, {}, data)
      assert.is_false(ok)
      assert.equal("heads: data: expected " .. message, problem)
    end
    refused(nil, "methods, every and weights, with an entry for each method")
    refused({ methods = { "RoPE" }, every = 10, weights = {} },
      "methods, every and weights, with an entry for each method")
    refused({ methods = { "RoPE" }, every = 10, weights = { { { { 1 }, { 1, 2 } }, {} } } },
      "as many states, heads and distances for each method")
    refused({ methods = { "RoPE" }, every = 10, weights = { { { { 1 } } } } },
      "two or more states of one or more heads")
  end)
end)
