local core = require("roper.core")
local files = require("roper.system.file")
local escape = require("roper.base.escape")
local process = require("tests.process")
local roper = require("roper")
local scratch = require("tests.scratch")

-- A control sequence, one in 8 bits, the direction of reading turned, a byte that is no text.
local HOSTILE <const> = "a\27[2J\u{9B}31m\u{202E}b\xFF\r"

-- Can the text do nothing on a terminal but show?
local function is_harmless(text)
  for _, code in utf8.codes(text) do
    local is_control = code < 0x20 and code ~= 0x0A and code ~= 0x09
      or code >= 0x7F and code <= 0x9F
    local turns = code >= 0x202A and code <= 0x202E or code >= 0x2066 and code <= 0x2069
      or code == 0x200E or code == 0x200F or code == 0x61C
    if is_control or turns then
      return false
    end
  end
  return true
end

describe("foreign.line", function()
  it("leaves printable text unchanged", function()
    for _, text in ipairs({ "", "loss 0.5 \\n", "θ = 0.1 <&> 日本 🙂 e\u{301} 👩\u{200D}🔬" }) do
      assert.equal(text, escape.line(text))
    end
  end)

  it("writes invisible characters as escapes of Lua strings", function()
    assert.equal("a\\x1B[2J\\u{9B}31m\\u{202E}b\\xFF\\r", escape.line(HOSTILE))
    assert.equal("\\n\\t\\x00\\x7F\\u{2028}\\u{2069}\\u{61C}", escape.line(
      "\n\t\0\127\u{2028}\u{2069}\u{61C}"))
    assert.equal("\\xED\\xA0\\x80\\xC3é\\xE2\\x80", escape.line("\xED\xA0\x80\xC3é\xE2\x80"))
  end)

  it("leaves no invisible characters, for any bytes", function()
    local state = 1
    for _ = 1, 2000 do
      local bytes = {}
      for i = 1, 12 do
        state = (state * 6364136223846793005 + 1442695040888963407) & math.maxinteger
        bytes[i] = string.char(state >> 40 & 0xFF)
      end
      local text = table.concat(bytes)
      assert.is_true(is_harmless(escape.line(text)))
      assert.is_true(is_harmless(escape.text(text)))
    end
  end)
end)

describe("foreign.text", function()
  it("keeps newlines and tabs", function()
    assert.equal("a\n\tb\\x1B\n", escape.text("a\n\tb\27\n"))
  end)
end)

describe("text from a file", function()
  setup(function()
    scratch.create()
    local config = { experiment = "addition", seed = 1, steps = 1, preset = HOSTILE:sub(1, -3),
      position = HOSTILE:sub(1, -3) }
    for _, name in ipairs({ "one", "two" .. HOSTILE }) do
      config.seed = config.seed + 1
      files.make(scratch.path("runs/" .. name))
      scratch.write("runs/" .. name .. "/config.json", core.json_encode({ config = config }))
    end
  end)
  teardown(scratch.remove)

  -- The program prints a harmless message with the escaped name.
  local function shows(...)
    local _, output, errors = process.run({ "./roper", ... })
    assert.truthy((output .. errors):find("a\\x1B[2J", 1, true), output .. errors)
    assert.is_true(is_harmless(output .. errors), output .. errors)
  end

  it("does not control the terminal in lists and comparisons of runs", function()
    shows("runs", scratch.path("runs"))
    shows("runs", "--compare", scratch.path("runs/one"), scratch.path("runs/two" .. HOSTILE))
  end)

  it("does not control the terminal in errors", function()
    local tensors = scratch.write("damaged.safetensors",
      string.pack("<s8", '{"' .. "a\27[2J\u{202E}" .. '": {"dtype": "F99"}}'))
    for _, path in ipairs({ tensors, scratch.write("damaged.npy", "\x93NUMPY\1\0"
      .. string.pack("<s2", "{'descr': 'a\27[2J', }\n")) }) do
      local _, output, errors = process.run({ "./roper", "-e", ("roper.load %q"):format(path) })
      assert.is_true(is_harmless(output .. errors), output .. errors)
      assert.truthy(errors:find("damaged", 1, true), errors)
    end
    shows("-e", ("error 'a\27[2J%s'"):format("\u{202E}"))
    shows("a\27[2J")
    shows("train", "addition", "position=a\27[2J")
    shows("runs", scratch.path("runs"), "a\27[2J=1")
  end)

  -- Runs a command in the folder of trained runs, and returns its output and errors.
  local function trained(command)
    local _, output, errors = process.run({ "sh", "-c", ("cd '%s' && %s"):format(
      scratch.path("trained"), command:gsub("^roper", require("luv").fs_realpath("roper"))) })
    return output .. errors
  end

  -- Changes a file of a run, then calls every command that reads it. None may run the text, and
  -- one at least prints it or writes it to the page.
  local function is_harmless_in(name, change)
    trained("rm -rf runs/copy-roper-1 && cp -r runs/whole runs/copy-roper-1")
    local mark, folder = scratch.path("mark"), scratch.path("trained/runs/copy-roper-1")
    local text = ("%s <script>alert(1)</script> $(touch '%s') `touch '%s'` ');os.execute(%q)--")
      :format(HOSTILE:sub(1, -3), mark, mark, "touch " .. mark)
    files.write(folder .. "/" .. name, change(scratch.read(folder .. "/" .. name), text))
    local shown = ""
    for _, arguments in ipairs({ "runs", "runs --compare runs/copy-roper-1 runs/whole",
      "watch runs/copy-roper-1", "report runs/copy-roper-1", "sample runs/copy-roper-1 'abc>'",
      "eval runs/copy-roper-1", "export runs/copy-roper-1 model",
      "train --resume runs/copy-roper-1" }) do
      local output = trained("roper " .. arguments)
      assert.is_true(is_harmless(output), arguments .. "\n" .. output)
      assert.is_nil(files.read(mark), arguments)
      shown = shown .. output
    end
    local page = files.read(folder .. "/report.html") or ""
    assert.is_nil(page:find("<script>alert", 1, true))
    assert.truthy((shown .. page):find("alert(1)", 1, true), name .. "\n" .. shown)
  end

  it("neither runs nor controls the terminal in any command that reads a run", function()
    files.make(scratch.path("trained"))
    trained("roper train copy preset=smoke letters=3 steps=1 && mv runs/copy-roper-1 runs/whole")
    local function json(change)
      return function(bytes, text)
        local content = core.json_decode(bytes)
        change(content, text)
        return core.json_encode(content)
      end
    end
    is_harmless_in("config.json", json(function(content, text)
      local facts = content.provenance[1]
      facts.commit, facts.host, facts.processor, facts.version = text, text, text, text
    end))
    is_harmless_in("config.json", json(function(content, text)
      content.config.experiment, content.config.position = text, text
    end))
    is_harmless_in("result.json", json(function(content, text)
      content.longer[1].name = text
    end))
    is_harmless_in("samples.json", json(function(content, text)
      for _, list in pairs(content) do
        list[1].question, list[1].answer, list[1].text = text, text, text
      end
    end))
    is_harmless_in("lease-0001.json", json(function(content, text)
      os.remove(scratch.path("trained/runs/copy-roper-1/result.json"))
      content.state, content.message = "failed", text
    end))
    is_harmless_in("checkpoint.safetensors", function(bytes, text)
      local header, next = string.unpack("<s8", bytes)
      local content = core.json_decode(header)
      content[text] = { dtype = "F99", shape = { 1 }, data_offsets = { 0, 4 } }
      return string.pack("<s8", core.json_encode(content)) .. bytes:sub(next)
    end)
  end)

  it("does not control the terminal as a value", function()
    assert.is_true(is_harmless(roper.format.value({ [HOSTILE] = HOSTILE, HOSTILE })))
    assert.equal(HOSTILE, load("return " .. roper.format.value(HOSTILE))())
  end)
end)
