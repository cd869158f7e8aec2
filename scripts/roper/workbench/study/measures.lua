--- The measures by which an experiment compares methods: one each, named by the experiment's file.

---@class Measure
---@field name string the number of a result
---@field title string in a sentence
---@field digits integer after the point
---@field sign integer 1 if more is better, -1 if less is
---@field curve table what shows it during training: field of the metrics, title, y; low and high if
---   it has bounds

local M = {}

local MEASURES <const> = {
  solved = { title = "correct answers", digits = 1, sign = 1,
    curve = { field = "accuracy", title = "Accuracy on answer tokens", y = "accuracy", low = 0,
      high = 1 } },
  loss = { title = "loss", digits = 4, sign = -1,
    curve = { field = "test_loss", title = "Loss on test sequences",
      y = "loss in nats per token" } },
  bits_per_byte = { title = "bits per byte", digits = 4, sign = -1,
    curve = { field = "validation_loss", title = "Validation loss",
      y = "validation loss in nats per token" } },
}

for name, measure in pairs(MEASURES) do
  measure.name = name
end

--- Those of experiments that name none.
M.USUAL = { MEASURES.solved, MEASURES.bits_per_byte }

--- The measure of the trials of a sweep: what the file of their experiment names, if all name the
--- same; else correct answers of problems, and bits per byte of text.
---@param experiments string[] names, of those not there any more too
---@param has_problems boolean
---@return Measure measure
function M.of(experiments, has_problems)
  local found
  for _, name in ipairs(experiments) do
    local ok, definition = pcall(require("roper.workbench.study.experiment").definition, name)
    local measure = ok and definition.measure or false
    found = (found == nil or found == measure) and measure
  end
  return MEASURES[found or has_problems and "solved" or "bits_per_byte"]
end

return M
