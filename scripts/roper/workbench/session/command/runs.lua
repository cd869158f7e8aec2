--- `roper runs`: lists runs, or compares two.
local resume_command = require "roper.workbench.session.resume_command"
local arguments = require "roper.workbench.session.command.arguments"
local configuration = require "roper.workbench.study.experiment.configuration"
local d = require "roper.text.document"
local escape = require "roper.base.escape"
local render = require("roper.text.document.terminal").render
local tables = require "roper.base.tables"

-- Does a run have one of the given values of every field?
local function fits(run, wanted)
  local all = true
  for field, values in pairs(wanted) do
    local value = field == "status" and run.status or run.config[field]
    local found = false
    for _, one in ipairs(values) do
      found = found or tostring(value or "-") == tostring(one)
        or tonumber(one) ~= nil and tonumber(one) == value
    end
    all = all and found
  end
  return all
end

-- The keys by which runs are sorted: folder, experiment, position, seed and name.
local function sort_keys(run)
  local config, parent, name = run.config, run.folder:match "^(.*/)([^/]+)/*$"
  return { parent or "", tostring(config.experiment or ""), tostring(config.position or ""),
    math.type(config.seed) == "integer" and config.seed or math.mininteger, name or run.folder }
end

local function is_before(a, b)
  local others = sort_keys(b)
  for i, key in ipairs(sort_keys(a)) do
    if key ~= others[i] then
      return key < others[i]
    end
  end
  return false
end

-- The table row of a run; `differs`: the fields that tell it apart from similar ones. Numbers that
-- were not finite are missing in its result.
local function row_of(run, differs)
  local config, result = run.config, run.result or {}
  return { run.folder, tostring(config.position or "-"), tostring(config.preset or "-"),
    tostring(config.seed or "-"), differs, run.status,
    ("%d/%s"):format(run.kept or run.step, config.steps or "?"),
    result.solved and ("%d/%s"):format(result.solved, result.problems or "?") or "-",
    result.loss and ("%.4f"):format(result.loss) or "-" }
end

-- The table of runs, with a column for the fields in which runs differ that look alike otherwise.
local function runs_table(runs)
  local differs = configuration.differences(tables.map(runs, function(run) return run.config end),
    { "experiment", "position", "preset", "seed" })
  local has_any = tables.count(tables.set(differs)) > 1 or differs[1] ~= ""
  local table_ = { rows = tables.map(runs, function(run, i) return row_of(run, differs[i]) end),
    head = { "run", "position", "preset", "seed", "differs in", "status", "step", "correct",
      "loss" }, sides = "lrrrlr", drop = { 3, 2, 4, 8, 7 } }
  if not has_any then
    table.remove(table_.head, 5)
    for _, row in ipairs(table_.rows) do
      table.remove(row, 5)
    end
    table_.sides, table_.drop = nil, { 3, 2, 4, 7, 6 }
  end
  return d.table(table_)
end

-- Calls a function of a folder. If it fails, adds the message to the problems and returns false.
local function try(problems, read, folder)
  local ok, found = pcall(read, folder)
  local diagnostics = require "roper.text.diagnostics"
  if diagnostics.is_interrupt(found) then
    error(found, 0)
  end
  problems[#problems + 1] = not ok and diagnostics.without_place(found) or nil
  return ok and found
end

-- Returns a function that sets the status of a run to "stale" if its sweep lists it as stale.
local function stale_marker()
  local sweep_file, stale = require "roper.workbench.study.run.sweep_file", {}
  return function(run)
    local parent = run.folder:match "^(.*)/" or "."
    if not stale[parent] then
      stale[parent] = {}
      local ok, _, trials = pcall(sweep_file.read, parent)
      for _, trial in ipairs(ok and trials or {}) do
        stale[parent][trial.folder] = true
      end
    end
    run.status = stale[parent][run.folder] and "stale" or run.status
  end
end

-- The runs in a folder, and messages about those that cannot be read.
local function all_in(folder)
  local listing, list = require "roper.workbench.study.run.runs", {}
  local found, problems = listing.find(folder)
  for _, path in ipairs(found) do
    list[#list + 1] = try(problems, listing.read, path) or nil
  end
  return list, problems
end

-- The errors of runs that did not finish, and the commands that resume them: for a run of a sweep,
-- the command of the sweep.
local function unfinished(runs)
  local notes, lines, known = {}, {}, {}
  for _, run in ipairs(runs) do
    local name, parent = escape.line(run.folder), run.folder:match "^(.*)/"
    local line
    if run.status == "failed" then
      notes[#notes + 1] = ("%s failed: %s"):format(name, escape.line(run.failure or "unknown"))
    elseif run.status == "stopped" and run.kept == nil then
      notes[#notes + 1] = name
        .. " stopped before its first checkpoint; it will restart from step 0"
    end
    local can_resume = run.status == "stopped" or run.status == "waiting"
    if parent and (can_resume or run.status == "failed")
      and require("roper.system.file").stat(parent .. "/sweep.json") then
      line = resume_command.line { "sweep", parent }
    elseif can_resume and run.kept ~= false and run.config.experiment then
      line = resume_command.resume(run.folder)
    end
    local text = run.config.loaded or ""
    if line and not known[line .. text] then
      known[line .. text] = true
      lines[#lines + 1] = line .. (require("roper.options.load_option").text() and ""
        or require("roper.workbench.study.experiment.loaded").copies(run.folder, text))
    end
  end
  return (#notes > 0 and "\n" .. table.concat(notes, "\n") .. "\n" or "")
    .. (#lines > 0 and "\nResume with:\n" .. table.concat(lines, "\n") .. "\n" or "")
end

local function list(folder, wanted)
  local shown, known = {}, { status = true }
  local found, problems = all_in(folder)
  table.sort(found, is_before)
  local mark = stale_marker()
  for _, run in ipairs(found) do
    mark(run)
    known = tables.merged(known, run.config)
    if fits(run, wanted) then
      if run.status == "stopped" then -- the step from which it resumes
        run.kept = try(problems, resume_command.step, run.folder)
      end
      shown[#shown + 1] = run
    end
  end
  for field in pairs(wanted) do
    if #found > 0 and known[field] == nil then
      error(("runs: no run has a field %q%s"):format(field,
        require("roper.base.suggest").hint(field, tables.keys(known))), 0)
    end
  end
  if #found == 0 then
    io.stdout:write(("no runs in %s\n"):format(escape.line(folder)))
  elseif #shown == 0 then
    io.stdout:write(("no matching run among the %d in %s\n"):format(#found, escape.line(folder)))
  else
    io.stdout:write(render(runs_table(shown)), unfinished(shown))
  end
  if #problems > 0 then
    error("runs: " .. table.concat(problems, "\n"), 0)
  end
end

local function compare(one, other)
  local listing = require "roper.workbench.study.run.runs"
  local provenance = require "roper.training.provenance"
  local a, b = listing.read(one), listing.read(other)
  local rows = tables.map(listing.differences(a.config, b.config), function(difference)
    return { difference.field, tostring(difference.a or "-"), tostring(difference.b or "-") }
  end)
  for _, name in ipairs { "version", "commit", "host", "processor", "blas", "threads" } do
    local here, there = provenance.text(a.provenance, name), provenance.text(b.provenance, name)
    rows[#rows + 1] = here ~= there and { name, here, there } or nil
  end
  io.stdout:write(rows[1] and render(d.table { caption = { "first: ", one, "; second: ", other },
    head = { "field", "first", "second" }, rows = rows, sides = "l" }) or "no difference\n")
end

return {
  summary = "List runs, or compare the configurations of two.",
  define = function(command)
    local folder = command:argument("folder"):args("?")
      :description "Folder to search, with all folders below; runs by default."
    arguments.define_fields(command, "field=values",
      "List only runs with these values, such as position=rope,roper seed=1..3 status=finished.",
      folder)
    command:option("--compare"):args(2):argname { "RUN", "RUN" }
      :description "Print the differences between the configurations of two runs."
  end,
  run = function(parsed)
    local given = arguments.fields(parsed, "folder")
    local folder, wanted = parsed.folder or "runs", {}
    for field, text in pairs(given) do
      wanted[field] = require("roper.workbench.study.experiment.grid").values(field, text)
    end
    if wanted.position then
      local as_stored = require("roper.workbench.study.experiment.position").as_stored
      wanted.position = tables.map(wanted.position, as_stored)
    end
    for _, status in ipairs(wanted.status or {}) do
      require("roper.workbench.study.experiment.fields").convert({ "status",
        require("roper.workbench.study.run.runs").STATUSES }, status)
    end
    if parsed.compare then
      compare(parsed.compare[1], parsed.compare[2])
    else
      require("roper.system.file").check_folder("runs", folder)
      list(folder, wanted)
    end
    return nil
  end,
}
