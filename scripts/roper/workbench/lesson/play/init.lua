--- Interactive figures on pages, each kind in a file of its own: its options and its HTML. The
--- scripts in this folder compute what they show; without them, pages show the static picture of
--- the step instead.
local core = require "roper.core"
local markup = require "roper.text.markup"
local options_of = require "roper.options.rows"
local script = require "roper.text.script"
local tables = require "roper.base.tables"
local h = markup.h

local M = {}

local FOLDER <const> = "workbench/lesson/play/"

-- Each kind has the rows of its options; `lists`, what the entries of options that are lists must
-- be, {description, predicate}; `draw`; if lists must have certain lengths, `counts`; and the names
-- of its `style` and of its `script`, if it is not that of figures of numbers; `is_whole`, if it
-- is shown without scripts, too.
local KINDS <const> = {
  attention = require "roper.workbench.lesson.play.attention",
  clocks = require "roper.workbench.lesson.play.clocks",
  derivation = require "roper.workbench.lesson.play.derivation",
  heads = require "roper.workbench.lesson.play.heads",
  rotation = require "roper.workbench.lesson.play.rotation",
  sentence = require "roper.workbench.lesson.play.sentence",
}

--- The types of the options of all kinds, for documentation.
M.TYPES = table.concat(tables.map(tables.keys(KINDS), function(name)
  return "Lesson" .. name:gsub("^%l", string.upper)
end), "|")

-- Checks that every entry of a list fits, and that there are `count` of them if it is given.
local function check_list(where, list, rule, count)
  local expected, fits = table.unpack(rule)
  if #list ~= math.max(count or #list, 1) then
    error(("%s: expected %s %s, got %d"):format(where, count or "1 or more", expected, #list), 0)
  end
  for i, entry in ipairs(list) do
    if not fits(entry) then
      error(("%s: expected %s, got %s at index %d"):format(where, expected,
        options_of.shown(entry), i), 0)
    end
  end
end

--- Checks the options of an interactive figure.
---
--- Errors: an unknown kind or option; a value of the wrong type; a list of the wrong length.
---@param where string names the figure in messages
function M.check(where, given)
  local refusal = options_of.refusal(tables.keys(KINDS), given.kind)
  if refusal then
    error(("%s: option kind: %s"):format(where, refusal), 2)
  end
  local kind = KINDS[given.kind]
  local play = options_of.check(where, given, kind.rows)
  local counts = kind.counts and kind.counts(play) or {}
  for _, name in ipairs(tables.keys(kind.lists)) do
    if play[name] then
      check_list(("%s: option %s"):format(where, name), play[name], kind.lists[name], counts[name])
    end
  end
  return play
end

--- An interactive figure. It is hidden until its script runs, unless its kind is whole without it.
---@param caption any the caption as page nodes
---@param data any the value of the option `data`, which becomes JSON
function M.figure(play, caption, data)
  local given = tables.merged(play)
  given.caption = nil -- scripts do not need it
  return h.figure { class = "play " .. play.kind, hidden = not KINDS[play.kind].is_whole,
    ["data-play"] = core.json_encode(given), ["data-given"] = data and core.json_encode(data),
    KINDS[play.kind].draw(play, data),
    h.figcaption { caption } }
end

--- The kinds of the interactive figures of a lesson.
---@return string[] kinds
function M.kinds(lesson)
  return tables.keys(tables.set(tables.map(lesson.steps, function(step)
    return step.figure and step.figure.play and step.figure.play.kind
  end)))
end

--- The style and the script of interactive figures.
---@param kinds string[]
---@return any style
---@return any script
function M.assets(kinds)
  local styles, scripts = {}, {}
  for _, name in ipairs(kinds) do
    local kind = KINDS[name]
    styles[#styles + 1] = kind.style and markup.asset(FOLDER .. kind.style) or nil
    scripts[FOLDER .. (kind.script or "figures.mjs")] = true
  end
  return kinds[1] and { markup.asset(FOLDER .. "play.css"), styles },
    kinds[1] and h.script { script.joined(table.unpack(tables.keys(scripts))) }
end

return M
