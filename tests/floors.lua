-- The layers of the project, lowest first. A file uses its own folder and the folders before it in
-- the list; folders of one layer do not use each other. core/README.md and scripts/README.md have
-- the same tables.

return {
  { "core/base" },
  { "core/kernels" },
  { "core/tensor" },
  { "core/graph", "core/position", "core/optimizer", "tasks" },
  { "core/ops", "core/parallel" },
  { "bindings" },
  { "scripts/roper/system/start.lua" },
  { "scripts/roper/core.lua" },
  { "scripts/roper/base" },
  { "scripts/roper/system" },
  { "scripts/roper/options" },
  { "scripts/roper/text" },
  { "scripts/roper/tensor" },
  { "scripts/roper/position", "scripts/roper/tasks" },
  { "scripts/roper/attention" },
  { "scripts/roper/model", "scripts/roper/identity" },
  { "scripts/roper/training", "scripts/roper/interpret" },
  { "scripts/roper/workbench/plot" },
  { "scripts/roper/workbench/study/experiment" },
  { "scripts/roper/workbench/study/run" },
  { "scripts/roper/workbench/study/sweep" },
  { "scripts/roper/workbench/study/report" },
  { "scripts/roper/workbench/study/quick_study.lua" },
  { "scripts/roper/workbench/lesson", "scripts/roper/workbench/help" },
  { "scripts/roper/init.lua" },
  { "scripts/roper/workbench/session" },
  { "bindings/web" },
}
