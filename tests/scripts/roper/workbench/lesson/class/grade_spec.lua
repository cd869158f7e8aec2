require("roper")
local bank = require("roper.workbench.lesson.class.bank")
local core = require("roper.core")
local grade = require("roper.workbench.lesson.class.grade")
local grades = require("roper.workbench.lesson.class.grades")
local lessons = require("roper.workbench.lesson")
local process = require("tests.process")
local scratch = require("tests.scratch")
local terminal = require("roper.text.document.terminal")

describe("grading", function()
  local some, folder

  setup(function()
    some = { lessons.find("rotation"), lessons.find("relative-score") }
  end)
  before_each(function()
    scratch.create()
    folder = scratch.path("handed")
    require("roper.system.file").make(folder)
  end)
  after_each(scratch.remove)

  -- Writes a file as the page for answers does, with other fields if given.
  local function hand_in(name, student, answers, fields)
    local content = { format = "roper answers", version = 1, student = student, answers = answers,
      lessons = { rotation = bank.fingerprint(some[1]),
        ["relative-score"] = bank.fingerprint(some[2]) },
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
    hand_in("ada.json", "Ada", { ["rotation 1.1"] = "-1", ["rotation 1.2"] = list(2, 1),
      ["rotation 2.1"] = "sin 90°", ["rotation 4.1"] = "c", ["rotation 5.1"] = "b",
      ["relative-score 2.1"] = "1/2", ["relative-score 5.2"] = list(2, 4) })
    hand_in("ben.json", "Ben", { ["rotation 1.1"] = "1", ["rotation 1.2"] = list(1, 3),
      ["rotation 4.1"] = "a", ["relative-score 5.2"] = list(1, 1) })
    local found = grade.folder(folder, some)
    assert.same({ ["rotation 1.1"] = "right", ["rotation 1.2"] = "right",
      ["rotation 2.1"] = "right", ["rotation 4.1"] = "right", ["rotation 5.1"] = "wrong",
      ["relative-score 2.1"] = "right", ["relative-score 5.2"] = "right" },
      kinds_of(found.students[1]))
    assert.equal(6, found.students[1].right)
    assert.same({ ["rotation 1.1"] = "wrong", ["rotation 1.2"] = "wrong",
      ["rotation 4.1"] = "wrong", ["relative-score 5.2"] = "wrong" }, kinds_of(found.students[2]))
    local marks = found.students[2].marks
    assert.matches("counterclockwise", marks["rotation 1.1"].hint)
    assert.equal("{-4, 3}", marks["rotation 1.2"].shown)
    assert.matches("quarter turn", marks["rotation 1.2"].hint)
    assert.equal("a) cos a + cos b", marks["rotation 4.1"].shown)
    assert.same({}, found.notes)
  end)

  it("ignores what a file says about its answers", function()
    hand_in("eve.json", "Eve", { ["rotation 1.1"] = "5" }, { right = 10, marks = { "right" },
      expected = { ["rotation 1.1"] = "5" } })
    assert.equal(0, grade.folder(folder, some).students[1].right)
  end)

  it("runs nothing that a student wrote", function()
    local ran = scratch.path("ran")
    local hostile = { ("io.open(%q, 'w')"):format(ran), "os.exit(0)", "while true do end", "{1}",
      "('x'):rep(1e9)", "math.random(3)", "-1 --", "-1; x = 1", "function() end", "x.y", "nothing",
      "_G", ("("):rep(150), ("9"):rep(150), ("-1 "):rep(100), "1//0", "\u{202E}1", "1 .. 2",
      "math.floor", "0/0", "math", "2 ^ 2 ^ 99999 // 1", ("1 "):rep(600) }
    for i, answer in ipairs(hostile) do
      hand_in(("%02d.json"):format(i), ("Student %02d"):format(i), { ["rotation 1.1"] = answer,
        ["rotation 1.2"] = answer, ["rotation 4.1"] = answer })
    end
    local found = grade.folder(folder, some)
    assert.is_nil(io.open(ran))
    for _, student in ipairs(found.students) do
      assert.equal(0, student.right, student.student)
      for id, mark in pairs(student.marks) do
        assert.is_true(mark.kind == "unread" or id == "rotation 1.1" and mark.kind == "wrong",
          mark.shown)
      end
    end
    for _, answer in ipairs({ list(), list(0, 1), list(9, 1), list(1), list(1, 1, 1), list("1", 1),
      list(1.5, 1), { a = 1 } }) do
      hand_in("01.json", "Student 01", { ["rotation 1.2"] = answer })
      local mark = grade.folder(folder, some).students[1].marks["rotation 1.2"]
      assert.is_true(mark == nil or mark.kind == "unread")
    end
  end)

  it("gives each file that cannot be used a message, and grades the others", function()
    local right = { ["rotation 1.1"] = "-1" }
    hand_in("ada.json", "Ada", right)
    scratch.write("handed/copy.json", scratch.read(scratch.path("handed/ada.json")))
    hand_in("early.json", "Cy", {}, { saved = "2026-11-24T09:00:00.000Z" })
    hand_in("late.json", "cy", right, { saved = "2026-11-24T11:00:00.000Z" })
    hand_in("old.json", "Old", right, { lessons = { rotation = "0" } })
    hand_in("else.json", "Else", right, { lessons = { knitting = "0" } })
    hand_in("version.json", "New", right, { version = 2 })
    hand_in("without.json", "None", right, { answers = false })
    hand_in("noname.json", " ", { ["rotation 1.1"] = "-1", ["rotation 1.2"] = { a = true },
      ["rotation 9.9"] = "1" })
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
      ["old.json"] = "^the questions have changed in rotation; write the kit again",
      ["else.json"] = "^there is no lesson knitting; its answers are left out$",
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
    hand_in("ada.json", "A\27[31mda", { ["rotation 1.1"] = "-1", ["rotation 5.1"] = "c" })
    for i = 1, 3 do
      hand_in(i .. ".json", "Student " .. i, { ["rotation 1.1"] = i == 3 and "2" or "1",
        ["rotation 4.1"] = i == 1 and "x = 1" or nil })
    end
    local found = grade.folder(folder, some)
    local text = terminal.render(grades.document(found))
    assert.matches("\n  A\\x1B%[31mda +2/10 +0/8 +2/18\n", text)
    assert.matches("\n  A\\x1B%[31mda +✓ +· +· +· +· +· +✓ +· +· +· +2\n", text)
    assert.matches("\n  Student 1 +✗ +· +· +· +· +%? +· +· +· +· +0\n", text)
    assert.matches("\n  right +1 +0 +0 +0 +0 +0 +1 +0 +0 +0\n", text)
    assert.matches("1%.1 2 × 1 instead of %-1%. That rotates clockwise.*1%.1 1 × 2 instead", text)
    assert.matches("rotation 4%.1 Student 1: x = 1 %(not an answer to such a\n? *question%)", text)
    local csv = grades.csv(found)
    assert.matches("^\u{FEFF}student,file,rotation 1%.1,rotation 1%.2,.*,right,of\n", csv)
    assert.matches("\nStudent 3,3%.json,0,,,,,,,,,,.*,0,18\n$", csv)
    assert.matches("\nStudent 1,1%.json,0,,,,,0,.*,0,18\n", csv)
  end)

  it("writes no student's name that a spreadsheet runs", function()
    hand_in("eve.json", "=1+1", { ["rotation 1.1"] = "-1" })
    assert.matches("\n'=1%+1,eve%.json,1,", grades.csv(grade.folder(folder, some)))
  end)
end)
