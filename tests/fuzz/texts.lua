-- Random texts and files for the readers in Lua: a changed text of a corpus either gives a value,
-- or an error with a message for the user.

local core = require("roper.core")
local messages = require("tests.fuzz.messages")
local mutate = require("tests.fuzz.mutate")

local M = {}

local readers, names = {}, {}
for _, group in ipairs({ "parsers", "stored", "tokenizers" }) do
  for name, reader in pairs(require("tests.fuzz." .. group)) do
    readers[name] = reader
    names[#names + 1] = name
  end
end
table.sort(names)

-- The problem of an error value.
local function of_error(message)
  if type(message) ~= "string" then
    return "error object " .. tostring(message)
  end
  return messages.problem(message)
end

function M.next()
  local name = names[math.random(#names)]
  local reader = readers[name]
  local text = reader.literals and math.random(3) > 1
    and mutate.values(reader.corpus, reader.literals) or mutate.text(reader.corpus)
  return ("%s %q"):format(name, text), function()
    local ok, problem = core.interrupt_call(reader.run, of_error, text)
    return (ok or problem) and problem or nil
  end
end

core.interrupt_enable()
return M
