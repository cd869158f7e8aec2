require("roper")
local lessons = require("roper.workbench.lesson")
local files = require("roper.base.file")
local process = require("tests.process")
local scratch = require("tests.scratch")
local sessions = require("tests.sessions")

-- A lesson file with two steps.
local OWN <const> = [[
return roper.lesson { order = 1, title = "My own", before = "b", after = "a", steps = {
  { title = "Begin", text = "First words.", code = "x = 1",
    claims = { { "x == 1", instead = { "1", "2" } } },
    exercise = { question = "And then?", answer = "One more." } },
  { title = "Go on", text = "Second words.", code = "x = x + 1",
    claims = { { "x == 2", instead = { "+ 1", "+ 2" } } } } } }
]]

-- The number of a lesson in the list, with two characters, as the list shows it.
local function number_of(name)
  for number, found in ipairs(lessons.names()) do
    if found == name then
      return ("%2d"):format(number)
    end
  end
end

describe("./roper lesson", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("lists the lessons in their order", function()
    local status, output, errors = process.run({ "./roper", "lesson" }, nil, sessions.newcomer())
    assert.equal(0, status)
    assert.equal("", errors)
    assert.truthy(output:find("^ 1  ten%-minutes            RoPE and RoPER"))
    assert.truthy(output:find(("\n%s  attentive-convolution  RoPER as"):format(
      number_of("attentive-convolution")), 1, true))
    assert.truthy(output:find("\n +%d+ minutes, after rotation, general%-form\n"))
    assert.truthy(output:find("To begin with the first: ./roper lesson ten-minutes\n", 1, true))
    for _, form in ipairs { "lesson 5 ", "lesson 5 2 ", "lesson FILE.lua ", "lesson sources ",
      "--html", "--handout", "--slides" } do
      assert.truthy(output:find(form, 1, true), form)
    end
  end)

  it("lists the user's progress, and reports if it cannot be read", function()
    local home = sessions.newcomer()
    local kept = home.HOME .. "/.local/state/roper/lessons.json"
    files.make(home.HOME .. "/.local/state/roper")
    files.write(kept, [[{"lessons": {"rotation": {"step": 3, "answered": []},
      "precision": {"step": 1, "answered": [], "done": true},
      "why-position": {"step": 99, "answered": []}}}]])
    local _, output, errors = process.run({ "./roper", "lesson" }, nil, home)
    assert.equal("", errors)
    local rotation = ("\n%s  rotation +Rotating a pair[^\n]+\n"):format(number_of("rotation"))
    assert.matches(rotation .. "    3/%d +%d+ minutes, after", output)
    assert.matches("\n *%d+  precision +[^\n]+\n    done +%d+ minutes", output)
    assert.matches("\n 2  why%-position +[^\n]+\n    (%d)/%1 +%d+ minutes", output)
    assert.matches("\n *%d+  general%-form +[^\n]+\n +%d+ minutes", output)
    files.write(kept, "damaged")
    local status
    status, output, errors = process.run({ "./roper", "lesson" }, nil, home)
    assert.equal(0, status)
    assert.matches(rotation .. " +%d+ minutes, after", output)
    assert.equal(("your progress cannot be shown: %s is damaged and is not changed; repair or "
      .. "delete it\n"):format(kept), errors)
  end)

  it("accepts a lesson's number in the list, and the step to begin with", function()
    local number = number_of("general-form"):match("%d+")
    local status, output, errors = process.run({ "./roper", "lesson", number, "5" })
    assert.equal(0, status)
    assert.equal("", errors)
    assert.truthy(output:find("^Many pairs, many frequencies\n"))
    assert.is_nil(output:find("4/5", 1, true))
    assert.truthy(output:find("\n5/5  Converting weights\n", 1, true))
    assert.truthy(output:find("✓ every claim holds from step 5 on\n$"))
  end)

  it("lists the sources of the lessons, with their addresses", function()
    local status, output, errors = process.run({ "./roper", "lesson", "sources" })
    assert.equal(0, status)
    assert.equal("", errors)
    assert.matches("^Sources\n\nRoPER\n\nHarik and Jayasiri 2022%. ", output)
    for _, address in ipairs { "https://research.labml.ai/RoPER.html\n", "arXiv:2104.09864\n",
      "/issues/251\n" } do
      assert.truthy(output:find(address, 1, true), address)
    end
    for _, words in ipairs { { "2" }, { "--check" }, { "--html", "x" } } do
      status, output, errors = process.run({ "./roper", "lesson", "sources",
        table.unpack(words) })
      assert.equal(2, status)
      assert.equal("", output)
      assert.truthy(errors:find("sources is not a lesson", 1, true), errors)
    end
  end)

  it("shows the lesson in a file", function()
    local path = scratch.write("my_own.lua", OWN)
    local status, output, errors = process.run({ "./roper", "lesson", path, "2" })
    assert.equal(0, status)
    assert.equal("", errors)
    assert.is_nil(output:find("First words", 1, true))
    assert.truthy(output:find("✓ x == 2   measured: 2\n", 1, true))
    status, output = process.run({ "./roper", "lesson", "--check", path })
    assert.equal(0, status)
    assert.equal("ok 1 - my-own 1: x == 1\nok 2 - my-own 2: x == 2\n1..2\n", output)
    path = scratch.write("broken.lua", "\nreturn roper.lesson {")
    status, output, errors = process.run({ "./roper", "lesson", path })
    assert.equal(1, status)
    assert.equal("", output)
    assert.truthy(errors:find(path .. ":2: unexpected symbol near <eof>", 1, true), errors)
  end)

  it("shows a whole lesson if there is no terminal", function()
    local status, output = process.run({ "./roper", "lesson", "general_form" })
    assert.equal(0, status)
    assert.truthy(output:find("^Many pairs, many frequencies\n"))
    assert.truthy(output:find("\n5/5  Converting weights\n", 1, true))
    assert.truthy(output:find("✓ every claim holds\n$"))
  end)

  it("checks one, and prints TAP", function()
    local status, output, errors = process.run({ "./roper", "lesson", "rotation", "--check" })
    assert.equal(0, status)
    assert.equal("", errors)
    assert.truthy(output:find("^ok 1 %- rotation 1: math.abs"))
    assert.truthy(output:find("\n1%.%.%d+\n$"))
  end)

  it("does not let the code of a lesson end its check", function()
    local step = OWN:gsub("x = 1\"", "x = 1; os.exit(0)\"")
    for content, message in pairs({
      [step] = "my_own.lua: step 1, code:1: os.exit: a lesson cannot end the program",
      ["os.exit(0)\n" .. OWN] = "my_own.lua:1: os.exit: a lesson cannot end the program" }) do
      local path = scratch.write("my_own.lua", content)
      local status, output, errors = process.run({ "./roper", "lesson", path, "--check" })
      assert.equal(1, status)
      assert.truthy((output .. errors):find(message, 1, true), output .. errors)
    end
  end)

  it("checks a file that cannot be read, and reports its fault", function()
    local path = scratch.write("my_own.lua", (OWN:gsub("text = \"Second", "txt = \"Second")))
    local fault = path .. ": lesson: step 2: unknown option txt; did you mean \"text\"? It takes "
      .. "claims, code, exercise, figure, formula, identity, predict, python, text, title\n"
    local status, output = process.run({ "./roper", "lesson", path, "--check" })
    assert.equal(1, status)
    assert.equal("not ok 1 - my-own: is read\n# " .. fault
      .. "1..1\n# 1 of 1 checks fail\n", output)
    local errors
    status, output, errors = process.run({ "./roper", "lesson", path })
    assert.equal(1, status)
    assert.equal("", output)
    assert.equal("roper: " .. fault, errors)
  end)

  it("reports a failure of code with its place, however the lesson is shown", function()
    local path = scratch.write("my_own.lua", (OWN:gsub("x %+ 1\"", "x + 1 + y.z\"")))
    for _, options in ipairs { {}, { "--check" }, { "--html", scratch.path("pages") } } do
      local status, output, errors = process.run({ "./roper", "lesson", path,
        table.unpack(options) })
      assert.equal(1, status)
      assert.truthy((output .. errors):find(path .. ": step 2, code:1: attempt to index a nil", 1,
        true), output .. errors)
    end
  end)

  it("writes one as a page, with an index", function()
    local folder = scratch.path("pages")
    local status, output = process.run({ "./roper", "lesson", "--html", folder, "rotation" })
    assert.equal(0, status)
    assert.equal(("Wrote %s/index.html\n"):format(folder), output)
    assert.truthy(scratch.read(folder .. "/rotation.html"):find("By hand, in degrees", 1, true))
    status, output = process.run({ "./roper", "lesson", "--html", "/dev/null/x", "rotation" })
    assert.equal(1, status)
    assert.equal("", output)
  end)

  it("writes one as a handout, without answers, and as slides, with them", function()
    local path = scratch.write("my_own.lua", OWN)
    for _, form in ipairs { "--handout", "--slides" } do
      local status = process.run({ "./roper", "lesson", path, form, scratch.path(form) })
      assert.equal(0, status)
    end
    local handout = scratch.read(scratch.path("--handout/my-own.html"))
    assert.truthy(handout:find("And then?", 1, true))
    assert.is_nil(handout:find("One more", 1, true))
    local slides = scratch.read(scratch.path("--slides/my-own.html"))
    assert.truthy(slides:find("One more", 1, true))
    assert.truthy(slides:find("break-after: page", 1, true))
    for name, message in pairs { index = "index.html lists all lessons",
      sources = "sources.html lists their sources; rename the file sources.lua" } do
      local status, _, errors = process.run({ "./roper", "lesson",
        scratch.write(name .. ".lua", OWN), "--html", scratch.path("other") })
      assert.equal(1, status)
      assert.truthy(errors:find(message, 1, true), errors)
    end
  end)

  it("rejects unknown lessons, steps and options", function()
    local function refused(message, ...)
      local status, _, errors = process.run({ "./roper", "lesson", ... })
      assert.equal(2, status)
      assert.truthy(errors:find(message, 1, true), errors)
    end
    refused("no lesson 'rotaton'; did you mean \"rotation\"?", "rotaton")
    refused("can not be used together", "--check", "--html", "x")
    refused("no lesson 77; there are " .. #lessons.all(), "77")
    refused("precision has 3 steps, no step 4", "precision", "4")
    refused("--slides takes whole lessons; leave out the step, 2", "8", "2", "--slides", "x")
    refused("unknown option '--chek'", "--chek")
  end)

  it("has lessons that also run as scripts", function()
    local path = "scripts/lessons/relative_distance.lua"
    local status, output, errors = process.run({ "./roper", path })
    assert.equal(0, status)
    assert.equal("", errors)
    local last_line = "unrotate(sum(a*rotate(v, i)), n) == sum(a*rotate(v, i - n))"
    assert.truthy(output:find(last_line, 1, true))
    assert.truthy(output:find("agree in 6 random trials modulo p = 2147483647", 1, true))
    assert.truthy(output:find("✓ every claim holds\n$"))
    local false_one = scratch.write("false.lua", [[roper.lesson { order = 1, title = "t",
      before = "b", after = "a", steps = { { title = "s", text = "t",
      identity = { "sin(m) == cos(m)", given = { m = "position" } } } } }]])
    status, output, errors = process.run({ "./roper", false_one })
    assert.equal(1, status)
    assert.truthy(output:find("✗ a claim FAILS\n$"))
    assert.truthy(errors:find("lesson: a claim fails", 1, true))
  end)
end)
