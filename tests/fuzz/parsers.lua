-- The readers of text in Lua. Each has a corpus and a function `run` that reads a text and raises
-- an error if it is wrong; it returns a problem if a property does not hold. If a reader has
-- `literals`, these replace values of its texts.

local core = require("roper.core")
local files = require("tests.fuzz.files")
local roper = require("roper")

local M = {}

local function same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then
    return rawequal(a, b) or a ~= a and b ~= b or a == b and math.type(a) == math.type(b)
  end
  for key, value in pairs(a) do
    if not same(value, b[key]) then
      return false
    end
  end
  for key in pairs(b) do
    if a[key] == nil then
      return false
    end
  end
  return true
end

M.json = {
  corpus = { files.read("tests/fuzz/corpus/json/value.json"),
    files.read("tests/fuzz/corpus/json/numbers.json"),
    files.read("tests/fuzz/corpus/json/metrics.json") },
  run = function(text)
    local value, problem = core.json_decode(text)
    if problem then
      error(problem, 0)
    end
    local ok, again = pcall(core.json_encode, value)
    if not ok then
      return not again:find("NUL byte") and "decoded, but: " .. again or nil
    end
    return not same(value, core.json_decode(again)) and "printed as " .. again or nil
  end,
}

local text_of = require("roper.position.text")
local syntax = require("roper.position.syntax")
M.schemes = {
  corpus = { "rope", "rope+alibi:yarn{factor=4}", "rope{base=500}", "rope:none",
    "yarn{factor=2,fast=16,ramp='turns'}", "alibi{slopes={0.5,0.25}}", "rope{pairing=interleaved}",
    "rope+alibi", "roper{magnitude=1.5,last=true}", "longrope{factor=4,long={1,2},short={1,1}}" },
  run = function(text)
    local canonical = text_of.canonical(text, "position")
    local again = text_of.canonical(canonical, "position")
    return canonical ~= again and ("%s becomes %s"):format(canonical, again) or nil
  end,
}

M.choices = {
  corpus = { "rope,roper", "rope,yarn{factor=2,fast=16},none:rope", "rope{a='},',b=2},none" },
  run = function(text)
    syntax.unfinished(text)
    local joined = table.concat(syntax.choices(text), ",")
    return joined ~= text and ("choices of %s"):format(joined) or nil
  end,
}

local statements = require("roper.identity.statement")
M.identities = {
  corpus = { "rotate(rotate(x, m), n) == rotate(x, m + n)", "cos(m + n) == cos(m) + cos(n)",
    "dot(rotate(q, a + b), rotate(k, a)) == dot(q, unrotate(k, b))", "x[1]^2 + x[2]^2 == dot(x, x)",
    "sum(w * rotate(x, m)) == sum(rotate(w * x, m))", "cos(m)*cos(m) + sin(m)*sin(m) == 1",
    "rotation(m) * transpose(rotation(n)) == rotation(m - n)", "pair(x[1], -x[2]) == x" },
  run = function(text)
    local given = { x = "vector", q = "vector", k = "vector", m = "position", n = "position",
      a = "angle", b = "angle", w = "numbers" }
    statements.sides(text, statements.variables(given))
    if #text < 60 and math.random(50) == 1 then
      roper.identity({ text, given = given })
    end
  end,
}

local FORMULAS <const> = { "|x| = √{x₁² + x₂²}", "(q, m) · (k, n) = q · k + m n", "a_{m,n}",
  "Σ (xᵢ − mean)² / (n − correction)", "R_m R_n = R_{m+n}", "Σ_{n≤m} a_{m,n} v_n",
  "\\frac{a}{b}", "P < (2D/p)^N < 1e-50", "x = {a \\over b}" }
for _, module in ipairs({ "terminal", "mathml" }) do
  local formulas = require("roper.text.formula." .. module)
  M["formulas_" .. module] = {
    corpus = FORMULAS,
    run = function(text)
      formulas.line(text)
      formulas.display(text)
    end,
  }
end

local LESSON <const> = [[
return roper.lesson {
  order = 1, title = "The length of a vector", minutes = 5,
  before = "You know the theorem of Pythagoras.", after = "You can compute a length.",
  needs = {"rotation"}, notation = {{"|x|", "the length of $x$"}}, given = {m = "position"},
  steps = {{
    title = "Two components", text = "A pair $x$ is an arrow.", formula = "|x| = √{x₁² + x₂²}",
    predict = {question = "What is the length of $(3, 4)$?", expect = "length", within = 0,
      answer = "$√{9 + 16} = 5$.", hints = {{"it == 7", "Square first."}, "Square both."}},
    code = "x = 5 length = x",
    claims = {{"length == 5", instead = {"x = 5", "x = 4"}}},
    identity = {"cos(m)*cos(m) + sin(m)*sin(m) == 1",
      wrong = {"cos(m)*cos(m) - sin(m)*sin(m) == 1"}},
    figure = {caption = "The arrow.",
      draw = "y = {3, 4} return plot.arrows({y}, {format = format})",
      claims = {{"y[2] == 4", instead = {"{3, 4}", "{3, 5}"}}},
      play = {kind = "rotation", vectors = {{3, 4}}, caption = "Rotate it."}},
    exercise = {{question = "Which is longer?", choices = {"(3, 4)", "(0, 6)"}, expect = 2,
      answer = "$√{0 + 36} = 6$.", hints = {{"it == 1", "It has length 5."}, "Compute both."}}},
  }},
}]]
local lessons = require("roper.workbench.lesson")
M.lessons = {
  corpus = { LESSON },
  literals = { "{}", "{{}}", "{1, 2}", "nil", "0", "-1", "1/0", "0/0", "true", "print", '""' },
  run = function(text)
    lessons.read(files.write("a_lesson.lua", text))
  end,
}

local cli = require("roper.workbench.session.cli")
local grid = require("roper.workbench.study.experiment.grid")
M.commands = {
  corpus = { "train addition preset=smoke steps=5", "sweep addition seed=1..3 position=rope,none",
    "eval runs/a --checkpoint best", "report runs --over rate", "runs runs --csv", "sample a -n 3",
    "lesson --check rotation", "study --preset smoke", "export a b", "watch runs",
    "sweep addition rate=1e-3,2e-3 layers=1..4 --jobs 2 --folder f", "train copy --from a" },
  run = function(text)
    local words = {}
    for word in text:gmatch("%S+") do
      words[#words + 1] = word
    end
    local parser = cli.parser(words[1])
    if words[2] and (text:find("%-%-help") or text:find("%-h")) then
      return -- which prints and exits
    end
    local ok, parsed = parser:pparse(words)
    if ok and parsed.fields and type(parsed.experiment or parsed.what) == "string" then
      local given = {}
      for i, pair in ipairs(parsed.fields) do
        given[i] = { pair[1], grid.values(pair[1], pair[2]) }
      end
      grid.configure(parsed.experiment or parsed.what, given)
    elseif not ok then
      error(parsed, 0)
    end
  end,
}

M.einsum = {
  corpus = { "ij,jk->ik", "bhqd,bhkd->bhqk", "ii->i", "ij->ji", "...i,...i->...", "i,i->", "ij->" },
  run = function(text)
    local x = roper.ones({ 2, 2 })
    local operands = { x }
    for _ in text:gmatch(",") do
      operands[#operands + 1] = #operands < 9 and x or nil
    end
    roper.einsum(text, table.unpack(operands))
  end,
}

return M
