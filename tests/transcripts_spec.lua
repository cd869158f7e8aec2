-- The transcripts in tests/transcripts. UPDATE=1 writes the output of this run to the files.
local transcripts = require("tests.transcripts")
local files = require("roper.system.file")

describe("a transcript", function()
  it("reports what differs, and keeps what does not", function()
    local before = "Prose.\n\n  $ seq 3\n  1\n  ...\n\n  $ echo new; exit 3\n  old\n\nMore.\n"
    local problems, text = transcripts.check(before)
    assert.matches("^line 7: .*\nexpected\nold\ngot\nnew\n%[exit status 3%]$", problems)
    assert.equal((before:gsub("  old\n", "  new\n  [exit status 3]\n")), text)
    assert.is_nil((transcripts.check(text)))
    assert.matches("line 4: not typed", (transcripts.check("  $ ./roper\n  ...\nProse.\n  >> 1\n")))
  end)
end)

describe("the transcript", function()
  local find <close> = io.popen("find tests/transcripts -name '*.txt' | LC_ALL=C sort")
  for path in find:lines() do
    it(path, function()
      local problems, text = transcripts.check(files.read(path))
      if problems and os.getenv("UPDATE") then
        files.write(path, text)
        problems = transcripts.check(text)
      end
      assert(not problems, problems)
    end)
  end
end)
