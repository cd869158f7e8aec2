local transcripts = require("tests.transcripts")
local models = require("tests.models")
local process = require("tests.process")
local roper = require("roper")
local scratch = require("tests.scratch")
local stdout = require("tests.stdout")

-- Runs a session that a page shows, after it has written code to own.lua.
local function check(shown, code)
  local text = ("$ cat >own.lua <<'END'\n%sEND\n$ ./roper\n...\n%s"):format(code or "",
    shown:gsub("> roper%.train[^\n]*\n", "%0...\n"))
  local problems = transcripts.check((text:gsub("[^\n]+", "  %0")))
  assert(not problems, problems)
end

describe("README and the guide", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("show a session exactly as it runs", function()
    check(scratch.read("README.md"):match("\n```\n%$ ./roper\n.-\n(> .-)```\n"))
  end)

  it("train a model in a script", function()
    local code, count = scratch.read("README.md"):match("\n```lua\n(task = .-)```\n")
      :gsub("steps = 200", "steps = 1, progress = false")
    assert.equal(1, count)
    local globals = { roper = roper }
    assert(load(code .. "ok = #answer > 0", "README", "t", globals))()
    assert.is_true(globals.ok)
  end)

  it("export and import a model", function()
    check(scratch.read("scripts/GUIDE.md"):match("\n## Published models\n.-```\n(> .-)```\n"))
  end)

  it("define, train, query and inspect a custom model", function()
    local class, shown = scratch.read("scripts/GUIDE.md"):match(
      "\n```lua\n(Own = .-)```\n.-\n```\n(> dofile.-)```\n")
    check(shown, class)
  end)

  it("look inside a model with lines that run", function()
    local section = scratch.read("scripts/GUIDE.md"):match("\n## Looking inside\n(.-)\n## ")
    local lines = {}
    for block in section:gmatch("```lua\n(.-)```\n") do
      lines[#lines + 1] = block
    end
    local task, path = models.task(), scratch.path("best.safetensors")
    models.small({ heads = 4 }):save(path)
    local batch = task:batch(2)
    local globals = { roper = roper, plot = roper.plot, text = "?s='abcd'; s[2:]", task = task,
      clean = batch[{ { 1, 1 } }], corrupted = batch[{ { 2, 2 } }] }
    local code = table.concat(lines):gsub('"runs/[^"]*"', ("%q"):format(path))
    local output = stdout.capture(assert(load(code, "inside", "t", globals)))
    assert.truthy(output:find("query\n?.*0 %[.*%] 1"))
    assert.truthy(output:find("pair", 1, true))
    assert.same({ 3, 16, 30 }, { table.unpack(globals.chance:shape(), 1, 3) })
  end)

  it("describe position schemes with lines that run", function()
    local shown = scratch.read("scripts/GUIDE.md"):match(
      "\n## Position schemes\n\n```lua\n(.-)```\n")
    local results = {}
    for line in shown:gsub('"scores.svg"', "path"):gmatch("[^\n]+") do
      local chunk = assert(load("return " .. line, line, "t", { roper = roper, plot = roper.plot,
        path = scratch.path("scores.svg") }))
      results[#results + 1] = chunk()
    end
    assert.equal(#roper.position.list(), #results[1])
    assert.equal("yarn", results[2].name)
    assert.is_true(results[3].ok)
    assert.truthy(scratch.read(results[4]):find(">xpos<", 1, true))
  end)

  it("define a custom scheme, train it, sweep it and resume it", function()
    local scheme, lines = scratch.read("scripts/GUIDE.md"):match(
      "\n```lua\n(roper%.position%.register.-)```\n.-\n```\n(> dofile.-)```\n")
    local _, count = (scheme .. lines):gsub("\n", "\n")
    assert.is_true(count < 20)
    local folder, program = scratch.path("own"), require("luv").cwd() .. "/roper"
    require("roper.system.file").make(folder)
    require("roper.system.file").write(folder .. "/near.lua", scheme)
    local told = {}
    local function run(line, input)
      local command = ("cd '%s' && %s"):format(folder, line:gsub("%./roper", program))
      local status, output, errors = process.run({ "/bin/sh", "-c", command }, input,
        { OMP_NUM_THREADS = "1" })
      assert.equal(0, status, errors)
      told[#told + 1] = output
    end
    local session = {}
    for line in lines:gmatch("> ([^\n]*)\n") do -- the prompt shows the value of an expression
      session[#session + 1] = line:gsub("(roper%.position%.check .*)$", "print(%1)")
    end
    run("./roper -", table.concat(session, "\n"))
    for line in lines:gmatch("%$ ([^\n]*)\n") do
      run(line)
    end
    told = table.concat(told)
    assert.truthy(told:find("\ngradients +ok") or told:find("  gradients +ok"))
    assert.truthy(told:find("near − rope"))
    local config = scratch.read(folder .. "/runs/copy-near+rope:near-1/config.json")
    assert.truthy(config:find('"loaded": "near.lua %x+"'))
    assert.truthy(config:find('"steps": 150'))
  end)
end)

describe("documentation", function()
  it("names only files that exist", function()
    local pages, files, count = {}, {}, 0
    for path in io.popen("find core bindings tasks scripts tests -type f"):lines() do
      files[#files + 1] = "/" .. path
      pages[#pages + 1] = path:find("/README%.md$")
        and path ~= "bindings/web/README.md" and path or nil -- names files of Lua
    end
    files = table.concat(files, "\n") .. "\n"
    for _, page in ipairs(pages) do
      for name in scratch.read(page):gmatch("`([%l%d_./-]+%.%l+)`") do
        local is_code = name:find("%.lua$") or name:find("%.[chk]$") or name:find("%.py$")
          or name:find("%.mk$")
        if is_code and not name:find("vector_length", 1, true) then -- the example of a lesson
          count = count + 1
          assert(files:find("/" .. name:gsub("^%.%./", "") .. "\n", 1, true),
            ("%s names %s, which does not exist"):format(page, name))
        end
      end
    end
    assert.is_true(count > 100)
  end)

  it("names only what occurs in the code", function()
    local texts = {}
    for path in io.popen("find README.md Makefile core bindings tasks scripts tests -name '*.lua' "
      .. "-o -name '*.[ch]' -o -name '*.py' -o -name '*.mk' -o -name '*.md' -o -name Makefile")
      :lines() do
      texts[#texts + 1] = scratch.read(path)
    end
    local quoted, code = {}, {}
    for name in table.concat(texts, "\n"):gsub("`([a-z]+_[a-z_]+)`", function(name)
      quoted[name] = true
      return ""
    end):gmatch("[%w_]+") do
      code[name] = true
    end
    assert.is_true(quoted.embedding_scale)
    for name in pairs(quoted) do
      assert.is_true(code[name], ("there is no %s; quote another name"):format(name))
    end
  end)
end)
