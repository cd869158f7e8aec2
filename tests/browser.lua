-- Headless Chromium, for specs that load pages in a browser.

local busted = require("busted")
local markup = require("roper.text.markup")
local process = require("tests.process")
local scratch = require("tests.scratch")

local M = {}

local NAMES <const> = { "chromium", "chromium-browser", "google-chrome" }

--- The browser's program.
---@return string? path nil if none is installed
---@return string? reason
function M.find()
  for _, name in ipairs(NAMES) do
    local status, output = process.run({ "sh", "-c", "command -v " .. name })
    if status == 0 then
      return (output:gsub("%s+$", ""))
    end
  end
  return nil, "no headless browser is installed (apt-get install chromium)"
end

--- A test that is skipped, with its reason, without a browser.
---@param name string
---@param f fun(path: string) takes the browser's program
function M.it(name, f)
  local path, reason = M.find()
  if path then
    busted.it(name, function() f(path) end)
  else
    busted.pending(("%s: %s"):format(name, reason))
  end
end

-- A page that runs a script at its end, without the policy that would not let it. An error in a
-- script becomes its attribute data-failed.
local function scripted(page, script)
  local watch = [[<script>window.addEventListener("error", (event) => {
    document.documentElement.dataset.failed = event.message; });</script>]]
  local free = page:gsub('<meta[^>]-http%-equiv="Content%-Security%-Policy">', "", 1)
  return (free:gsub("<head>", function() return "<head>" .. watch end, 1)
    :gsub("</body>", function() return "<script>" .. (script or "") .. "</script></body>" end, 1))
end

-- Raises the error of a script in a document.
local function check(document)
  local failed = document:match('data%-failed="([^"]*)"')
  assert(not failed, failed)
  return document
end

--- The document of a page after its scripts, and then `script`, have run. An error in a script is
--- raised.
---@param browser string from `find`
---@param page string html
---@param script string? JavaScript
---@param options string[]? more arguments of the browser
---@return string html
function M.load(browser, page, script, options)
  local whole = scripted(page, script)
  local command = { browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
    "--force-prefers-reduced-motion",
    "--user-data-dir=" .. scratch.path("browser"), "--window-size=1280,900" }
  table.move(options or {}, 1, #(options or {}), #command + 1, command)
  table.move({ "--dump-dom", "file://" .. scratch.write("page.html", whole) }, 1, 2, #command + 1,
    command)
  local status, document, errors = process.run(command)
  assert(status == 0, errors)
  return check(document)
end

-- Replaces a document by those of its frames.
local FRAMES <const> = [[addEventListener("load", () => {
  const texts = [...document.querySelectorAll("iframe")].map(
    (frame) => frame.contentDocument.documentElement.outerHTML);
  document.body.textContent = texts.join("\f") + "\f";
});]]

--- Like `load`, for several pages, each in a frame of its own. The start of a browser takes longer
--- than its work.
---@param browser string from `find`
---@param pages table[] each {html, script?, width = integer?, height = integer?}; 1280 x 900 pixels
---   by default
---@return string[] html
function M.load_all(browser, pages)
  local frames, documents = {}, {}
  for i, page in ipairs(pages) do
    frames[i] = ('<iframe style="width:%dpx;height:%dpx;border:0" srcdoc="%s"></iframe>'):format(
      page.width or 1280, page.height or 900, markup.escape(scripted(page[1], page[2])))
  end
  local whole = M.load(browser, '<!doctype html><html><head><meta charset="utf-8"></head><body>'
    .. table.concat(frames) .. "</body></html>", FRAMES)
  local text = whole:match("<body>(.*)</body>"):gsub("&lt;", "<"):gsub("&gt;", ">")
    :gsub("&amp;", "&")
  for document in text:gmatch("([^\f]*)\f") do
    documents[#documents + 1] = check(document)
  end
  assert(#documents == #pages, "a page is missing")
  return documents
end

return M
