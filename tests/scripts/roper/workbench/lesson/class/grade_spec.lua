require("roper")
local bank = require("roper.workbench.lesson.class.bank")
local core = require("roper.core")
local grade = require("roper.workbench.lesson.class.grade")
local grades = require("roper.workbench.lesson.class.grades")
local lessons = require("roper.workbench.lesson")
local process = require("tests.process")
local scratch = require("tests.scratch")
local tables = require("roper.base.tables")
local terminal = require("roper.text.document.terminal")

-- A lesson with a question of each kind.
local LESSON <const> = [[return roper.lesson { order = 1, title = "Own", before = "b", after = "a",
  steps = { { title = "One", text = "T.", code = "x = 3", exercise = {
      { question = "Twice?", expect = "2 * x", answer = "6.",
        hints = { { "it == 3", "That is half of it." }, "Multiply." } },
      { question = "Set y to x.", check = "y == x", sample = "y = x", answer = "Add 0.",
        form = { "y = ___ + ___", { "x", "2" }, { "0", "1" } },
        hints = { { "y == 4", "That is too much." }, "Add less." } } } },
    { title = "Two", text = "T.", predict = { question = "Which?", choices = { "one", "two" },
        expect = 2, answer = "Two.", hints = { { "it == 1", "Not one." }, "Think." } },
      exercise = { question = "Why?", answer = "Because." } } } }]]

describe("grading", function()
  local some, folder

  before_each(function()
    scratch.create()
    some = { lessons.read(scratch.write("own.lua", LESSON)), lessons.find("precision") }
    folder = scratch.path("handed")
    require("roper.system.file").make(folder)
  end)
  after_each(scratch.remove)

  -- Writes a file as the page for answers does, with other fields if given.
  local function hand_in(name, student, answers, fields)
    local content = { format = "roper answers", version = 1, student = student, answers = answers,
      lessons = { own = bank.fingerprint(some[1]) },
      saved = "2026-11-24T10:00:00.000Z" }
    for field, value in pairs(fields or {}) do
      content[field] = value
    end
    scratch.write("handed/" .. name, core.json_encode(content))
  end

  local function list(...)
    return core.json_array({ ... })
  end

  -- The kinds of a student's marks by question.
  local function kinds_of(student)
    local kinds = {}
    for id, mark in pairs(student.marks) do
      kinds[id] = mark.kind
    end
    return kinds
  end

  it("judges numbers, choices and forms as the terminal does", function()
    hand_in("ada.json", "Ada", { ["own 1.1"] = "√36", ["own 1.2"] = list(1, 1), ["own 2.1"] = "b",
      ["own 2.2"] = "So it is." })
    hand_in("ben.json", "Ben", { ["own 1.1"] = "x", ["own 1.2"] = list(1, 2), ["own 2.1"] = "a" })
    hand_in("cy.json", "Cy", { ["own 1.1"] = "7", ["own 1.2"] = list(2, 2) })
    local found = grade.folder(folder, some)
    assert.same({ ["own 1.1"] = "right", ["own 1.2"] = "right", ["own 2.1"] = "right",
      ["own 2.2"] = "open" }, kinds_of(found.students[1]))
    assert.equal(3, found.students[1].right)
    local marks = found.students[2].marks
    assert.same({ kind = "wrong", shown = "x", hint = "That is half of it." }, marks["own 1.1"])
    assert.same({ kind = "wrong", shown = "y = x + 1", hint = "That is too much." },
      marks["own 1.2"])
    assert.same({ kind = "wrong", shown = "a) one", hint = "Not one." }, marks["own 2.1"])
    marks = found.students[3].marks
    assert.same({ kind = "wrong", shown = "7", hint = "Multiply." }, marks["own 1.1"])
    assert.same({ kind = "right", shown = "y = 2 + 1" }, marks["own 1.2"])
    assert.same({}, found.notes)
  end)

  it("counts the questions that were on the pages", function()
    hand_in("ada.json", "Ada", { ["own 2.1"] = "b" }, { asked = { "own 2.1", "own 2.2" } })
    local function ids()
      return tables.map(grade.folder(folder, some).items, function(item) return item.id end)
    end
    assert.same({ "own 2.1", "own 2.2" }, ids())
    hand_in("ben.json", "Ben", { ["own 1.1"] = "6" }, { asked = { "own 1.1" } })
    assert.same({ "own 1.1", "own 2.1", "own 2.2" }, ids())
    hand_in("cy.json", "Cy", { ["own 1.1"] = "6" }) -- of a page that does not say
    assert.same({ "own 1.1", "own 1.2", "own 2.1", "own 2.2" }, ids())
  end)

  it("ignores what a file says about its answers", function()
    hand_in("eve.json", "Eve", { ["own 1.1"] = "5" }, { right = 10, marks = { "right" },
      expected = { ["own 1.1"] = "5" } })
    assert.equal(0, grade.folder(folder, some).students[1].right)
  end)

  it("runs nothing that a student wrote", function()
    local ran = scratch.path("ran")
    local hostile = { ("io.open(%q, 'w')"):format(ran), "os.exit(0)", "while true do end", "{1}",
      "('x'):rep(1e9)", "math.random(3)", "6 --", "6; x = 1", "function() end", "x.y", "nothing",
      "_G", ("("):rep(150), ("9"):rep(150), ("6 "):rep(100), "1//0", "\u{202E}1", "1 .. 2",
      "math.floor", "0/0", "math", "2 ^ 2 ^ 99999 // 1", ("1 "):rep(600) }
    for i, answer in ipairs(hostile) do
      hand_in(("%02d.json"):format(i), ("Student %02d"):format(i), { ["own 1.1"] = answer,
        ["own 1.2"] = answer, ["own 2.1"] = answer })
    end
    local found = grade.folder(folder, some)
    assert.is_nil(io.open(ran))
    for _, student in ipairs(found.students) do
      assert.equal(0, student.right, student.student)
      for id, mark in pairs(student.marks) do
        assert.is_true(mark.kind == "unread" or id == "own 1.1" and mark.kind == "wrong",
          mark.shown)
      end
    end
    for _, answer in ipairs({ list(), list(0, 1), list(9, 1), list(1), list(1, 1, 1), list("1", 1),
      list(1.5, 1), { a = 1 } }) do
      hand_in("01.json", "Student 01", { ["own 1.2"] = answer })
      local mark = grade.folder(folder, some).students[1].marks["own 1.2"]
      assert.is_true(mark == nil or mark.kind == "unread")
    end
  end)

  it("gives each file that cannot be used a message, and grades the others", function()
    local right = { ["own 1.1"] = "6" }
    hand_in("ada.json", "Ada", right)
    scratch.write("handed/copy.json", scratch.read(scratch.path("handed/ada.json")))
    hand_in("early.json", "Cy", {}, { saved = "2026-11-24T09:00:00.000Z" })
    hand_in("late.json", "cy", right, { saved = "2026-11-24T11:00:00.000Z" })
    hand_in("old.json", "Old", right, { lessons = { own = "0" } })
    hand_in("else.json", "Else", right, { lessons = { knitting = "0" } })
    hand_in("version.json", "New", right, { version = 2 })
    hand_in("without.json", "None", right, { answers = false })
    hand_in("noname.json", " ", { ["own 1.1"] = "6", ["own 1.2"] = { a = true },
      ["own 9.9"] = "1" })
    for name, text in pairs({ empty = "", bad = '{"format', foreign = '{"a": 1}', list = "[1]",
      deep = ("["):rep(100000), bytes = "\255\254\0", huge = (" "):rep(1000001) }) do
      scratch.write(("handed/%s.json"):format(name), text)
    end
    scratch.write("handed/notes.txt", "x")
    scratch.write("handed/.hidden", "x")
    require("roper.system.file").make(folder .. "/folder.json")
    assert.equal(0, process.run({ "mkfifo", folder .. "/pipe.json" }))
    local found = grade.folder(folder, some)
    local said, names = {}, {}
    for _, note in ipairs(found.notes) do
      said[note.file] = (said[note.file] and said[note.file] .. "; " or "") .. note.message
    end
    for i, student in ipairs(found.students) do
      names[i] = ("%s %s %d"):format(student.student, student.file, student.right)
    end
    assert.same({ "Ada ada.json 1", "cy late.json 1", "noname noname.json 1" }, names)
    for file, message in pairs({ ["copy.json"] = "^the same as ada.json; left out$",
      ["early.json"] = "^Cy also handed in late.json, which was saved later; left out",
      ["old.json"] = "^the questions have changed in own; write the kit again",
      ["else.json"] = "^there is no lesson knitting; its answers are left out. For a lesson of",
      ["version.json"] = "^expected version 1 of the format, got 2",
      ["without.json"] = "^expected answers and lessons",
      ["noname.json"] = "the name of the file is used; 1 answer in a form that no page saves; left "
        .. "out; 1 answer to no question; left out$",
      ["empty.json"] = "^the file is empty$", ["bad.json"] = "^expected JSON",
      ["foreign.json"] = "^expected a file that the page for answers saved",
      ["list.json"] = "^expected a file that the page", ["deep.json"] = "^expected JSON",
      ["bytes.json"] = "^expected JSON", ["huge.json"] = "^expected at most 1 MB, got 1.0 MB$",
      ["notes.txt"] = "^expected a name that ends in .json", ["folder.json"] = "got a directory",
      ["pipe.json"] = "got a fifo" }) do
      assert.matches(message, said[file] or "", 1, false, file)
      said[file] = nil
    end
    assert.same({}, said)
  end)

  it("refuses a folder without answers, and names its files", function()
    assert.error_matches(function() grade.folder(folder, some) end,
      "^no answers to grade in .*; expected files that the page for answers of a kit saved")
    scratch.write("handed/a.json", "")
    assert.error_matches(function() grade.folder(folder, some) end,
      "\n  a.json: the file is empty$")
    assert.error_matches(function() grade.folder(folder .. "s", some) end,
      "^lesson: there is no folder .*handeds; did you mean")
  end)

  it("shows a table, totals and the usual wrong answers, and escapes names", function()
    hand_in("ada.json", "A\27[31mda", { ["own 1.1"] = "6", ["own 2.1"] = "b" })
    for i = 1, 3 do
      hand_in(i .. ".json", "Student " .. i, { ["own 1.1"] = i == 3 and "7" or "3",
        ["own 2.1"] = i == 1 and "x = 1" or nil, ["own 2.2"] = i == 2 and "No." or nil })
    end
    local found = grade.folder(folder, some)
    local text = terminal.render(grades.document(found))
    assert.matches("\n  A\\x1B%[31mda +2/3 +2/3\n", text)
    assert.matches("\n  A\\x1B%[31mda +✓ +· +✓ +· +2\n", text)
    assert.matches("\n  Student 1 +✗ +· +%? +· +0\n", text)
    assert.matches("\n  right +1 +0 +1 *\n", text)
    assert.matches("1%.1 2 × 3 instead of 6%. That is half of it%.\n.*1%.1 1 × 7 instead", text)
    assert.matches("own 2%.1 Student 1: x = 1 %(not an answer to such a question%)", text)
    assert.matches("own 2%.2 Student 2: No%.\n", text)
    assert.equal("\u{FEFF}student,file,own 1.1,own 1.2,own 2.1,right,of\n"
      .. "A\\x1B[31mda,ada.json,1,,1,2,3\nStudent 1,1.json,0,,0,0,3\nStudent 2,2.json,0,,,0,3\n"
      .. "Student 3,3.json,0,,,0,3\n", grades.csv(found))
  end)

  it("writes no student's name that a spreadsheet runs", function()
    hand_in("eve.json", "=1+1", { ["own 1.1"] = "6" })
    assert.matches("\n'=1%+1,eve%.json,1,", grades.csv(grade.folder(folder, some)))
  end)
end)
