local cases = require("tests.fixtures.readings")
local core = require("roper.core")
local process = require("tests.process")
local reading = require("roper.workbench.lesson.reading")
local roper = require("roper")
local tables = require("roper.base.tables")

local FOLDER <const> = "./scripts/roper/workbench/lesson/quiz/"

-- Reads the answers in the first argument as pages do.
local SCRIPT <const> = ([[
  import { readings } from "%sreading.mjs";
  const answers = JSON.parse(process.argv[1]);
  console.log(JSON.stringify(answers.map((answer) => readings(answer, (name) => name === "x"))));
]]):format(FOLDER)

describe("an answer for a number", function()
  local answers = tables.map(cases, function(case) return case[1] end)

  local function check(read)
    for i, case in ipairs(cases) do
      assert.same({ table.unpack(case, 2) }, read(i), case[1])
    end
  end

  it("is read as Lua or as written at school", function()
    check(function(i)
      return reading.of(answers[i], function(name) return name == "x" end)
    end)
    assert.is_true(#cases > 50)
  end)

  it("is read on pages as in the terminal", function()
    if process.run({ "sh", "-c", "command -v node" }) ~= 0 then
      pending("Node.js is not installed (apt-get install nodejs)")
      return
    end
    local status, output, errors = process.run({ "node", "--input-type=module", "-e", SCRIPT, "--",
      core.json_encode(core.json_array(answers)) })
    assert.equal(0, status, errors)
    local found = core.json_decode(output)
    check(function(i) return table.move(found[i], 1, #found[i], 1, {}) end)
  end)

  it("can be any text", function()
    local parts = { "cos", "(", ")", " ", "60", "°", ",", "0,5", "%", "rad", "√", "\xff", "pi" }
    roper.seed(7)
    for _ = 1, 500 do
      local text = table.concat(tables.map(roper.randint(1, #parts, { 8 }):totable(),
        function(part) return parts[part] end))
      assert.is_true(#reading.of(text) >= 1)
    end
  end)

  it("does not hide a number of the lesson", function()
    assert.same({ "cos(60)" }, reading.of("cos(60)", function(name) return name == "cos" end))
    assert.same({ "2*pi" }, reading.of("2*pi", function(name) return name == "pi" end))
  end)
end)
