--- The files that follow from the recorded runs: pages with texts of studies in them, and figures.
---
--- A page names a text as STUDY.NAME (pages.lua). Every study has the texts `status` and, if it has
--- tests, `tests`. tables.lua in its folder returns a function that returns others, among them
--- `answers`, rows of question, answer and effect for the text `all.answers` (those with
--- `is_headline` are also in `all.headline`), and figures by file.
local files = require "roper.system.file"
local markdown = require "markdown"
local pages = require "pages"
local studies = require "studies"
local tables = require "roper.base.tables"

local M = {}

local ROOT <const> = studies.FOLDER:match "^(.*)/[^/]*/[^/]*$" or "."

-- Returns the texts of all studies by name, and their figures by path.
local function all()
  local texts, figures, answers, headline = {}, {}, {}, {}
  for _, name in ipairs(studies.list()) do
    local study = studies.read(name)
    local found, drawn = dofile(study.folder .. "/tables.lua")(study)
    texts[name] = tables.merged({ status = markdown.status(study),
      tests = study.plan.families and markdown.families(study) }, found)
    for file, svg in pairs(drawn) do
      figures[("%s/%s"):format(study.folder, file)] = svg
    end
    for _, row in ipairs(found.answers) do
      answers[#answers + 1] = tables.joined(row, {
        ("[%s](%s)"):format(study.plan.title, name) })
      headline[#headline + 1] = row.is_headline and row or nil
    end
  end
  local head = { "question", "answer", "effect (95 % interval), p", "study" }
  texts.all = { answers = markdown.table(head, answers, 4),
    headline = markdown.table({ table.unpack(head, 1, 3) }, headline, 3) }
  return texts, figures
end

--- Computes the files.
---
--- Errors: a page names a text that no study has.
---@return table<string, string> contents by path
function M.files()
  local texts, contents = all()
  local paths = { ROOT .. "/README.md", studies.FOLDER .. "/README.md" }
  for _, name in ipairs(studies.list()) do
    paths[#paths + 1] = ("%s/%s/README.md"):format(studies.FOLDER, name)
  end
  for _, path in ipairs(paths) do
    contents[path] = pages.filled(files.read(path), path, function(name)
      local study, text = name:match "^([%w_]+)%.([%w_]+)$"
      return texts[study] and texts[study][text]
    end)
  end
  return contents
end

return M
