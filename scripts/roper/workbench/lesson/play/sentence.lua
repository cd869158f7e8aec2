--- Figure of a sentence on a ruler: the reader moves it, or pulls a word away, and sees what this
--- does to scores, weights and output, for each way to use positions.
local mathml = require "roper.text.formula.mathml"
local options_of = require "roper.options.rows"
local tables = require "roper.base.tables"
local h = require("roper.text.markup").h
require "roper.workbench.lesson.play.parts" -- defines LessonPlay

local M = { style = "sentence.css", script = "sentence.mjs" }

local FEWEST <const>, MOST <const> = 2, 6 -- words

-- The ways to use positions, by their names in attend.mjs. Without its last rotation, roper is
-- forward.
local METHODS <const> = { { "none", "nothing" }, { "waves", "add waves" }, { "rope", "RoPE" },
  { "forward", "RoPER, not turned back" }, { "roper", "RoPER" } }

-- Formulas of the sum and the output, and the words below the output, by methods.
local FORMULAS <const> = {
  { "none rope", "o_m = Σ_n a_{m,n} v_n", "o_m = Σ_n a_{m,n} v_n", "no value was turned" },
  { "waves", "o_m = Σ_n a_{m,n} (v_n + p_n)", "o_m = Σ_n a_{m,n} (v_n + p_n)",
    "no value was turned" },
  { "forward", "o_m = Σ_n a_{m,n} R_n v_n", "o_m = Σ_n a_{m,n} R_n v_n", "not turned back" },
  { "roper", "ô_m = Σ_n a_{m,n} R_n v_n", "o_m = R_{-m} ô_m = Σ_n a_{m,n} R_{n-m} v_n",
    "ô, turned back by the position of the query" },
}

-- Questions that a move answers, by their names in sentence.mjs.
local TRIES <const> = {
  { "twice", "A word occurs twice. When do both have the same score?" },
  { "pull", "Pull the last word away. What do RoPE and RoPER do differently?" },
  { "forward", "Take RoPER, but do not turn the sum back. What notices that the sentence moves?" },
}

M.rows = options_of.define("LessonSentence", {
  parent = "LessonPlay",
  { "words", "table", { "the", "dog", "bites", "the", "man" }, "the first sentence, 2 to 6 words; "
    .. "the last one is the query", type = "string[]",
    shown = '{"the", "dog", "bites", "the", "man"}' },
  { "vectors", "table", {}, "the query, key or value of some words, {man = {q = {2, 1}}}; other "
    .. "words have those that follow from their letters",
    type = "table<string, table<string, number[]>>" },
})

M.lists = { words = { "words without spaces", function(word)
  return type(word) == "string" and word:find "^%S+$" ~= nil
end } }

--- The lengths that some lists must have.
function M.counts(o)
  return { words = math.max(FEWEST, math.min(#o.words, MOST)) }
end

local function choice()
  return h.fieldset { h.legend { "Positions" }, h.div { class = "switch",
    tables.map(METHODS, function(method)
      return method[1] ~= "forward" and h.label { h.input { type = "radio", name = "how",
        value = method[1], checked = method[1] == "roper" }, h.span { method[2] } }
    end) } }
end

local function bar(is_signed)
  return h.td { class = "b", h.span { class = is_signed and "gauge signed" or "gauge",
    h.i { class = "was" }, h.i { class = "now" } } }
end

local function scores()
  local function number()
    return h.td { class = "n" }
  end
  return h.div { class = "scores",
    h.h3 { "Scores and weights for ", h.span { class = "q query-name" },
      h.span { class = "tag", ["data-tag"] = "scores" } },
    h.template { h.tr { h.th { scope = "row" }, number(), bar(true), number(), bar(false),
      number() } },
    h.table { h.thead { h.tr { h.th { "word" }, h.th { class = "n", "distance" },
      h.th { colspan = 2, "score ", mathml.line "q · k/√2" },
      h.th { colspan = 2, "weight ", mathml.line "a" } } }, h.tbody {} } }
end

-- A plane with arrows, its formulas, and words below it.
local function plane(class, title, column, below)
  return h.div { class = class,
    h.h3 { title, h.span { class = "tag", ["data-tag"] = class } },
    h.svg { viewBox = "-124 -96 248 192", role = "img", ["aria-label"] = title },
    tables.map(FORMULAS, function(row)
      return { h.p { class = "formula-line", ["data-method"] = row[1], mathml.line(row[column]) },
        h.p { class = "note", ["data-method"] = row[1], below or row[4] } }
    end) }
end

local function all_methods()
  local function cell()
    return h.td {}
  end
  return h.details { class = "all-methods",
    h.summary { "All five methods, the same moves: what moves and what stays" },
    h.div { class = "scroll", h.table {
      h.thead { h.tr { h.th { rowspan = 2, scope = "col", "positions" },
          h.th { colspan = 2, scope = "colgroup", "the whole sentence moves" },
          h.th { colspan = 2, scope = "colgroup", "its last word is pulled away" } },
        h.tr { h.th { scope = "col", "scores" }, h.th { scope = "col", "output" },
          h.th { scope = "col", "scores" }, h.th { scope = "col", "its value arrives" } } },
      h.tbody { tables.map(METHODS, function(method)
        return h.tr { ["data-row"] = method[1], h.th { scope = "row", method[2] }, cell(), cell(),
          cell(), cell() }
      end) } } },
    h.p { class = "note", "Computed from the words above, each time they change." } }
end

function M.draw(o)
  local function step(by, label, text)
    return h.button { type = "button", ["data-step"] = by, ["aria-label"] = label, text }
  end
  return { h.p { class = "do", "Drag the sentence. Then pull one word away. Click a word to make "
      .. "it the query." },
    h.form { class = "controls", autocomplete = "off", choice(),
      h.label { class = "back", h.input { type = "checkbox", name = "back", checked = true },
        " turn the sum back" },
      h.span { class = "moved" } },
    h.div { class = "stage", h.svg { ["aria-hidden"] = "true" },
      h.div { class = "grip", role = "slider", tabindex = 0,
        ["aria-label"] = "Where the sentence begins in the text", ["aria-valuemin"] = 0,
        ["aria-valuemax"] = 1000, ["aria-valuenow"] = 0,
        h.span { ["aria-hidden"] = "true", "⟷ drag the sentence" } } },
    h.form { class = "controls below", autocomplete = "off",
      h.div { class = "steps", role = "group", ["aria-label"] = "Move the sentence",
        step(-1, "1 position earlier", "← 1"), step(1, "1 position later", "1 →"),
        h.button { type = "button", class = "far", "begin at 1000" } },
      h.label { class = "own", h.span { "Your sentence" }, h.input { type = "text", name = "own",
        title = "Two to six words", value = table.concat(o.words, " "), maxlength = 60,
        spellcheck = "false" } } },
    h.div { class = "panels", scores(),
      plane("sum", "Weighted sum", 2, "dashed: before the move"),
      plane("output", "Output", 3) },
    h.p { class = "say", role = "status" },
    h.ol { class = "tries", tables.map(TRIES, function(try)
      return h.li { try[2], " ", h.button { type = "button", ["data-try"] = try[1], "Show me" } }
    end) },
    all_methods() }
end

return M
