-- Saves tensors in the folder FOLDER, again and again: ./roper job/save.lua FOLDER

local roper = require "roper"
local folder = arg[1]
local names = {"a.npy", "b.safetensors", "c.model"}
for i = 1, 12 do
  local name, x = names[i % 3 + 1], roper.full({300}, i)
  local value = name == "a.npy" and x or {x = x, y = roper.zeros{5}}
  if name == "c.model" then
    value = roper.nn.Linear{inputs = 3, outputs = 2}
    value.weight = roper.full({2, 3}, i):parameter()
  end
  roper.save(folder .. "/" .. name, value)
  io.stdout:write(("saved %s %d\n"):format(name, i))
  io.stdout:flush()
end
