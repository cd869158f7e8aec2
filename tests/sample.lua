--- A sample of the library, for `make check-valgrind`, which slows it down by a factor of 50:
--- training, a checkpoint, generation, every position scheme and some tasks. Prints what it did.
--- lua5.4 roper tests/sample.lua
package.path = package.path .. ";" .. arg[0]:match "^(.-)tests/[^/]*$" .. "?.lua"

local models = require "tests.models"
local positions = require "tests.positions"
local roper = require "roper"
local training = require "roper.training"

local task, model = models.task(), models.small { dropout = 0.1 }
local result = roper.train { model = model, task = task, steps = 2, batch = 2,
  optimizer = roper.optim.Adam(), progress = false }
print(("trained to a loss of %.2f"):format(result.loss))

local path = os.tmpname()
model:save(path)
local loaded = roper.load(path)
os.remove(path)
local question = task:question()
local texts = roper.generate(loaded, { question, question }, { task = task })
print(("generated %q"):format(texts[1]))

local count = 0
for _, name in ipairs(positions.schemes()) do
  local scheme = roper.position.resolve(name, { dim = 8, heads = 2, d_model = 16, length = 30 })
  local with_scheme = models.small { layers = 1, position = scheme }
  training.loss(with_scheme, (task:batch(2))):backward()
  count = count + 1
end
print(("differentiated a model with each of %d position schemes"):format(count))

local names = roper.tasks.list()
for _, name in ipairs(names) do
  if name ~= "text" and name ~= "corpus" then
    roper.tasks[name] { length = 64, seed = 1 }:batch(2)
  end
end
print(("took batches from %d tasks"):format(#names - 1))
