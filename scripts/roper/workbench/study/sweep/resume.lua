--- Selects the trials of an existing sweep that can run with the loaded files of now.
local counted = require("roper.base.escape").count
local escape = require "roper.base.escape"
local loaded = require "roper.workbench.study.experiment.loaded"
local needs = require "roper.workbench.study.experiment.needs"
local plan = require "roper.workbench.study.sweep.plan"
local sweep_file = require "roper.workbench.study.run.sweep_file"
local stored = require "roper.workbench.study.run.runs"
local tables = require "roper.base.tables"

local M = {}

local MOST_NAMES <const> = 10 -- of trials in a note

-- Returns the names of trials, or of the first ones.
local function names_of(trials)
  local names = tables.map(trials, function(trial, i)
    return i <= MOST_NAMES and escape.line(trial.name) or nil
  end)
  return table.concat(names, ", ") .. (#trials > MOST_NAMES
    and (" and %d more"):format(#trials - MOST_NAMES) or "")
end

--- Returns the note on trials that became stale.
---@param stale table[] from `plan.add`
---@return string? note nil without stale trials
function M.stale_note(stale)
  if not stale[1] then
    return nil
  end
  local made = tables.keys(tables.set(tables.map(stale, function(trial)
    return plan.made_with(trial.config)
  end)))
  local anew = tables.map(stale, function(trial)
    return not stored.result(trial.instead.folder, trial.instead.config) and trial or nil
  end)
  local by = loaded.now() and " with " .. escape.line(loaded.now()) or ""
  local instead = #anew == #stale and " and run anew" .. by
    or #anew == 0 and (", replaced by finished trials%s"):format(by)
    or ("; %d of them %s run anew%s, finished trials replace the others"):format(#anew,
      #anew == 1 and "is" or "are", by)
  return ("%s made with other loaded files or weights (%s) %s stale%s; their folders are kept: %s")
    :format(counted(#stale, "trial"), escape.line(table.concat(made, "; ")),
    #stale == 1 and "is" or "are", instead, names_of(stale))
end

-- Returns the reason why a trial cannot run, or nil.
local function reason_of(config)
  local missing, now = needs.missing(config), loaded.now()
  if config.loaded and not now then
    return ("made with --load of %s; pass the same files"):format(config.loaded)
  elseif missing then
    return ("needs %s: register it first, in a file for --load"):format(missing)
  elseif now and not loaded.same_names(config.loaded, now) then
    return config.loaded and ("made with other loaded files, %s"):format(config.loaded)
      or "made without loaded files; run the sweep without --load"
  end
  return nil
end

--- Returns the trials of a sweep that are finished or can run now. Trials of loaded files that were
--- edited since become stale, and new ones take their places.
---
--- Errors: the folder contains no sweep, or none of its trials is finished or can run.
---@param folder string
---@return table[] trials
---@return string[] notes on trials that became stale, and on unfinished ones that cannot run
function M.trials(folder)
  local now = loaded.now()
  local edited = {}
  for _, trial in ipairs(sweep_file.require(folder)) do
    local config = trial.config
    if config.loaded ~= now and loaded.same_names(config.loaded, now) then
      edited[#edited + 1] = tables.merged(config, { loaded = now })
    end
  end
  local notes, skipped, list = {}, {}, {}
  if edited[1] then
    local _, stale = plan.add(folder, edited)
    notes[1] = M.stale_note(stale)
  end
  for _, trial in ipairs(sweep_file.require(folder)) do
    local reason = not stored.result(trial.folder, trial.config) and reason_of(trial.config)
    if reason then
      skipped[reason] = skipped[reason] or {}
      table.insert(skipped[reason], trial)
    else
      list[#list + 1] = trial
    end
  end
  for _, reason in ipairs(tables.keys(skipped)) do
    notes[#notes + 1] = ("%s skipped: %s: %s"):format(counted(#skipped[reason], "trial"),
      names_of(skipped[reason]), escape.line(reason))
  end
  if not list[1] then
    error(("sweep: no trial of %s can run:\n%s"):format(escape.line(folder),
      table.concat(notes, "\n")), 0)
  end
  return list, notes
end

return M
