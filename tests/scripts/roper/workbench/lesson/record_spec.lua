local core = require("roper.core")
local files = require("roper.system.file")
local process = require("tests.process")
local record = require("roper.workbench.lesson.record")
local scratch = require("tests.scratch")
local uv = require("luv")

local folders = 0

-- Sets a fresh folder for the record, with the given content, if any.
local function fresh(content)
  folders = folders + 1
  local state = scratch.path("state" .. folders)
  local path = state .. "/roper/lessons.json"
  uv.os_setenv("XDG_STATE_HOME", state)
  files.make(state .. "/roper")
  if content then
    files.write(path, content)
  end
  return path
end

local function step(number)
  return function(entry) entry.step = number end
end

describe("the record of lessons", function()
  local before

  setup(function()
    scratch.create()
    before = os.getenv("XDG_STATE_HOME")
  end)
  teardown(function()
    scratch.remove()
    if before then
      uv.os_setenv("XDG_STATE_HOME", before)
    else
      uv.os_unsetenv("XDG_STATE_HOME")
    end
  end)

  it("keeps changes, and all of its other content", function()
    fresh()
    assert.same({}, record.load())
    assert.is_nil(record.update("rotation", function(entry)
      entry.step, entry.done, entry.answered = 3, true, { "1.1", "2.1" }
    end))
    assert.is_nil(record.update("/home/x/mine.lua", step(2)))
    assert.same({ rotation = { step = 3, done = true, answered = { "1.1", "2.1" } },
      ["/home/x/mine.lua"] = { step = 2, answered = {} } }, record.load())
    local path = fresh('{"of": ["another", []], "lessons": {"a": {"step": 1, "answered": [],'
      .. ' "mood": {}}}}')
    assert.is_nil(record.update("a", step(2)))
    assert.is_nil(record.update("b", step(5)))
    assert.same(core.json_decode('{"of": ["another", []], "lessons": {"a": {"step": 2,'
      .. ' "answered": [], "mood": {}}, "b": {"step": 5, "answered": []}}}'),
      core.json_decode(scratch.read(path)))
  end)

  it("reports a damaged or foreign file, and leaves it unchanged", function()
    for _, content in ipairs({ "", "{", "no JSON", "[]", "7", "{}", '{"lessons": []}',
      '{"lessons": 5}', '{"lessons": {"a": 5}}', '{"lessons": {"a": {}}}',
      '{"lessons": {"a": {"step": "2", "answered": []}}}',
      '{"lessons": {"a": {"step": 0, "answered": []}}}',
      '{"lessons": {"a": {"step": 1.5, "answered": []}}}',
      '{"lessons": {"a": {"step": 2, "answered": {"x": 1}}}}',
      '{"lessons": {"a": {"step": 2, "answered": [1]}}}',
      '{"lessons": {"a": {"step": 2, "answered": null}}}',
      '{"lessons": {"a": {"step": 2, "answered": [], "done": "yes"}}}',
      "{\"lessons\": {}}\0", "\xFF" }) do
      local path = fresh(content)
      local problem = path .. " is damaged and is not changed; repair or delete it"
      assert.same({ {}, problem }, { record.load() }, content)
      assert.equal(problem, record.update("b", step(2)), content)
      assert.equal(content, scratch.read(path))
    end
  end)

  it("reports why it cannot be read or written", function()
    local path = fresh()
    files.make(path)
    local problem = ("cannot read %s: expected a file, got a directory"):format(path)
    assert.same({ {}, problem }, { record.load() })
    assert.equal(problem, record.update("b", step(2)))
    uv.os_setenv("XDG_STATE_HOME", "/proc/none")
    assert.same({}, record.load())
    assert.matches("^cannot make the folder /proc/none/roper", record.update("b", step(2)))
    uv.os_setenv("XDG_STATE_HOME", scratch.write("a_file", ""))
    assert.matches("^cannot read .*/a_file/roper/lessons.json: ENOTDIR",
      select(2, record.load()))
    local status, output = process.run({ "./roper", "-e",
      "print(select(2, require('roper.workbench.lesson.record').load()))" }, nil,
      { XDG_STATE_HOME = false, HOME = false })
    assert.equal(0, status)
    assert.equal("neither XDG_STATE_HOME nor HOME is set\n", output)
  end)

  it("keeps the changes of processes that write at the same time", function()
    fresh()
    local code = [[for i = 1, 25 do
      assert(not require("roper.workbench.lesson.record").update("shared", function(entry)
        table.insert(entry.answered, os.getenv("WHO") .. "." .. i)
      end))
    end]]
    local writers = {}
    for i = 1, 4 do
      writers[i] = process.spawn({ "./roper", "-e", code }, nil,
        { WHO = tostring(i), XDG_STATE_HOME = os.getenv("XDG_STATE_HOME") })
    end
    for _, writer in ipairs(writers) do
      while not writer.status do
        uv.run("once")
      end
      assert.equal(0, writer.status)
    end
    assert.equal(100, #record.load().shared.answered)
  end)
end)
