local process = require("tests.process")
local scratch = require("tests.scratch")
local source = require("roper.tasks.text.source")

-- The documents below paths, and the hash of their content.
local function read(paths, division)
  local found, bytes = {}, 0
  local hash = source.each(source.list(paths, division), function(text)
    found[#found + 1] = text
  end, function(count)
    bytes = bytes + count
  end)
  return found, hash, bytes
end

-- The documents in a file of this content.
local function documents(content, division, name)
  return (read({ scratch.write(name or "text", content) }, division))
end

local function refused(pattern, content, division, name)
  assert.error_matches(function() documents(content, division, name) end, pattern)
end

describe("source", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  it("reads a file as one document, byte for byte", function()
    local text = "One.\r\n\r\n\tTwo \u{e9}\n\n"
    assert.same({ text }, documents(text))
    local long = ("x"):rep(3 << 20)
    assert.same({ long }, documents(long))
  end)

  it("splits paragraphs at empty lines", function()
    assert.same({ "One,\ntwo.", "Three.\r", "Four" },
      documents("\n\nOne,\ntwo.\n\n \t\nThree.\r\n\r\nFour", "paragraphs"))
  end)

  it("reads the text of JSON lines", function()
    local lines = '{"text": "One\\nline", "id": 1}\n\n{"text": "Two"}'
    assert.same({ "One\nline", "Two" }, documents(lines, "jsonl"))
    assert.same({ "One\nline", "Two" }, documents(lines, nil, "a.jsonl"))
    assert.same({ "One\nline", "Two" }, documents(lines, nil, "a.ndjson"))
    assert.same({ lines }, documents(lines, nil, "a.json"))
  end)

  it("reads the output of WikiExtractor", function()
    assert.same({ "Anarchism\n\nIt is", "Autism" }, documents('<doc id="12" title="Anarchism">\n'
      .. 'Anarchism\n\nIt is\n</doc>\n\n<doc id="25">\nAutism\n</doc>\n', "wikiextractor"))
    refused("text: .*text: line 1: expected <doc ...>", "Plain text", "wikiextractor")
    refused("text: .*text: line 2: expected </doc> before the end", "<doc>\ntext", "wikiextractor")
  end)

  it("visits folders in the order of names, without hidden files", function()
    os.execute(("cd '%s' && mkdir -p b/c .git"):format(scratch.path("")))
    scratch.write("b/c/2", "two")
    scratch.write("b/1", "one")
    scratch.write("a", "zero")
    scratch.write("d", "three")
    scratch.write(".git/x", "hidden")
    scratch.write(".y", "hidden")
    assert.same({ "zero", "one", "two", "three" }, (read({ scratch.path("") })))
    assert.same({ "three", "one", "two" }, (read({ scratch.path("d"), scratch.path("b") })))
  end)

  it("counts a file once, and does not follow links in circles", function()
    scratch.write("a", "one")
    os.execute(("cd '%s' && ln -s a b && ln a c && ln -s . d && ln -s nowhere e"):format(
      scratch.path("")))
    assert.same({ "one" }, (read({ scratch.path(""), scratch.path("a"), scratch.path("b") })))
  end)

  it("reports how much it read", function()
    local path = scratch.write("a", "one\ntwo\n")
    local _, _, bytes = read({ path })
    assert.equal(9, bytes)
    assert.equal(8, select(2, source.list({ path })))
  end)

  it("hashes the content and how it is divided, not its names", function()
    local function hash(content, division, name)
      return (select(2, read({ scratch.write(name or "text", content) }, division)))
    end
    assert.equal(hash("a\n\nb"), hash("a\n\nb", nil, "other"))
    assert.not_equal(hash("a\n\nb"), hash("a\n\nc"))
    assert.not_equal(hash("a\n\nb"), hash("a\n\nb", "paragraphs"))
    local one, two = scratch.write("one", "ab"), scratch.write("two", "c")
    local three, four = scratch.write("three", "a"), scratch.write("four", "bc")
    assert.not_equal(select(2, read({ one, two })), select(2, read({ three, four })))
    assert.not_equal(select(2, read({ one, two })), select(2, read({ two, one })))
  end)

  it("rejects text that is not UTF-8, with line and byte", function()
    refused("text: .*text: line 2: expected text in UTF%-8, got the byte 0xFF", "one\nt\255wo")
    refused("line 1: expected text in UTF%-8, got the byte 0xE9", "caf\233")
    refused("line 1: .*0xE2", "cut \226\130")
    refused("line 1: .*0xED", "surrogate \237\160\128")
    refused("line 1: .*0xC0", "overlong \192\175")
    refused("line 2: .*0x00", "one\n\0")
    refused("line 4: .*0xFF", "one\n\ntwo\nt\255", "paragraphs")
    refused("line 3: .*0xFF", "<doc>\n\n\255\n</doc>", "wikiextractor")
    refused("line 2: .*unable to decode byte 0xff", '{"text": "a"}\n{"text": "\255"}', "jsonl")
  end)

  it("rejects lines that are not JSON, or have no text", function()
    refused("line 2: expected JSON: line 1, column 12: ", '{"text": "a"}\n{"text": "b"', "jsonl")
    for _, line in ipairs({ "3", "[1]", '{"title": "a"}', '{"text": 3}' }) do
      refused('line 1: expected an object with a string "text"', line, "jsonl")
    end
  end)

  it("rejects files without text", function()
    refused("text: no text in .*text$", "")
    refused("text: no text in .*text$", " \n\n\t\n")
    refused("text: no text in .*text$", " \n\n", "paragraphs")
    refused("text: no text in .*text$", "\n", "jsonl")
    refused("text: no text in .*text$", '{"text": ""}', "jsonl")
    os.execute(("mkdir '%s'"):format(scratch.path("empty")))
    assert.error_matches(function() read({ scratch.path("empty") }) end,
      "text: no files in .*empty$")
    assert.error_matches(function() read({ scratch.path("none") }) end,
      "text: no file or folder .*none$")
  end)

  it("rejects paths that are not files or cannot be read", function()
    os.execute(("mkfifo '%s'"):format(scratch.path("fifo")))
    assert.error_matches(function() read({ scratch.path("fifo") }) end,
      "fifo: expected a file or a folder, got a fifo")
    assert.error_matches(function() read({ "/dev/null" }) end, "got a char")
    assert.error_matches(function() read({ "/proc/self/mem" }) end,
      "text: cannot read /proc/self/mem: ")
  end)

  it("stops at Ctrl-C, also inside a line of JSON", function()
    local path = scratch.write("a.jsonl", ('{"text": "abc"}\n'):rep(100000))
    local screen = process.open(([[./roper -e '
      local source = require("roper.tasks.text.source")
      io.stdout:setvbuf("no") print "up"
      while true do
        source.each(source.list{ "%s" }, function() end, function() end)
      end']]):format(path))
    screen:expect("up")
    screen:type("\3")
    screen:expect("interrupted")
    screen:leave()
  end)
end)
