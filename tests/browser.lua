-- Headless Chromium, for specs that load pages in a browser.

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

--- The document of a page after its scripts, and then `script`, have run. An error in a script is
--- raised.
---@param browser string from `find`
---@param page string html
---@param script string? JavaScript
---@param options string[]? more arguments of the browser
---@return string html
function M.load(browser, page, script, options)
  local watch = [[<script>window.addEventListener("error", (event) => {
    document.documentElement.dataset.failed = event.message; });</script>]]
  local whole = page:gsub("<head>", function() return "<head>" .. watch end, 1)
    :gsub("</body>", function() return "<script>" .. (script or "") .. "</script></body>" end, 1)
  local command = { browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
    "--user-data-dir=" .. scratch.path("browser"), "--window-size=1280,900" }
  table.move(options or {}, 1, #(options or {}), #command + 1, command)
  table.move({ "--dump-dom", "file://" .. scratch.write("page.html", whole) }, 1, 2, #command + 1,
    command)
  local status, document, errors = process.run(command)
  assert(status == 0, errors)
  local failed = document:match('data%-failed="([^"]*)"')
  assert(not failed, failed)
  return document
end

return M
