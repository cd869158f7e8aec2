-- Compares random models of the published families with transformers.
--
--     lua5.4 tests/pytorch/published.lua [COUNT] [FAMILY]...
--
-- Of each family, transformers makes COUNT models (20 by default) with random sizes, options and
-- parameters. roper reads them, completes texts with a cache, and trains the first few beside
-- PyTorch; it writes them all as models of their folder and as models of their type, which
-- transformers reads. A row has, for a family:
--
--   logits    the largest difference from transformers, relative to the largest logit
--   tokens    tokens of greedy completions that differ; nearly equal ones are not counted
--   refused   models that roper could not write
--   opened    as `logits`, of the written models in transformers, and the number of models with
--             other parameters or a difference above the bound
--   losses    in 20 steps of training, the largest difference, relative to the loss
--   trained   as `logits`, after training
--
-- In parentheses is what PyTorch itself loses in float32, compared with float64. Exits with 1 if a
-- difference of logits exceeds 1e-5 and ten times that (transformers computes norms and angles in
-- float32 in both), one of losses exceeds 1e-4, or a count is not 0.
-- PYTHON is the Python to use.
package.path = "./?.lua;./?/init.lua;scripts/?.lua;scripts/?/init.lua;" .. package.path
package.cpath = "build/?.so;" .. package.cpath
local core = require "roper.core"
local families = require "roper.model.published.families"
local files = require "roper.system.file"
local pytorch = require "tests.pytorch"
local roper = require "roper"
local temporary = require "roper.system.temporary"

local BOUND <const>, OF_LOSSES <const> = 1e-5, 1e-4

-- Does rotation depend on the number of tokens, so that cached keys differ from new ones?
local ADAPTS <const> = { longrope = true, dynamic = true }

local function difference(a, b)
  return (a - b):abs():max():item() / math.max(1e-3, b:abs():max():item())
end

-- The larger number; NaN counts as infinite.
local function worse(a, b)
  return b == b and math.max(a, b) or math.huge
end

-- Adds a difference from PyTorch's results, in float32 and float64, to a row.
local function compare(row, name, logits, known, exact)
  local found, own = difference(logits, known), difference(known, exact:to "float32")
  row[name], row[name .. "_own"] = worse(row[name], found), worse(row[name .. "_own"], own)
  row.ok = row.ok and found <= math.max(BOUND, 10 * own)
end

-- The number of tokens in which a completion with a cache differs from the known one.
local function other_tokens(model, known, adapts)
  local prompt, completion, scale = known.tokens, known.completion, known.exact:abs():max():item()
  local time, count, other = prompt:size(2), completion:size(2), 0
  local cache = model:cache { batch = prompt:size(1), length = time + count }
  local logits, is_same = model(prompt, cache), { true, true }
  for i = 1, count do
    local best = (logits:narrow(2, logits:size(2), 1):argmax(3) - 1):to "int32"
    for row = 1, prompt:size(1) do
      if is_same[row] and best[row][1]:item() ~= completion[row][i]:item() then
        is_same[row] = false
        other = other + (known.margins[row][i]:item() > 1e-4 * scale and 1 or 0)
      end
    end
    logits = adapts and model(roper.cat({ prompt, completion:narrow(2, 1, i) }, 2))
      or model(completion:narrow(2, i, 1):contiguous(), cache)
  end
  return other
end

-- Trains as published.py does.
local function train(model, known, row)
  local optimizer, parameters = roper.optim.Adam { rate = 3e-3 }, model:parameters()
  local count = known.rows:size(3) - 1
  for step = 1, known.rows:size(1) do
    local batch = known.rows[step]
    for _, parameter in ipairs(parameters) do
      parameter.grad = nil
    end
    local loss = model:loss(batch:narrow(2, 1, count):contiguous(),
      batch:narrow(2, 2, count):contiguous())
    loss:backward()
    optimizer:step(parameters)
    local expected = known.losses[step]:item()
    row.losses = worse(row.losses, math.abs(loss:item() - expected) / expected)
  end
  compare(row, "trained", roper.no_grad(function() return model(known.rows[1]) end), known.trained,
    known.trained_exact)
end

-- Writes a model in two ways, with its logits.
local function write(model, path, like, tokens, row)
  local logits = roper.no_grad(function() return model(tokens) end)
  for way, options in pairs { like = { like = like },
    type = { type = files.decode(like .. "/config.json").model_type } } do
    local folder = ("%s-%s"):format(path, way)
    local ok, problem = pcall(roper.export, model, folder, options)
    if ok then
      core.save_safetensors(folder .. ".safetensors", { tokens = tokens, logits = logits })
    else
      row.refused = row.refused + 1
      io.stderr:write(("%s: %s\n"):format(folder, problem))
    end
  end
end

local function try(folder, row, path)
  local known = core.load_safetensors(folder .. ".safetensors")
  local rotation = files.decode(folder .. "/config.json").rope_parameters
  local model = roper.import(folder)
  roper.no_grad(function()
    compare(row, "logits", model(known.tokens), known.logits, known.exact)
    row.tokens = row.tokens + other_tokens(model, known,
      type(rotation) == "table" and ADAPTS[rotation.rope_type])
  end)
  write(model, path, folder, known.tokens, row)
  if known.rows then
    train(model, known, row)
    write(model, path .. "-trained", folder, known.rows[1], row)
  end
end

local count = tonumber(arg[1])
local names = table.move(arg, count and 2 or 1, #arg, 1, {})
names = names[1] and names or families.TYPES
local all_ok, rows = true, {}
temporary.with_folder(function(root)
  local function python(command, folder, ...)
    return io.popen(("%s tests/pytorch/published.py %s"):format(pytorch.PYTHON,
      table.concat({ command, ("'%s/%s'"):format(root, folder), ... }, " ")))
  end
  assert(python("make", "there", count or 20, table.unpack(names)):close())
  for _, name in ipairs(names) do
    local row = { ok = true, logits = 0, logits_own = 0, tokens = 0, refused = 0, losses = 0,
      trained = 0, trained_own = 0 }
    rows[name] = row
    files.make(("%s/here/%s"):format(root, name))
    for index = 0, (count or 20) - 1 do
      local model = ("%s/%03d"):format(name, index)
      try(("%s/there/%s"):format(root, model), row, ("%s/here/%s"):format(root, model))
    end
  end
  local opened = python("open", "here", table.unpack(names))
  for line in opened:lines() do
    local name, difference_, other = line:match "^(%S+) (%S+) (%d+)$"
    rows[name].opened, rows[name].other = tonumber(difference_) or math.huge, tonumber(other)
  end
  all_ok = opened:close()
end)
print "family    logits            tokens  refused  opened      losses   trained"
for _, name in ipairs(names) do
  local r = rows[name]
  all_ok = all_ok and r.ok and r.tokens + r.refused + r.other == 0 and r.losses <= OF_LOSSES
  print(("%-9s %.1e (%.1e)  %-6d  %-7d  %.1e, %d  %.1e  %.1e (%.1e)"):format(name, r.logits,
    r.logits_own, r.tokens, r.refused, r.opened, r.other, r.losses, r.trained, r.trained_own))
end
os.exit(all_ok)
