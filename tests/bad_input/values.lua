-- Values as Lua: good ones for each documented type, and those that do not have a type.

local sources = require("roper.workbench.help.sources")

local M = {}

--- Is a documented type a table of options or other fields?
---@param class string
---@return boolean
function M.is_plain(class)
  return sources.classes()[class] ~= nil and sources.is_plain(class)
end

--- Sets the names that the values below use. `folder` is that of the spec.
M.SETUP = [[
x = roper.randn{2, 3}
i = roper.tensor({{1, 2}, {2, 1}}, "int32")
w = roper.randn{3, 3}:parameter()
w:square():sum():backward()
q = roper.randn{1, 2, 4, 4}
b = roper.randn{1, 2, 8}
task = roper.tasks.addition{max_digits = 2, length = 40, seed = 1}
model = roper.nn.Transformer{vocabulary = task:vocabulary(), d_model = 8, layers = 1, heads = 2,
  length = 40}
layer = model.layers[1]
tokens = task:batch(2)
cache = model:cache{batch = 2, length = 40}
positions = roper.position.positions(q, q, {causal = true})
scheme = roper.position.alibi{heads = 2}
keeper = roper.position.accumulated{dim = 4, heads = 2, d_model = 8}
rope = roper.position.rope{dim = 4}
linear, norm = roper.nn.Linear{inputs = 3, outputs = 2}, roper.nn.LayerNorm{features = 3}
convolution = roper.nn.ShortConvolution{features = 3}
adam, sgd = roper.optim.Adam{}, roper.optim.SGD{}
config = roper.experiment.configure("copy", {preset = "smoke"})
run = {config = config, folder = folder .. "/none", status = "waiting", provenance = {},
  metrics = {}}
state = {model = model, optimizer = adam, task = task, config = {}, steps = 1, step = 0, sum = 0,
  count = 0}
]]

-- Objects by class.
local OBJECTS <const> = {
  tensor = "x", rotary = "rope", task = "task", Scheme = "scheme", Module = "model",
  Transformer = "model", TransformerLayer = "layer", MultiHeadAttention = "layer.attention",
  FeedForward = "layer.feed_forward", Embedding = "model.embedding", Linear = "linear",
  LayerNorm = "norm", RMSNorm = "roper.nn.RMSNorm{features = 3}",
  ShortConvolution = "convolution", Dropout = "roper.nn.Dropout()",
  ReLU = "roper.nn.ReLU()", GELU = "roper.nn.GELU()", Sequential = "roper.nn.Sequential(linear)",
  Cache = "cache", CacheLayer = "cache:layer(1)", Adam = "adam", SGD = "sgd",
  Optimizer = "adam", Positions = "positions", TaskRandom = "roper.tasks.random(1)", Run = "run",
  TrainingState = "state", table = "{}",
  any = "1", ["nil"] = "nil", string = "'name'", number = "0.5", integer = "1", boolean = "true",
  ["function"] = "print", ["fun"] = "function(...) return ... end",
}

--- The Lua of an object of a class.
---@param class string
---@return string
function M.object(class)
  return OBJECTS[class] or error("no object of the class " .. class)
end

-- Arguments and options for which the value of the type is not enough, by path and name.
local EXACT <const> = {
  ["CacheLayer:extend k"] = "roper.ones{2, 2, 4, 4}",
  ["CacheLayer:extend v"] = "roper.ones{2, 2, 4, 4}",
  ["BiasByDistance.bias"] = "roper.ones{1, 2, 4, 4, 3}",
  ["Positions:accumulate scheme"] = "keeper",
  ["Positions:keep scheme"] = "keeper",
  ["Positions:accumulate name"] = "'step'",
  ["Positions:keep name"] = "'step'",
  ["Linear:cross_entropy targets"] = "i[1]",
  ["MultiHeadAttention:split x"] = "b",
  ["MultiHeadAttention:forward x"] = "b",
  ["TransformerLayer:forward x"] = "b",
  ["TransformerLayer:residual x"] = "b",
  ["Transformer:embed x"] = "b",
  ["TransformerLayer:residual norm"] = "layer.attention_norm",
  ["TransformerLayer:residual f"] = "layer.attention",
  ["FeedForward:forward x"] = "b",
  ["Transformer:cache options"] = "{batch = 2, length = 40}",
  ["roper.adam_step parameter"] = "w",
  ["roper.adam_step mean"] = "roper.zeros{3, 3}",
  ["roper.adam_step variance"] = "roper.zeros{3, 3}",
  ["roper.sgd_step parameter"] = "w",
  ["roper.causal_convolution x"] = "b",
  ["roper.causal_convolution weight"] = "roper.ones{8, 2}",
  ["roper.cross_entropy logits"] = "roper.ones{2, 7}",
  ["roper.cross_entropy targets"] = "i[1]",
  ["roper.checkpoint.load path"] = "folder .. '/none.safetensors'",
  ["roper.load path"] = "folder .. '/none.safetensors'",
  ["roper.save path"] = "folder .. '/new.safetensors'",
  ["roper.checkpoint.save path"] = "folder .. '/new.safetensors'",
  ["roper.einsum equation"] = "'ij'",
  ["roper.linspace count"] = "3",
  ["roper.matmul b"] = "x:transpose(1, 2)",
  ["roper.outer a"] = "x[1]",
  ["roper.outer b"] = "x[1]",
  ["roper.gather index"] = "roper.ones({1, 3}, 'int32')",
  ["roper.index_select index"] = "i[1]",
  ["roper.where condition"] = "x:gt(0)",
  ["roper.rotate x"] = "q",
  ["roper.rotate angle"] = "roper.ones{1, 2, 4, 2}",
  ["roper.layer_norm gain"] = "roper.ones{3}",
  ["roper.layer_norm bias"] = "roper.ones{3}",
  ["roper.rms_norm gain"] = "roper.ones{3}",
  ["roper.linear weight"] = "w",
  ["roper.linear_bfloat16 weight"] = "roper.pack_bfloat16(roper.ones{2, 3})",
  ["roper.linear_cross_entropy weight"] = "w",
  ["roper.linear_cross_entropy targets"] = "i[1]",
  ["roper.householder_scores w"] = "q",
  ["roper.householder_sums w"] = "q",
  ["roper.householder_sums a"] = "q",
  ["roper.householder_scores beta"] = "q[{1, {}, {}, 1}]",
  ["roper.householder_sums beta"] = "q[{1, {}, {}, 1}]",
  ["rotary:rotate x"] = "q",
  ["rotary:unrotate x"] = "q",
  ["rotary:only letters"] = "'qk'",
  ["task:answer question"] = "(task:question())",
  ["task:grade question"] = "(task:question())",
  ["task:encode text"] = "'?d=1+2;'",
  ["task:poses question"] = "(task:question())",
  ["Module:load path"] = "folder .. '/none.safetensors'",
  ["Module:save path"] = "folder .. '/new.safetensors'",
  ["roper.export folder"] = "folder .. '/export'",
  ["roper.export_pytorch folder"] = "folder .. '/pytorch'",
  ["roper.export_attention path"] = "folder .. '/attention.py'",
  ["roper.import folder"] = "'tests/fixtures/published/gpt2'",
  ["roper.experiment.register name"] = "'own'",
  ["roper.tasks.register name"] = "'own_task'",
  ["roper.position.register name"] = "'own_scheme'",
  ["roper.nn.class name"] = "'Own'",
  ["roper.tasks.options name"] = "'copy'",
  ["roper.tasks.has_problems name"] = "'copy'",
  ["roper.sweep.prepare what"] = "'copy'",
  ["SweepOptions.what"] = "'copy'",
  ["TextOptions.files"] = "folder .. '/text.txt'",
  ["GenerateOptions.task"] = "task",
  ["GenerateOptions.limit"] = "2",
  ["SolveOptions.problems"] = "2",
  ["LongerOptions.problems"] = "2",
  ["LongerOptions.sequences"] = "2",
  ["AnswersOptions.sequences"] = "2",
  ["roper.generate prompts"] = "{(task:question())}",
  ["roper.plot.attention weights"] = "q[1][1]",
  ["roper.plot.rotation x"] = "q[1][1][1]",
  ["roper.plot.heatmap matrix"] = "x",
  ["roper.plot.rotation scheme"] = "'rope'",
  ["roper.plot.position scheme"] = "'rope'",
  ["roper.plot.arrows list"] = "{{1, 2}}",
  ["roper.position.convert_pairing weights"] = "roper.ones{4, 4}",
  ["roper.position.resolve context"] = "4",
  ["roper.position.canonical position"] = "'rope'",
  ["roper.position.check scheme"] = "'rope'",
  ["roper.position.describe scheme"] = "'rope'",
  ["roper.position.takes name"] = "'rope'",
  ["roper.interpret.ablation_hooks heads"] = "{{1, 1}}",
  ["roper.interpret.patch parts"] = "{{1, 1}}",
  ["tensor:view shape"] = "{3, 2}",
  ["tensor:expand shape"] = "{2, 3}",
  ["tensor:permute axes"] = "{2, 1}",
  ["tensor:as_strided strides"] = "{1}",
  ["TransformerOptions.vocabulary"] = "5",
  ["LessonStep.text"] = "'text'",
  ["Run.config"] = "config",
  IdentityOptions = "'cos(m) == cos(m)', given = {m = 'position'}",
  ["TaskDefinition.vocabulary"] = "{'a', 'b'}",
  ["TaskDefinition.generate"] = "function() return 'a', 'b' end",
  ["ExperimentDefinition.task"] = "'copy'",
  ["ExperimentDefinition.presets"] = "{mini = {}}",
  ["plot.PositionOptions.draws"] = "1",
  ["plot.PositionOptions.distance"] = "2",
  ["plot.PositionOptions.heads"] = "1",
  ["plot.PositionOptions.dim"] = "4",
  ["roper.random_state seed"] = "1",
  ["roper.random_state counter"] = "1",
  ["roper.import options"] = "{}",
  ["roper.round_to format"] = "'float16'",
  ["roper.norm p"] = "2",
}

-- Values of arguments and options by name, for all functions.
local NAMED <const> = {
  q = "q", k = "q", v = "q", tokens = "tokens", clean = "tokens", corrupted = "tokens",
  targets = "tokens", index = "i", config = "config", run = "run", dim = "4", heads = "2",
  d_model = "8", table = "x", length = "40",
}

--- The alternatives of a documented type.
---@param kind string
---@return string[]
function M.alternatives(kind)
  local list, depth, start = {}, 0, 1
  for at, c in kind:gmatch("()(.)") do
    depth = depth + (c:find("[%({<]") and 1 or c:find("[%)}>]") and -1 or 0)
    if c == "|" and depth == 0 then
      list[#list + 1] = kind:sub(start, at - 1)
      start = at + 1
    end
  end
  list[#list + 1] = kind:sub(start)
  return list[1]:find("^fun%(") and { kind } or list
end

-- Names of parameters and options for the path of a file or folder.
local PATHS <const> = { path = true, file = true, folder = true, run = true, cache = true,
  files = true }

--- Is a parameter or an option a path?
---@param place string
---@return boolean
function M.is_path(place)
  return PATHS[place:match("[%w_]+$")] ~= nil
end

--- A value of a documented type.
---@param kind string
---@param place string path and name of the argument
---@return string
function M.good(kind, place)
  local one = M.alternatives(kind)[1]
  local named = NAMED[place:match("[%w_]+$")]
  if M.is_path(place) and one == "string" and not EXACT[place] then
    return "folder .. '/name'"
  elseif EXACT[place] or named and (one == "tensor" or one == "integer" or one == "table") then
    return EXACT[place] or named
  end
  if one:find('^"') then
    return one
  elseif one:find("^fun") then
    return OBJECTS.fun
  elseif one:find("%[%]$") then
    local item = one:sub(1, -3):gsub("^%((.*)%)$", "%1")
    return "{" .. M.good(item, place .. "[]") .. "}"
  elseif one:find("^table<") then
    return "{name = " .. M.good(one:match("^table<string,%s*(.*)>$"), place .. "[]") .. "}"
  elseif OBJECTS[one] then
    return OBJECTS[one]
  end
  return M.options(one)
end

--- A table of a class with its required fields.
---@param class string
---@param changes? table<string, string> other fields, and a list of further items
---@return string
function M.options(class, changes)
  local items = { EXACT[class] }
  for _, field in ipairs(sources.fields(class)) do
    local key = class .. "." .. field.name
    if changes and changes[field.name] then
      items[#items + 1] = field.name .. " = " .. changes[field.name]
    elseif not field.optional or EXACT[key] then
      items[#items + 1] = field.name .. " = " .. M.good(field.type, key)
    end
  end
  items[#items + 1] = changes and changes[1] or nil
  return "{" .. table.concat(items, ", ") .. "}"
end

--- Is there a value for a parameter, by its path and name?
---@param place string
---@return boolean
function M.is_exact(place)
  return EXACT[place] ~= nil
end

-- Classes of tables that functions of the library make.
local RECORDS <const> = { Run = true, SchemeState = true }

--- Is a class one of tables whose fields are not checked?
---@param class string
---@return boolean
function M.is_record(class)
  return RECORDS[class] or false
end

-- The candidates for bad values: Lua, and the kind of each.
local CANDIDATES <const> = {
  { "true", "boolean" }, { "false", "boolean" }, { "'zzz'", "string" }, { "'1'", "string" },
  { "1.5", "number" }, { "0/0", "number" }, { "1/0", "number" }, { "{}", "table" },
  { "{print}", "list" }, { "print", "function" }, { "x", "tensor" }, { "scheme", "object" },
}

-- The kinds of candidates that may have a type; an object can be a list with a metatable, and a
-- scheme can be a table with some of its methods.
local ALLOWS <const> = {
  number = { number = true }, string = { string = true }, boolean = { boolean = true },
  tensor = { tensor = true }, table = { table = true, list = true, object = true },
  ["table[]"] = { table = true, list = true, object = true },
  ["any[]"] = { table = true, list = true, object = true },
  Scheme = { table = true, list = true, object = true }, ["function"] = { ["function"] = true },
}

-- May a candidate have one alternative of a type?
local function may_have(one, lua, kind)
  if one == "any" or one == lua then
    return true
  elseif ALLOWS[one] then
    return ALLOWS[one][kind]
  elseif one:find("^fun%(") then
    return kind == "function"
  elseif one:find("%[%]$") or one:find("^table<") then
    return kind == "table" or kind == "object"
  elseif M.is_plain(one) then
    return kind == "table" or not one:find("Options$") and (kind == "list" or kind == "object")
  end
  return false -- an integer, a choice, an object, nil
end

--- Values for a parameter or an option: those that its type excludes, and others that may be
--- refused.
---@param parameter Parameter
---@return string[] bad
---@return string[] doubtful
function M.bad(parameter)
  local bad, doubtful = {}, {}
  for _, candidate in ipairs(CANDIDATES) do
    local lua, kind = candidate[1], candidate[2]
    local is_allowed = parameter.text:find("can be omitted") and (kind == "table" or kind == "list"
      or kind == "object" or kind == "string")
    for _, one in ipairs(M.alternatives(parameter.type)) do
      is_allowed = is_allowed or may_have(one, lua, kind)
    end
    if is_allowed and kind == "string" and M.is_path(parameter.name) then
      lua = "folder .. '/zzz'"
    end
    table.insert(is_allowed and doubtful or bad, lua)
  end
  return bad, doubtful
end

return M
