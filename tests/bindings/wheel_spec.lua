local process = require("tests.process")
local scratch = require("tests.scratch")

before_each(scratch.create)
after_each(scratch.remove)

-- Compiles a program; returns its path.
local function compile(text, ...)
  local source = scratch.write("program.c", text)
  local status, _, errors = process.run({ "cc", "-o", scratch.path("program"), source, ... })
  assert.equal(0, status, errors)
  return scratch.path("program")
end

describe("the check of symbols", function()
  local function check(program, glibc)
    local status, _, errors = process.run({ "bindings/wheel/symbols.sh", program, glibc })
    return status, errors
  end

  it("accepts a program that needs no newer glibc", function()
    assert.equal(0, check(compile("int main(void) { return 0; }"), "2.99"))
  end)

  it("refuses one that needs a newer glibc", function()
    local program = compile("int main(void) { return 0; }")
    local status, errors = check(program, "2.2")
    assert.equal(1, status)
    assert.matches("program: expected at most glibc 2.2, needs GLIBC_2%.%d+\n$", errors)
  end)

  it("refuses a copy of a variable that has a second name", function()
    local program = compile("extern char *program_invocation_name;\n"
      .. "int main(void) { return !program_invocation_name; }", "-fno-pic", "-no-pie")
    local status, errors = check(program, "2.99")
    assert.equal(1, status)
    assert.matches("program: expected no copies of these variables of glibc: [%w_]+@GLIBC", errors)
  end)
end)

describe("the Python package", function()
  it("has the files where pip installs them, their hashes and modes, and the licences", function()
    for path, text in pairs({ ["bin/roper"] = "program", ["libexec/roper/bin/roper"] = "launcher",
      ["share/man/man1/roper.1"] = "page", ["share/doc/roper/LICENSE"] = "licence" }) do
      require("roper.system.file").make(scratch.path("tree/" .. path:match("^(.*)/")))
      scratch.write("tree/" .. path, text)
    end
    assert(os.execute(("chmod 755 '%s'"):format(scratch.path("tree/bin/roper"))))
    local wheel = scratch.path("roper-1.2.3-py3-none-manylinux_2_27_x86_64.whl")
    assert.same({ 0, "", "" }, { process.run({ "bindings/wheel/pack.py", scratch.path("tree"),
      "1.2.3", wheel }) })
    local _, output, errors = process.run({ "python3", "-c", [[
import base64, csv, hashlib, io, sys, zipfile
package = zipfile.ZipFile(sys.argv[1])
record = {row[0]: row[1] for row in csv.reader(io.StringIO(
    package.read("roper-1.2.3.dist-info/RECORD").decode()))}
for entry in package.infolist():
    digest = hashlib.sha256(package.read(entry)).digest()
    name = "sha256=" + base64.urlsafe_b64encode(digest).decode().rstrip("=")
    assert record.pop(entry.filename) in (name, ""), entry.filename
    print(entry.filename, oct(entry.external_attr >> 16 & 0o777))
assert not record, record
print(package.read("roper-1.2.3.dist-info/WHEEL").decode(), end="")]], wheel })
    assert.equal([[
roper-1.2.3.data/data/libexec/roper/bin/roper 0o644
roper-1.2.3.data/data/share/man/man1/roper.1 0o644
roper-1.2.3.data/scripts/roper 0o755
roper-1.2.3.dist-info/METADATA 0o644
roper-1.2.3.dist-info/RECORD 0o644
roper-1.2.3.dist-info/WHEEL 0o644
roper-1.2.3.dist-info/licenses/LICENSE 0o644
roper/__init__.py 0o644
roper/__main__.py 0o644
Wheel-Version: 1.0
Generator: roper
Root-Is-Purelib: false
Tag: py3-none-manylinux_2_27_x86_64
]], output, errors)
  end)
end)
