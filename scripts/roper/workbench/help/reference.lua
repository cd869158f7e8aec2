--- Writes the reference as HTML: a page for each module and class, and an index with a search box.
local catalogue = require "roper.workbench.help.catalogue"
local d = require "roper.text.document"
local files = require "roper.system.file"
local html = require "roper.text.document.html"
local markup = require "roper.text.markup"
local pages = require "roper.workbench.help.page"
local sources = require "roper.workbench.help.sources"
local tables = require "roper.base.tables"
local version = require "roper.base.version"
local h = markup.h

local M = {}

-- A function that returns the address of a name in the text about an entry, or nil for the entry's
-- own arguments and options.
local function address_in(about)
  local own = {}
  for _, one in ipairs(sources.with_options(about.comment.parameters, about.comment.fields)) do
    own[one.name] = true
  end
  local owner = pages.has_page(about) and about.path or about.owner
  return function(name)
    for _, above in ipairs { "", owner .. ".", owner .. ":", "roper." } do
      local entry = catalogue.entry(above .. name:gsub("%(%)$", ""))
      if entry and entry ~= about and not own[name] then
        return pages.address(entry)
      end
    end
  end
end

local function search(is_index)
  return h.nav { not is_index and h.a { href = "index.html", "All names" },
    h.form { action = "index.html", h.input { type = "search", name = "q",
      placeholder = "search", ["aria-label"] = "search", autocomplete = "off" } } }
end

local function page(entry)
  local tree, members = pages.entry(entry)
  return html.page(entry.path, { search(), tree, tables.map(members, function(member)
    return h.section { id = member.name,
      html.nodes((pages.entry(member)), address_in(member)) }
  end) }, { href = address_in(entry) })
end

-- The index: all names, each with the text to search.
local function index(entries)
  local kinds = { module = {}, class = {} }
  for _, entry in ipairs(entries) do
    table.insert(kinds[entry.kind] or {}, entry)
  end
  return html.page("roper", { search(true), d.heading { "roper ", version },
    h.div { id = "contents", html.nodes { pages.list("Modules", kinds.module),
      pages.list("Classes", kinds.class),
      d.paragraph { d.link("From PyTorch", "pytorch.html"), ": what to write instead" } } },
    d.heading("All names", 2),
    h.ul { class = "names", id = "all", tables.map(entries, function(entry)
      return h.li { ["data-text"] = not entry.same and catalogue.prose(entry),
        html.inline { d.code(entry.path, pages.address(entry)), " ", pages.summary(entry) } }
    end) },
    h.script { markup.asset "workbench/help/reference.js" } })
end

--- Writes the pages.
---@param path string of a folder, which is created if it does not exist
---@return string index path of the index
function M.write(path)
  files.make(path)
  for _, entry in ipairs(catalogue.entries()) do
    if pages.has_page(entry) then
      files.write(("%s/%s.html"):format(path, entry.path), page(entry))
    end
  end
  files.write(path .. "/pytorch.html", html.page("From PyTorch", { search(),
    require("roper.workbench.help.pytorch").page() }))
  files.write(path .. "/index.html", index(catalogue.entries()))
  return path .. "/index.html"
end

return M
