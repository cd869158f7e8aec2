local files = require("roper.system.file")
local models = require("tests.models")
local process = require("tests.process")
local python = require("roper.model.pytorch.python")
local pytorch = require("tests.pytorch")
local registry = require("roper.position.registry")
local roper = require("roper")
local scratch = require("tests.scratch")

-- The whole text of a module is Python, with none of the marks of pieces.
local function check_text(text, name)
  assert.is_nil(text:find("#?", 1, true), name)
  assert.is_nil(text:find("@[%w_]+@"), name)
  assert.is_nil(text:find("\n\n\n\n"), name)
  for line in text:gmatch("[^\n]+") do
    assert.is_true(utf8.len(line) <= 100, name .. ": " .. line)
  end
end

-- Parses all modules in a folder with Python's own parser.
local function parse_all(root)
  local status, _, errors = process.run({ "python3", "-c", [[
import ast, pathlib, sys
for path in pathlib.Path(sys.argv[1]).glob("*/*.py"):
    ast.parse(path.read_text())
]], root })
  assert.equal(0, status, errors)
end

local function run_check(folder)
  return process.run({ pytorch.PYTHON, folder .. "/model.py", "--check" })
end

-- Replaces text in a file that has it once.
local function edit(path, from, to)
  local text = files.read(path)
  local first, last = text:find(from, 1, true)
  assert.is_truthy(first, from)
  files.write(path, text:sub(1, first - 1) .. to .. text:sub(last + 1))
end

describe("a piece of Python", function()
  it("contains the lines that its flags select, and values", function()
    local text = "a\n  b  #? one two\nc  #? not one\nd@x@  #? two; not three\n@empty@\ne\n"
    assert.equal("a\nc\ne", python.selected(text, {}, { empty = "" }))
    assert.equal("a\n  b\nd(1)\ne", python.selected(text, { one = true, two = true },
      { x = "(1)", empty = "" }))
    assert.equal("a\n  b\nc\ne", python.selected(text, { two = true, three = true },
      { empty = "" }))
  end)

  it("writes values of Lua", function()
    for _, case in ipairs({ { 3, "3" }, { 3.0, "3.0" }, { 0.1, "0.1" },
      { 1 / 3, "0.33333333333333331" },
      { true, "True" }, { "qk", '"qk"' }, { { 1, 2.5 }, "(1, 2.5)" }, { { 1 }, "(1,)" } }) do
      assert.equal(case[2], python.literal(case[1]))
    end
  end)
end)

describe("roper.export_pytorch", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  it("has the text of every scheme of the library", function()
    for _, name in ipairs(require("tests.positions").schemes()) do
      local text = registry.find(name).pytorch
      assert.is_string(text, name .. " has no pytorch = [[...]]")
      assert.is_truthy(text:find("^def forward%(self, q, k, v, positions, x%):\n")
        or text:find("^def embed%(self, x, positions%):\n"), name)
    end
  end)

  it("writes a module of fewer than 250 lines for every scheme", function()
    for _, name in ipairs(roper.position.list()) do
      local text = pytorch.export(scratch.path(name), pytorch.positions(name)[1],
        pytorch.MODELS.rms)
      local _, lines = text:gsub("\n", "")
      assert.is_true(lines < 250, ("%s: %d lines"):format(name, lines))
      check_text(text, name)
    end
    parse_all(scratch.path(""))
  end)

  it("writes combined schemes, and all options of models", function()
    for i, case in ipairs(pytorch.OTHERS) do
      check_text(pytorch.export(scratch.path("other" .. i), case[1], case[2] or {}), tostring(i))
    end
    parse_all(scratch.path(""))
  end)

  it("writes only what a model has", function()
    local text = pytorch.export(scratch.path("alibi"), "alibi", pytorch.MODELS.rms)
    for _, absent in ipairs({ "rotate", "layer_norm", "F.relu", "dropout", "Joined",
      "constants" }) do
      assert.is_nil(text:find(absent, 1, true), absent)
    end
    assert.is_truthy(text:find("− m_h |i − j|", 1, true))
  end)

  it("writes weights that roper reads as the same model", function()
    local model, folder = pytorch.model({ position = "kerple" }), scratch.path("exported")
    roper.export_pytorch(model, folder)
    local tokens = roper.tensor({ { 1, 5, 2, 3 } }, "int32")
    local again = roper.load(folder .. "/model.safetensors")
    assert.equal(0, models.difference(model(tokens), again(tokens)))
  end)

  it("leaves gradients, training mode and parameters as they were", function()
    local model = pytorch.model({ position = "t5", dropout = 0.5 })
    roper.sum(model.logits.bias * 2):backward()
    roper.export_pytorch(model, scratch.path("exported"))
    assert.equal(22, model.logits.bias.grad:sum():item())
    assert.is_nil(model.embedding.weight.grad)
    assert.is_true(model.is_training)
    assert.equal("float32", model.layers[2].attention.position.table:dtype())
  end)

  it("keeps the texts of tokens that are UTF-8", function()
    local tokens = {}
    for i = 1, 11 do
      tokens[i] = "é" .. i
    end
    local model = pytorch.model({ position = "rope" })
    roper.export_pytorch(model, scratch.path("a"), { tokens = tokens })
    tokens[3] = "\xff"
    roper.export_pytorch(model, scratch.path("b"), { tokens = tokens })
    local function written(name)
      return files.decode(scratch.path(name) .. "/config.json").tokens
    end
    assert.equal("é3", written("a")[3])
    assert.is_nil(written("b"))
    tokens[11] = nil
    assert.error_matches(function()
      roper.export_pytorch(model, scratch.path("c"), { tokens = tokens })
    end, "export_pytorch: option tokens: expected 11, one for each token of the model, got 10")
  end)

  it("refuses what it cannot write", function()
    local folder = scratch.path("exported")
    local function refuses(message, model)
      assert.error_matches(function() roper.export_pytorch(model, folder) end, message, 1, true)
      assert.is_nil(files.stat(folder))
    end
    refuses("export_pytorch: expected a Transformer, got a Linear",
      roper.nn.Linear({ inputs = 1, outputs = 1 }))
    local model = pytorch.model({ position = "rope" })
    model.norm.epsilon = 1
    refuses("export_pytorch: expected a model as its options create it, got one with other "
      .. "norm.epsilon", model)
    model = pytorch.model({ position = "rope" })
    model.layers[1].forward = function(_, x) return x end
    refuses("got one with other layers.1.forward", model)
    model = pytorch.model({ position = "rope", tied_embeddings = true })
    model.logits.weight = roper.ones({ 11, 32 }):parameter()
    refuses("export_pytorch: expected tied embeddings", model)
    refuses("expected at most one scheme of a combination that multiplies the scores of queries, "
      .. "got ssmax and ssmax", pytorch.model({ position = "ssmax+ssmax{start=1}" }))
    scratch.write("file", "")
    assert.error_matches(function()
      roper.export_pytorch(model, scratch.path(""))
    end, "export_pytorch: expected a new or empty folder", 1, true)
  end)
end)

describe("an exported module", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  it("agrees with roper in PyTorch", function()
    local reason = pytorch.missing()
    if reason then
      return pending(reason)
    end
    for i, case in ipairs({ { "roper", pytorch.MODELS.rms }, { "path{rank=4}+alibi" },
      { "learned", pytorch.MODELS.post }, { "selective{rank=4}" } }) do
      pytorch.export(scratch.path("case" .. i), case[1], case[2] or {})
    end
    local status, output, errors = process.run({ pytorch.PYTHON, "tests/pytorch/check.py",
      scratch.path("") })
    assert.equal(0, status, output .. errors)
  end)

  it("finds a fault in the text of a scheme, in its weights and in its cache", function()
    local reason = pytorch.missing()
    if reason then
      return pending(reason)
    end
    local folder = scratch.path("exported")
    local path = folder .. "/model.py"
    pytorch.export(folder, "alibi", {})
    assert.equal(0, run_check(folder))
    edit(path, "(-slopes(q)", "(slopes(q)")
    local status, output = run_check(folder)
    assert.equal(1, status)
    assert.matches("float32 %S+ ABOVE 0.0001  logits\n", output)
    assert.matches("float64 %S+ ABOVE 1e%-09  gradient ", output)
    edit(path, "(slopes(q) ", "(-slopes(q) ")
    assert.equal(0, run_check(folder))
    edit(path, 'cache["k"], cache["v"]', 'cache["k"], cache["k"]')
    assert.equal(1, run_check(folder))
  end)

  it("trains in PyTorch, and roper reads its weights", function()
    local reason = pytorch.missing()
    if reason then
      return pending(reason)
    end
    local folder = scratch.path("exported")
    pytorch.export(folder, "accumulated{angles=random}+t5", {})
    local status, output, errors = process.run({ pytorch.PYTHON, "-c", [=[
import sys, torch
sys.path.insert(0, sys.argv[1])
from model import Transformer
model = Transformer.load(sys.argv[1])
tokens = torch.tensor([[1, 5, 2, 3]])
step = torch.optim.SGD(model.parameters(), 0.1)
model.loss(tokens).backward()
step.step()
model.save(sys.argv[1] + "/trained")
print(model.loss(tokens).item(), Transformer.load(sys.argv[1] + "/trained").loss(tokens).item())
]=], folder })
    assert.equal(0, status, errors)
    local loss, again = output:match("(%S+) (%S+)")
    assert.equal(loss, again)
    local model = roper.load(folder .. "/trained/model.safetensors")
    local given, targets = roper.tensor({ { 1, 5, 2 } }, "int32"), roper.tensor({ { 5, 2, 3 } },
      "int32")
    assert.is_true(math.abs(model:loss(given, targets):item() - tonumber(loss)) < 1e-5)
  end)
end)
