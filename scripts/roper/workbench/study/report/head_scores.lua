--- Scores of the heads of a trained model: attention by distance, previous-token, copying and
--- induction scores, and the loss without each head.
local attempt = require "roper.workbench.study.report.attempt"
local counted = require("roper.base.escape").count
local evaluation = require "roper.training.evaluation"
local interpret = require "roper.interpret"

local M = {}

local SEED <const> = 2000004

-- Problems are drawn until their rows have this many tokens; at least 2 rows, at most 16.
local TOKENS <const> = 2048

-- Operations up to which the loss without each head is measured: seconds.
local OPERATIONS <const> = 1e12

-- Number of distances, from 0.
local DISTANCES <const> = 64

-- Multiplications and additions of a pass for each head.
local function operations(model, tokens, weights)
  return 2 * model:count() * tokens:count() * weights:size(1) * weights:size(2)
end

-- The increase of the loss without each head. Raises an error unless each attention has a module of
-- its own.
local function ablation(model, tokens, layers, options)
  local increase = interpret.ablation(model, tokens, options)
  if increase:size(1) ~= layers then
    error(("layers share their weights (%s in %s), so no head can be left out alone"):format(
      counted(increase:size(1), "module"), counted(layers, "layer")), 0)
  end
  return increase:totable()
end

--- Measures the heads of a model on fresh problems. The stream of the task does not advance.
---@param model Transformer
---@param task task
---@return table scores by_distance [layers, heads, distances]; previous_token, copying, induction,
---   ablation [layers, heads]; copying is nil if no token of an answer repeats an earlier one;
---   ablation is in nats per token of an answer, nil if the model is large;
---   problems: a list of texts on scores that could not be measured
function M.of(model, task)
  local fresh = evaluation.fresh(task, SEED)
  local rows = math.max(2, math.min(16, TOKENS // task:options().length))
  local tokens, answers = fresh:batch(rows, { answers = true })
  local options = { positions = fresh:positions(tokens) }
  local weights = interpret.by_distance(model, tokens, options)
  local time = tokens:size(2)
  weights = weights:narrow(3, weights:size(3) - time + 1, math.min(DISTANCES, time))
  local problems = {}
  local function measure(name, f, ...)
    local scores, message = attempt.call(f, ...)
    problems[#problems + 1] = message and ("no %s: %s"):format(name, message) or nil
    return scores
  end
  local _, sources = fresh:explain(tokens)
  return { by_distance = weights:totable(), problems = problems,
    copying = sources:narrow(2, 2, time - 1):ge(0):any() and measure("copying score", function()
      return interpret.copying(model, tokens, sources, options):totable()
    end) or nil,
    previous_token = weights:narrow(3, 2, 1):squeeze(3):totable(), -- at distance 1
    induction = measure("induction score", function()
      return interpret.induction(model):totable()
    end),
    ablation = operations(model, tokens, weights) <= OPERATIONS and measure("increase in loss",
      ablation, model, tokens, weights:size(1), { positions = options.positions, mask = answers,
        targets = fresh:targets(tokens) }) or nil }
end

return M
