local process = require("tests.process")
local pytorch = require("tests.pytorch")
local scratch = require("tests.scratch")

-- The blocks of code of the section, each with the word after its fence.
local function blocks()
  local section = scratch.read("scripts/GUIDE.md"):match(
    "\n## From here to PyTorch, and back\n(.-)\n## ")
  local list = {}
  for kind, code in section:gmatch("```(%l*)\n(.-)```\n") do
    list[#list + 1] = { kind = kind, code = code }
  end
  return list
end

describe("the section of the guide about PyTorch", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  it("contains commands, their output and a program", function()
    local found = {}
    for _, block in ipairs(blocks()) do
      found[#found + 1] = block.kind .. block.code:match("^%S+")
    end
    assert.same({ "./roper", "float32", "pythonimport", "./roper", "./roper", "./roper" }, found)
  end)

  it("runs line by line", function()
    local reason = pytorch.missing()
    if reason then
      return pending(reason)
    end
    local root, output = require("luv").cwd() .. "/roper", {}
    for _, block in ipairs(blocks()) do
      if block.kind == "python" then
        scratch.write("more.py", block.code)
      elseif block.code:find("^%./roper") then
        local code = block.code:gsub("%./roper", root):gsub("python3", pytorch.PYTHON)
        local status, text, errors = process.run({ "sh", "-ec", ("cd '%s'\n%s"):format(
          scratch.path(""), code) }, "", { OMP_NUM_THREADS = "1" })
        assert.equal(0, status, text .. errors)
        output[#output + 1] = text
      end
    end
    local text = table.concat(output)
    assert.matches("float64 0.0e%+00 within 0  completion\n", text)
    assert.matches("100 steps, loss 1%.%d+\n%[%[%d+, ", text)
    local accuracy = tonumber(text:match("%]%]\n([%d.]+)\n"))
    assert.is_true(accuracy > 0.9, text)
    assert.matches("float64 %S+ within 1e%-09  gradient v\n$", text)
  end)
end)
