--- The reference as pages: one for each module and each class, and an index of all names that a
--- script searches.
local html_page = require "roper.base.html_page"
local catalogue = require "roper.workbench.help.catalogue"
local comment_of = require "roper.workbench.help.comment"
local files = require "roper.base.file"
local markup = require "roper.base.markup"
local pytorch = require "roper.workbench.help.pytorch"
local signature = require("roper.workbench.help.page").signature
local sources = require "roper.workbench.help.sources"
local tables = require "roper.base.tables"
local version = require "roper.base.version"
local h = markup.h

local M = {}

local DEEPEST <const> = 3 -- options of options of an argument

local function has_page(entry)
  return entry.kind == "module" or entry.kind == "class"
end

--- Where an entry is told about.
---@param entry Entry
---@return string address relative to the pages: "roper.nn.html#Linear", "tensor.html"
function M.address(entry)
  local owner, name = entry.path:match "^(.*)[.:]([%w_]+)$"
  return has_page(entry) and entry.path .. ".html" or ("%s.html#%s"):format(owner, name)
end

local function link(entry, text)
  return h.a { href = M.address(entry), h.code { text or entry.path } }
end

-- What else a name in the text about an entry means; nil where it is an argument or option of it.
local function meant(name, about)
  local own = {}
  for _, one in ipairs(tables.joined(about.comment.parameters, about.comment.fields,
    catalogue.options(about))) do
    own[one.name] = true
  end
  local owner = has_page(about) and about.path or about.path:match "^(.*)[.:]"
  for _, above in ipairs { "", owner .. ".", owner .. ":", "roper." } do
    local entry = catalogue.entry(above .. name:gsub("%(%)$", ""))
    if entry and entry ~= about and not own[name] then
      return entry
    end
  end
  return nil
end

-- Text about an entry, with links to the names in it.
local function inline(text, about)
  return html_page.inline(text, function(code)
    local entry = meant(code, about)
    return entry and link(entry, code) or h.code { code }
  end)
end

-- A type, with links to classes.
local function show_type(kind)
  if sources.classes()[kind] and sources.is_plain(kind) then
    return "table"
  end
  local nodes = {}
  for between, word in kind:gmatch "([^%a_]*)([%w_.]*)" do
    local entry = catalogue.entry(word)
    nodes[#nodes + 1] = { between, entry and entry.kind == "class" and link(entry) or word }
  end
  return nodes
end

-- Arguments, results or fields, and below an option table its options.
local function definitions(list, about, depth)
  return list[1] and depth <= DEEPEST and h.dl { tables.map(list, function(one)
    return { h.dt { one.name ~= "" and h.code { one.name }, " ", show_type(one.type),
      one.default and { " = ", h.code { one.default } } or one.optional and ", optional" },
      h.dd { inline(one.text, about), definitions(sources.options(one.type), about, depth + 1) } }
  end) }
end

local function titled(title, list, about)
  return list[1] and { h.h3 { title }, definitions(list, about, 1) }
end

-- An example, what was typed in bold.
local function transcript(lines)
  return h.pre { class = "code", tables.map(lines, function(line)
    return { line:find "^>>? " and h.b { line } or line, "\n" }
  end) }
end

-- Paragraphs, formulas and examples of an entry.
local function blocks(entry, kinds)
  return tables.map(comment_of.blocks(entry.comment), function(block)
    local text = table.concat(block.lines, "\n")
    return kinds[block.kind] and (block.kind == "example" and transcript(block.lines)
      or block.kind == "formula" and h.pre { class = "formula", text }
      or h.p { block.kind == "errors" and h.b { "Errors: " }, inline(text, entry) })
  end)
end

-- "Also x:sum(axis?), x:mean()", for names of the same function.
local function also(lead, entries)
  return entries[1] and h.p { lead, tables.map(entries, function(entry, i)
    return { i > 1 and ", ", link(entry, signature(entry)) }
  end), "." }
end

local function summary(entry)
  return inline(comment_of.summary(entry.comment), entry)
end

-- All about a function; about a method that is one, what it does and where that is told.
local function action(entry)
  local comment, title = entry.comment, h.h2 { h.code { signature(entry) } }
  local id = entry.path:match "[%w_]+$"
  if entry.same then
    return h.section { id = id, title, h.p { summary(entry) },
      also("As the first argument of ", { catalogue.entry(entry.same) }) }
  end
  return h.section { id = id, title, also("Also ", catalogue.aliases(entry)),
    blocks(entry, { prose = true, formula = true }),
    titled("Arguments", comment.parameters, entry),
    titled(comment.results[2] and "Results" or "Result", comment.results, entry),
    blocks(entry, { errors = true }), blocks(entry, { example = true }) }
end

-- Entries, each with what it is in a sentence.
local function listing(title, entries)
  return entries[1] and { h.h2 { title }, h.ul { class = "names", tables.map(entries,
    function(entry)
      return h.li { link(entry), " ", summary(entry) }
    end) } }
end

local function search(is_index)
  return h.nav { not is_index and h.a { href = "index.html", "All names" },
    h.form { action = "index.html", h.input { type = "search", name = "q",
      placeholder = "search", ["aria-label"] = "search", autocomplete = "off" } } }
end

-- The page of a module or a class.
local function page(entry)
  local groups = { module = {}, own = {}, inherited = {} }
  for _, member in ipairs(catalogue.members(entry)) do
    local is_own = member.path:sub(1, #entry.path) == entry.path
    table.insert(groups[has_page(member) and "module" or is_own and "own" or "inherited"], member)
  end
  return html_page.page(entry.path, { search(), h.h1 { entry.path },
    blocks(entry, { prose = true, formula = true }),
    titled("Fields", entry.comment.fields, entry),
    blocks(entry, { example = true }),
    listing("Modules", groups.module),
    listing(entry.kind == "class" and "Methods" or "Functions", groups.own),
    listing("Methods of " .. (entry.comment.parent or ""), groups.inherited),
    tables.map(groups.own, action) })
end

local function pytorch_page()
  return html_page.page("From PyTorch", { search(), h.h1 { "From PyTorch" },
    h.p { html_page.inline(pytorch.HEAD) }, h.pre { class = "code", pytorch.NAMES },
    tables.map(pytorch.groups, function(group)
      return { h.h2 { group.title }, h.div { class = "table", h.table {
        tables.map(group.rows, function(row)
          return h.tr { h.td { row[1] }, h.td { class = "text", pytorch.here(row) } }
        end) } } }
    end) })
end

-- Every name, and what a search of its text looks through.
local function index(entries)
  local kinds = { module = {}, class = {} }
  for _, entry in ipairs(entries) do
    table.insert(kinds[entry.kind] or {}, entry)
  end
  return html_page.page("roper", { search(true), h.h1 { "roper ", version },
    h.div { id = "contents", listing("Modules", kinds.module), listing("Classes", kinds.class),
      h.p { h.a { href = "pytorch.html", "From PyTorch" }, ": what is called how here" } },
    h.h2 { "All names" },
    h.ul { class = "names", id = "all", tables.map(entries, function(entry)
      return h.li { ["data-text"] = not entry.same and catalogue.prose(entry), link(entry), " ",
        summary(entry) }
    end) },
    h.script { markup.asset "workbench/help/reference.js" } })
end

--- Write the pages.
---@param path string of a folder, made where it is missing
---@return string index path of the page to begin with
function M.write(path)
  files.make(path)
  for _, entry in ipairs(catalogue.entries()) do
    if has_page(entry) then
      files.write(("%s/%s.html"):format(path, entry.path), page(entry))
    end
  end
  files.write(path .. "/pytorch.html", pytorch_page())
  files.write(path .. "/index.html", index(catalogue.entries()))
  return path .. "/index.html"
end

return M
