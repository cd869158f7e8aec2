local session = require("roper.session")

describe("session", function()
  local globals, current, output, errors

  -- Standard output and error of the session, as tables that pretend to be files.
  local function record()
    -- luacheck: ignore 122
    local stdout, stderr = io.stdout, io.stderr
    local function fake(add)
      return { write = function(_, ...) add(table.concat({ ... })) end, flush = function() end }
    end
    io.stdout = fake(function(text) output = output .. text end)
    io.stderr = fake(function(text) errors = errors .. text end)
    return function() io.stdout, io.stderr = stdout, stderr end
  end

  before_each(function()
    globals = setmetatable({}, { __index = _G })
    current = session.new(globals)
    output, errors = "", ""
  end)

  local function feed(text)
    local restore = record()
    local ok, rest = pcall(current.feed, current, text)
    restore()
    assert(ok, rest)
    return rest
  end

  -- What a text prints in a fresh place.
  local function printed(text)
    output, errors = "", ""
    assert.is_nil(feed(text))
    return output .. errors
  end

  it("shows the values of expressions", function()
    assert.equal("2\n", printed("1 + 1"))
    assert.equal('1\t"a"\n', printed('1, "a"'))
    assert.equal("nil\n", printed("nil"))
    assert.equal("", printed("x = 5"))
    assert.equal("", printed("(function() end)()"))
    assert.equal("3\n", printed("return 3"))
  end)

  it("keeps the last value that is not nil as _", function()
    printed("6 * 7")
    assert.equal("43\n", printed("_ + 1"))
    printed("nil")
    assert.equal("43\n", printed("_"))
    printed("x = 1")
    assert.equal("43\n", printed("_"))
  end)

  it("is mute after a semicolon", function()
    assert.equal("", printed("1 + 1;"))
    assert.equal("2\n", printed("_"))
    assert.equal("", printed("1 + 1 ; "))
  end)

  it("waits for the end of what is not complete", function()
    assert.equal("function f(x)", feed("function f(x)"))
    assert.equal("function f(x)\n  return x", feed("function f(x)\n  return x"))
    assert.is_nil(feed("function f(x)\n  return x\nend"))
    assert.equal("9\n", printed("f(9)"))
  end)

  it("runs pasted lines as if they were typed", function()
    assert.equal("1\n3\n", printed("a = 1\na\n\nb = a + 2\nb\n"))
    assert.equal("1\n2\n", printed("for i = 1, 2 do\n  io.stdout:write(i, '\\n')\nend"))
    assert.equal("5\n3\n", printed("f = function() return 5 end\nf()\n(function() return 3 end)()"))
  end)

  it("keeps pasted lines together where they need each other", function()
    assert.equal("6\n", printed("local z = 3\nz * 2"))
    assert.equal("6\n", printed("local z = 3\nlocal y = z + z\ny"))
    assert.equal('"ABC"\n', printed("s = ('abc')\n  :upper()\ns"))
    assert.equal("7\n", printed("t = 3\n  + 4\nt"))
    assert.equal("true\n", printed("t = false\n  or true\nt"))
    assert.equal('"x"\n', printed("if true then\n  t = 'x'\nend\nt"))
  end)

  it("waits for the rest of a pasted block", function()
    assert.equal("for i = 1, 2 do", feed("x = 4\nfor i = 1, 2 do"))
    assert.equal(4, globals.x)
    assert.equal("local y = 4\nfor i = 1, 2 do", feed("local y = 4\nfor i = 1, 2 do"))
  end)

  it("stops a pasted block at the first error", function()
    assert.equal("error: boom\n", printed("a = 1\nerror('boom')\na = 2"))
    assert.equal(1, globals.a)
    assert.equal("error: unexpected symbol near '='\n", printed("a = 3\nb = = 4\na = 5"))
    assert.equal(3, globals.a)
  end)

  it("tells errors with the line where there are several", function()
    assert.equal("error: boom\n", printed("error('boom')"))
    assert.equal("error: input:2: boom\n", printed("do\n  error('boom')\nend"))
    assert.equal("error: foo\n  input:1 in f\n  input:1\n",
      printed("function f() error('foo') end") .. printed("f() x = 1"))
  end)

  it("lists globals", function()
    printed("who")
    assert.equal("", output)
    globals.t, globals.longer = { 1, 2, a = 3 }, "text"
    assert.equal('longer  "text"\nt       table of 3\n', printed("who"))
    globals.who = 5
    assert.equal("5\n", printed("who"))
  end)

  it("times", function()
    assert.truthy(printed("%time 6 * 7"):find("^42\n%d[%d.]* %S*s\n$"))
    assert.equal("error: boom\n", printed("%time error('boom')"))
  end)

  it("refuses unknown commands", function()
    assert.equal('error: unknown command %tim; did you mean "time"?\n', printed("%tim x"))
    assert.equal("error: unknown command %\n", printed("%"))
  end)

  it("ends with exit", function()
    printed("exit = nil")
    assert.is_false(current.is_over)
    printed("exit")
    assert.is_true(current.is_over)
  end)

  it("survives values that cannot be shown", function()
    globals.bad = setmetatable({}, { __tostring = function() error("bad tostring", 0) end })
    assert.truthy(printed("bad"):find("bad tostring"))
    globals.strange = setmetatable({}, { __tostring = function() return {} end })
    assert.truthy(printed("strange"):find("error: .*tostring"))
    assert.equal("1\n", printed("1"))
  end)
end)
