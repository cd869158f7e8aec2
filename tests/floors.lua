-- The layers of the house, lowest first. A file uses its own folder and those before it in the
-- list; folders of one layer do not use each other. core/README.md and scripts/README.md have the
-- same tables.

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
