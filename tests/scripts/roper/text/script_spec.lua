local scratch = require("tests.scratch")
local markup = require("roper.text.markup")
local paths = require("roper.system.paths")
local process = require("tests.process")
local script = require("roper.text.script")

describe("a script of modules", function()
  local library = paths.LIBRARY

  setup(scratch.create)
  teardown(function()
    paths.LIBRARY = library
    scratch.remove()
  end)

  local function joined(modules)
    for name, source in pairs(modules) do
      scratch.write(name, source)
    end
    paths.LIBRARY = scratch.path(".")
    return markup.render(script.joined("main.mjs"))
  end

  it("runs each module once, after those that it imports, in a scope of its own", function()
    local text = joined({
      ["main.mjs"] = 'import { twice } from "./twice.mjs";\nimport { one } from "./one.mjs";\n'
        .. "const own = 3;\nconsole.log(one, twice(2), own);\n"
        .. 'console.log("a = b, c", "d { e", one - -own);\nconsole.log(`a = ${one + own}`);\n'
        .. 'console.log("a = b".replace(/ = /, "-"));\n',
      ["twice.mjs"] = 'import { one } from "./one.mjs";\nconst own = 2 * one;\n'
        .. "export function twice(x) {\n  return own * x;\n}\n",
      ["one.mjs"] = 'console.log("once");\nexport const one = 1;\n',
    })
    assert.is_nil(text:find("import", 1, true))
    assert.is_nil(text:find("export", 1, true))
    if process.run({ "sh", "-c", "command -v node" }) ~= 0 then
      pending("Node.js is not installed (apt-get install nodejs)")
      return
    end
    local status, output = process.run({ "node", scratch.write("joined.js", text) })
    assert.equal(0, status)
    assert.equal("once\n1 4 3\na = b, c d { e 4\na = 4\na-b\n", output)
  end)
end)
