-- Everything public is documented, correctly, and with examples that work.

local transcripts = require("tests.transcripts")
local catalogue = require("roper.workbench.help.catalogue")
local comment_of = require("roper.workbench.help.comment")
local files = require("roper.system.file")
local page = require("roper.workbench.help.page")
local render = require("roper.text.document.terminal").render
local roper = require("roper")
local scratch = require("tests.scratch")
local sources = require("roper.workbench.help.sources")
local stdout = require("tests.stdout")

-- The file of the bindings that registers a function.
local function registrar(name)
  for file in io.popen("ls bindings/*.c"):lines() do
    if files.read(file):find(('{"%s",'):format(name), 1, true) then
      return file
    end
  end
  return "bindings"
end

-- The path and the place of an entry: "roper.stack (scripts/roper/tensor/create.lua:12)".
local function place(entry)
  local comment = entry.comment
  local file, line
  if type(entry.value) == "function" then
    file, line = sources.place(entry.value)
  end
  if not file and comment then
    file, line = comment.file, comment.line
  end
  local where = comment and comment.source or file and ("%s:%d"):format(file, line)
    or registrar(entry.path:match("[%w_]+$"))
  return ("%s (%s)"):format(entry.path, where)
end

-- The entries with a comment.
local function documented()
  local list = {}
  for _, entry in ipairs(catalogue.entries()) do
    list[#list + 1] = entry.comment and entry or nil
  end
  return list
end

-- The entries with a comment that can be called.
local function actions()
  local list = {}
  for _, entry in ipairs(documented()) do
    if entry.comment.arguments and not entry.same then
      list[#list + 1] = entry
    end
  end
  assert(#list > 200, "the catalogue lost most of the library")
  return list
end

local function fail_with(problems)
  assert(#problems == 0, "\n  " .. table.concat(problems, "\n  "))
end

-- An object of every class written in Lua.
local function objects()
  local width, shape = { d_model = 8, heads = 2 }, { inputs = 2, outputs = 2 }
  local model = roper.nn.Transformer { vocabulary = 4, d_model = 8, heads = 2, layers = 1 }
  local cache = model:cache { batch = 1, length = 4 }
  local made = { Linear = roper.nn.Linear(shape), Transformer = model, Cache = cache,
    Embedding = roper.nn.Embedding { count = 2, features = 2 }, CacheLayer = cache:layer(1),
    LayerNorm = roper.nn.LayerNorm { features = 2 },
    RMSNorm = roper.nn.RMSNorm { features = 2 },
    ShortConvolution = roper.nn.ShortConvolution { features = 2 },
    FeedForward = roper.nn.FeedForward { d_model = 8 },
    MultiHeadAttention = roper.nn.MultiHeadAttention(width),
    TransformerLayer = roper.nn.TransformerLayer(width),
    Sequential = roper.nn.Sequential {}, Dropout = roper.nn.Dropout(), ReLU = roper.nn.ReLU(),
    GELU = roper.nn.GELU(), class = roper.nn.class "Own" (), Module = model }
  for name, make in pairs(roper.optim) do
    made[name] = type(make) == "function" and make() or nil
  end
  return made
end

describe("documentation", function()
  it("exists for everything public", function()
    local problems = {}
    for _, entry in ipairs(catalogue.entries()) do
      local text = entry.comment and entry.comment.text[1]
      if not text or not text:find("%a") or text:find("^    ") then
        problems[#problems + 1] = place(entry) .. " has no documentation comment, or none in words"
      end
    end
    fail_with(problems)
  end)

  it("exists for every method", function()
    local made, problems = objects(), {}
    for _, module in ipairs({ "nn", "optim" }) do
      for name, value in pairs(roper[module]) do
        if type(value) == "function" and not made[name] then
          problems[#problems + 1] = "this spec makes no object of roper." .. module .. "." .. name
        end
      end
    end
    for name, object in pairs(made) do
      local class = getmetatable(object)
      while class do
        for method, value in pairs(class) do
          local entry = type(value) == "function" and not method:find("^_")
            and catalogue.of_value(value)
          if entry == nil then
            problems[#problems + 1] = ("%s:%s (%s:%d) has no documentation comment"):format(name,
              method, sources.place(value))
          end
        end
        class = getmetatable(class)
      end
    end
    fail_with(problems)
  end)

  it("names the arguments as the code does, with existing types", function()
    local known, problems = {}, {}
    for word in ([[any boolean function integer nil number string table userdata fun true
      false]]):gmatch("%a+") do
      known[word] = true
    end
    local function check(entry, parameters)
      for _, parameter in ipairs(parameters) do
        local types = parameter.type:gsub('"[^"]*"', ""):gsub("[%w_.]+%??:", ""):gsub("%.%.%.", "")
        for word in types:gmatch("[%a_][%w_.]*") do
          if not known[word] and not sources.classes()[word] then
            problems[#problems + 1] = ("%s: %s has the type %s, which nothing defines"):format(
              place(entry), parameter.name, word)
          end
        end
      end
    end
    for _, entry in ipairs(documented()) do
      local comment, names = entry.comment, {}
      for i, parameter in ipairs(comment.parameters) do
        names[i] = parameter.name
      end
      local told, there = table.concat(names, ", "), table.concat(comment.arguments or {}, ", ")
      if told ~= there then
        problems[#problems + 1] = ("%s documents (%s) and takes (%s)"):format(place(entry), told,
          there)
      end
      check(entry, comment.parameters)
      check(entry, comment.results)
      check(entry, comment.fields)
      for _, parameter in ipairs(comment.parameters) do
        for _, class in ipairs(sources.class_names(parameter.type)) do
          check(entry, sources.fields(class))
        end
      end
    end
    fail_with(problems)
  end)

  it("has a working example for everything that can be called", function()
    local problems = {}
    stdout.capture_both(function() -- prints a note once, on some processors
      roper.matmul_precision("bfloat16")
      roper.matmul_precision("float32")
    end)
    for _, entry in ipairs(actions()) do
      local count = 0
      for _, block in ipairs(comment_of.blocks(entry.comment)) do
        if block.kind == "example" then
          count = count + 1
          local problem = transcripts.check("  $ ./roper\n  ...\n  "
            .. table.concat(block.lines, "\n  ") .. "\n")
          problems[#problems + 1] = problem and ("%s, %s"):format(place(entry), problem)
        end
      end
      if count == 0 then
        problems[#problems + 1] = place(entry) .. " has no example"
      end
    end
    fail_with(problems)
  end)

  it("fits 80 columns", function()
    local problems = {}
    for _, entry in ipairs(documented()) do
      for line in render((page.entry(entry))):gmatch("[^\n]*") do
        if utf8.len(line) > 80 then
          problems[#problems + 1] = place(entry) .. ": " .. line
        end
      end
    end
    fail_with(problems)
  end)

  it("declares each class once", function()
    local declared, problems = {}, {}
    for _, text in ipairs({ "build/library/native.lua" }) do
      for _, comment in ipairs(sources.comments(text)) do
        declared[comment.class or ""] = text
      end
    end
    for file in io.popen("find scripts/roper -name '*.lua'"):lines() do
      for _, comment in ipairs(sources.comments(file)) do
        local class = comment.class
        if class and declared[class] then
          problems[#problems + 1] = ("%s is declared in %s and %s"):format(class,
            declared[class], file)
        elseif class then
          declared[class] = file
        end
      end
    end
    for class in require("roper.options.rows").comments():gmatch("%-%-%-@class ([%w_.]+)") do
      problems[#problems + 1] = declared[class] and class .. " is declared in rows and in a comment"
        or nil
      declared[class] = "rows"
    end
    assert(declared.tensor and declared.AdamOptions)
    fail_with(problems)
  end)
end)

describe("options", function()
  local made = objects()
  local samples = { tensor = roper.ones({ 1, 1, 2, 4 }), Transformer = made.Transformer,
    task = roper.tasks.addition(), table = {}, ["table[]"] = {}, any = 1, ["string[]"] = { "1" },
    ["tensor[]"] = { roper.ones({ 2 }) }, string = "1", number = 1, integer = 1, boolean = true,
    rotary = roper.position.rope({ dim = 4 }) }

  setup(function()
    scratch.create()
    samples.task = roper.tasks.text({ files = "LICENSE", tokenizer = "bytes", validation = 1,
      cache = scratch.path("cache") })
  end)
  teardown(scratch.remove)

  -- A value of a documented type.
  local function sample(kind)
    if kind:find("^fun%(") then
      return function(x) return x end
    end
    for one in kind:gmatch("[^|]+") do
      local value = samples[one] or made[one] or one:match('^"([^"]*)"')
      if value then
        return value
      end
    end
    error("this spec has no sample of type " .. kind)
  end

  -- The options that a function lists when it rejects an unknown one.
  local function accepted(entry, at)
    local arguments = { [at] = { bogus = 1 } }
    for i = 1, at - 1 do
      arguments[i] = sample(entry.comment.parameters[i].type)
    end
    local call = entry.value
    local class, method = entry.path:match("^(.*):(.*)$")
    if class then
      call = function(...)
        local object = made[class] or samples[class]
        return object[method](object, ...)
      end
    end
    local ok, message = pcall(call, table.unpack(arguments, 1, at))
    local list = not ok and tostring(message):match("unknown option bogus.*it takes (.*)$")
    assert(list, place(entry) .. " did not refuse the option bogus: " .. tostring(message))
    local names = {}
    for name in list:gmatch("[%w_]+") do
      names[#names + 1] = name
    end
    table.sort(names)
    return names
  end

  it("are documented if and only if the function accepts them", function()
    local count = 0
    for _, entry in ipairs(actions()) do
      for i, parameter in ipairs(entry.comment.parameters) do
        local class = sources.classes()[parameter.type]
        if parameter.name == "options" then
          assert(class and sources.is_plain(parameter.type),
            place(entry) .. ": the type of options is no class with a field for each")
        end
        if class and parameter.type:find("Options$") then
          local names = {}
          for _, field in ipairs(sources.fields(parameter.type)) do
            names[#names + 1] = field.name
          end
          table.sort(names)
          assert.same(accepted(entry, i), names, place(entry))
          count = count + 1
        end
      end
    end
    assert(count >= 25, count)
  end)
end)
