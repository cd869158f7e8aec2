-- The floors of the house, lowest first. What stands on one uses its own folder and those before
-- it in the list; folders of one floor do not use each other. README shows the same table.

return {
  { "core/base" },
  { "core/kernels" },
  { "core/tensor" },
  { "core/graph", "core/position", "core/optimizer", "tasks" },
  { "core/ops", "core/parallel" },
  { "bindings" },
  { "scripts/roper/core.lua" },
  { "scripts/roper/base" },
  { "scripts/roper/position", "scripts/roper/tasks" },
  { "scripts/roper/attention" },
  { "scripts/roper/plot" },
  { "scripts/roper/model", "scripts/roper/identity" },
  { "scripts/roper/training" },
  { "scripts/roper/study" },
  { "scripts/roper/init.lua" },
  { "scripts/roper/lesson" },
  { "scripts/roper/session" },
}
