--- HTML and SVG as Lua values. Strings in elements are escaped when the page is rendered, so text
--- from runs cannot become markup:
---
---     h.p { class = "note", "loss < ", h.b { 3 } }    --> <p class="note">loss &lt; <b>3</b></p>
---
--- Keys are attributes (`true` for one without a value), list entries are children: text, numbers,
--- elements, or lists of these. False and nil are left out.
local file = require "roper.system.file"
local paths = require "roper.system.paths"
local escape = require "roper.base.escape"
local sha256 = require "roper.base.sha256"
local tables = require "roper.base.tables"

local M = {}

local VOID <const> = { br = true, hr = true, input = true, link = true, meta = true, wbr = true }

local ENTITIES <const> = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;",
  ["'"] = "&#39;" }

-- The control picture of an ASCII control character other than tab and newline. Other invisible
-- characters are unchanged.
local function shown(code)
  local is_kept = code == 9 or code == 10 or code >= 0x80
  return utf8.char(is_kept and code or 0x2400 + math.min(code, 0x21))
end

local function replacement()
  return "\u{FFFD}"
end

--- Any value as escaped text, for HTML content and quoted attributes.
---@param value any
---@return string
function M.escape(value)
  return (escape.replaced(tostring(value), shown, replacement):gsub("[&<>\"']", ENTITIES))
end

local Element = {}
local Verbatim = {}

--- Text that is not escaped; only for the style and script of the page itself.
---@param text string
---@return table
function M.verbatim(text)
  return setmetatable({ text = text }, Verbatim)
end

-- A style without comments and without the blanks that have no meaning.
local function dense(style)
  return (style:gsub("/%*.-%*/", ""):gsub("%s*([{};])%s*", "%1"):gsub("([:,])%s+", "%1")
    :gsub(";}", "}"):gsub("%s+", " "))
end

--- The content of a file of the library, not escaped; of a style, as dense as it can be written.
---@param name string relative to the library's folder
---@return table
function M.asset(name)
  local text = assert(file.read(paths.LIBRARY .. "/" .. name), name)
  return M.verbatim(name:find "%.css$" and dense(text) or text)
end

local write

local function write_element(element, parts)
  parts[#parts + 1] = "<" .. element.tag
  for _, name in ipairs(tables.keys(element.fields)) do
    local value = element.fields[name]
    if type(name) == "string" and value then
      local text = value == true and "" or M.escape(value):gsub("&#39;", "'")
      parts[#parts + 1] = (' %s="%s"'):format(name, text)
    end
  end
  parts[#parts + 1] = ">"
  if not VOID[element.tag] then
    write(element.fields, parts)
    parts[#parts + 1] = "</" .. element.tag .. ">"
  end
end

--- Appends a child, or the children in a list.
function write(value, parts)
  local kind = getmetatable(value)
  if kind == Element then
    write_element(value, parts)
  elseif kind == Verbatim then
    parts[#parts + 1] = value.text
  elseif type(value) == "table" then
    for _, child in ipairs(tables.entries(value)) do
      write(child, parts)
    end
  elseif value then
    parts[#parts + 1] = M.escape(value)
  end
end

--- The markup of an element, text, or a list of them.
---@param value any
---@return string
function M.render(value)
  local parts = {}
  write(value, parts)
  return table.concat(parts)
end

-- What a page that is guarded may load: nothing but what it contains, and no script but its own.
local function policy_of(body)
  local scripts = {}
  for script in body:gmatch "<script>(.-)</script>" do
    scripts[#scripts + 1] = (" 'sha256-%s'"):format(sha256.base64(sha256.of(script)))
  end
  return ("default-src 'none'; script-src%s; style-src 'unsafe-inline'; img-src data:; "
    .. "font-src data:; base-uri 'none'; form-action 'none'"):format(
    scripts[1] and table.concat(scripts) or " 'none'")
end

--- A whole page.
---@param title string
---@param style any
---@param body any
---@param is_guarded boolean? whether it may load nothing and run only its own scripts
---@return string html
function M.document(title, style, body, is_guarded)
  local h, inner = M.h, M.render(body)
  return "<!doctype html>\n" .. M.render(h.html { lang = "en",
    h.head {
      h.meta { charset = "utf-8" },
      is_guarded and h.meta { ["http-equiv"] = "Content-Security-Policy",
        content = policy_of(inner) },
      h.meta { name = "viewport", content = "width=device-width, initial-scale=1" },
      h.title { title },
      h.link { rel = "icon", href = "data:," }, -- otherwise, browsers ask the server for one
      h.style { style },
    },
    h.body { M.verbatim(inner) },
  }) .. "\n"
end

--- `h.NAME(fields)` returns an element NAME.
M.h = setmetatable({}, { __index = function(h, tag)
  local function make(fields)
    return setmetatable({ tag = tag, fields = fields }, Element)
  end
  h[tag] = make
  return make
end })

return M
