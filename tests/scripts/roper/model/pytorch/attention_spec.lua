local files = require("roper.system.file")
local process = require("tests.process")
local pytorch = require("tests.pytorch")
local roper = require("roper")
local scratch = require("tests.scratch")

local SIZES <const> = { heads = 2, dim = 8 }

describe("roper.export_attention", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  -- Exports a scheme to a folder of its own; returns the text of the file.
  local function export(name, scheme, options)
    local path = scratch.path(name) .. "/attention.py"
    files.make(scratch.path(name))
    roper.export_attention(scheme, path, options or SIZES)
    return files.read(path)
  end

  it("writes a function, and the tensors of its check beside it", function()
    local text = export("a", "roper{base=500000}")
    assert.matches("\ndef attention%(q, k, v, positions, scheme=SCHEME%):\n", text)
    assert.matches("\nSCHEME = RoperPosition%(%)\n", text)
    assert.matches("self.base, self.fraction = 500000.0, 1.0\n", text)
    for _, layout in ipairs({ "nn.MultiheadAttention", "apply_rotary_pos_emb" }) do
      assert.is_truthy(text:find(layout, 1, true), layout)
    end
    local known = roper.load_safetensors(scratch.path("a/attention.safetensors"))
    assert.same({ 2, 2, 6, 8 }, known.output:shape())
    assert.equal("float64", known["gradient q"]:dtype())
    assert.is_nil(known.x)
  end)

  it("passes the input of the layer to schemes that compute from it", function()
    local text = export("a", "fox")
    assert.matches("\ndef attention%(q, k, v, positions, x, scheme=SCHEME%):\n", text)
    assert.is_truthy(roper.load_safetensors(scratch.path("a/attention.safetensors")).x)
  end)

  it("writes the initial values of trained tensors", function()
    local text = export("a", "kerple", { heads = 3 })
    assert.matches("\nSCHEME = new_scheme%(%)\n", text)
    local known = roper.load_safetensors(scratch.path("a/attention.safetensors"))
    assert.same({ 3, 1 }, known["initial log_a"]:shape())
    assert.is_true((known["initial log_a"] - known["tensor log_a"]):abs():max():item() > 0)
  end)

  it("agrees with roper in PyTorch, for every scheme that attention has", function()
    local reason = pytorch.missing()
    if reason then
      return pending(reason)
    end
    for _, name in ipairs(roper.position.list()) do
      if name ~= "learned" and name ~= "sinusoidal" then
        export(name, pytorch.positions(name)[1], { heads = 4, dim = 8 })
      end
    end
    export("joined", "rope+alibi+fox")
    export("all_keys", "t5+rope{rotate=qkvo}", { heads = 2, dim = 8, causal = false })
    local status, output, errors = process.run({ pytorch.PYTHON, "tests/pytorch/check.py",
      scratch.path("") })
    assert.equal(0, status, output .. errors)
  end)

  it("refuses what it cannot write", function()
    local path = scratch.path("a.py")
    local function refuses(message, ...)
      local given = table.pack(...)
      assert.error_matches(function()
        roper.export_attention(table.unpack(given, 1, given.n))
      end, message, 1, true)
      assert.is_nil(files.stat(path))
    end
    refuses('expected the name of a new file that ends in .py, got "a.txt"', "rope", "a.txt")
    refuses("the position scheme sinusoidal adds positions to embeddings", "sinusoidal", path)
    refuses("the position scheme learned adds positions to embeddings", "learned", path)
    refuses("position: cope: expected causal attention", "cope", path, { causal = false })
    roper.position.register("without_pytorch", { bias = function() return roper.zeros({ 1 }) end })
    refuses("the position scheme without_pytorch has no text in PyTorch; add pytorch = [[...]]",
      "without_pytorch", path)
    roper.export_attention("rope", scratch.path("b.py"))
    assert.error_matches(function()
      roper.export_attention("rope", scratch.path("b.py"))
    end, "expected a new file, got .*b.py, which exists")
  end)
end)

describe("a scheme of a user", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  -- A scheme with trained tensors, a network among them.
  local function definition(text)
    return {
      takes = { heads = "size", d_model = "size", power = { "number", 0.5 } },
      pytorch = text, relative = true, per_layer = true, formula = "s = q k − slope |i − j|^power",
      init = function(self)
        self.slope = roper.ones({ self.heads, 1 }):parameter()
        self.net = roper.nn.Linear({ inputs = self.d_model, outputs = 1 })
      end,
      bias = function(self, _, _, positions)
        return positions:by_distance(function(distance)
          return -self.slope:to("float64") * distance:abs() ^ self.power
        end)
      end,
    }
  end

  local TEXT <const> = [[
def forward(self, q, k, v, positions, x):
    slope = self.slope.double()[:, None]
    return {"bias": (-slope * distances(positions, q).abs() ** self.power).to(q.dtype)}
]]

  it("brings its text in PyTorch, which may call the functions of modules", function()
    roper.position.register("with_text", definition(TEXT))
    local text = pytorch.export(scratch.path("a"), "with_text{power=0.25}", {})
    assert.matches("self.power = 0.25\n", text)
    assert.matches("self.slope = nn.Parameter%(torch.zeros%(4, 1%)%)\n", text)
    assert.matches("self.net = nn.Module%(%)\n +self.net.bias = nn.Parameter", text)
    assert.matches("\n        s = q k − slope |i − j|^power\n", text)
    assert.is_truthy(text:find("def distances(positions, q):", 1, true))
    assert.is_nil(text:find("NotImplementedError", 1, true))
  end)

  it("has a function to fill in without a text, and what it is compared with", function()
    roper.position.register("without_text", definition(nil))
    local text = pytorch.export(scratch.path("a"), "without_text", {})
    assert.is_truthy(text:find('raise NotImplementedError("fill in forward of WithoutTextPosition,'
      .. ' the position scheme without_text")', 1, true))
    for _, name in ipairs({ "bias", "hidden", "query_scale", "mix" }) do
      assert.matches("\n        " .. name .. " +", text)
    end
    local known = roper.load_safetensors(scratch.path("a") .. "/check.safetensors")
    for name, shape in pairs({ q = { 2, 4, 6, 8 }, k = { 2, 4, 9, 8 }, x = { 2, 9, 32 },
      positions = { 2, 9 }, scores = { 2, 4, 6, 9 }, output = { 2, 4, 6, 8 },
      ["gradient slope"] = { 4, 1 }, ["tensor net.weight"] = { 1, 32 } }) do
      assert.same(shape, known["scheme " .. name]:shape(), name)
    end
  end)

  it("is checked in PyTorch when its function is filled in", function()
    local reason = pytorch.missing()
    if reason then
      return pending(reason)
    end
    roper.position.register("filled_in", definition(nil))
    local path = scratch.path("a") .. "/model.py"
    local text = pytorch.export(scratch.path("a"), "filled_in", {})
    local function check()
      local status, output, errors = process.run({ pytorch.PYTHON, path, "--check" })
      return status, output .. errors
    end
    local status, output = check()
    assert.equal(1, status)
    assert.equal("model.py: fill in forward of FilledInPosition, the position scheme filled_in\n",
      output)
    local function fill(sign)
      files.write(path, (text:gsub("        raise NotImpl[^\n]*\n", function()
        return "        distance = positions[:, None] - positions[:, -q.shape[2]:, None]\n"
          .. "        slope = self.slope.double()[:, None]\n"
          .. "        bias = " .. sign .. "slope * distance[:, None].abs() ** self.power\n"
          .. "        return {\"bias\": bias.to(q.dtype)}\n"
      end)))
    end
    fill("-")
    status, output = check()
    assert.equal(0, status, output)
    assert.matches("float64 %S+ within 1e%-09  gradient slope\n", output)
    fill("")
    status, output = check()
    assert.equal(1, status)
    assert.matches("float64 %S+ ABOVE 1e%-09  scores\n", output)
  end)
end)

describe("roper export", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  local function run(...)
    return process.run({ "./roper", "export", ... })
  end

  it("writes attention with a scheme", function()
    local path = scratch.path("attention.py")
    assert.same({ 0, "", "" }, { run("--scheme", "t5{buckets=8}", path, "--heads", "3") })
    assert.matches("torch.zeros%(8, 3%)", files.read(path))
    assert.matches("%.abs%(%)", (files.read(path)))
    local other = scratch.path("other.py")
    assert.same({ 0, "", "" }, { run("--scheme", "t5", other, "--all-keys") })
    assert.is_nil(files.read(other):find("tril", 1, true))
  end)

  it("refuses options that do not belong together", function()
    for _, case in ipairs({
      { "expected RUN and FOLDER, or --scheme SCHEME FILE.py" },
      { "expected RUN and FOLDER", "run" },
      { "--scheme: expected one name, that of the file to write", "--scheme", "rope" },
      { "--scheme: expected one name", "--scheme", "rope", "a.py", "b" },
      { "--pytorch is an option for the model of a run; leave it out with --scheme", "--scheme",
        "rope", "a.py", "--pytorch" },
      { "--heads is an option for attention alone; add --scheme SCHEME", "a", "b", "--heads", "3" },
      { "--all-keys is an option for attention alone", "a", "b", "--all-keys" },
      { "--type is an option of Hugging Face's layout; leave it out with --pytorch", "a", "b",
        "--pytorch", "--type", "llama" },
    }) do
      local status, _, errors = run(table.unpack(case, 2))
      assert.equal(1, status)
      assert.is_truthy(errors:find("roper: export: " .. case[1], 1, true), errors)
    end
  end)

  it("writes the model of a run as a module", function()
    local folder = scratch.path("runs")
    assert.equal(0, process.run({ "sh", "-c", ("mkdir '%s' && cd '%s' && '%s/roper' train copy "
      .. "preset=smoke steps=1 position=roper"):format(folder, folder, require("luv").cwd()) },
      nil, { OMP_NUM_THREADS = "1" }))
    local exported = scratch.path("exported")
    assert.same({ 0, "", "" }, { run(folder .. "/runs/copy-roper-1", exported, "--pytorch") })
    local config = files.decode(exported .. "/config.json")
    assert.equal(config.vocabulary, #config.tokens)
    assert.matches("\nclass RoperPosition", (files.read(exported .. "/model.py")))
  end)
end)
