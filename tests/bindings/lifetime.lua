--- Calls every C function on tensors or problems while finalizers, lists and options close its
-- arguments. Each call is repeated: the first opportunity is taken, then the second and so on,
-- until the call has no more. It must return the right result or raise an error. Prints the calls
-- that did neither and, at the end, the number of calls.
local core = require "roper.core"
local lifetime_calls = require "tests.bindings.lifetime_calls"

local calls = lifetime_calls.calls

-- The attack

local chances, struck -- until the attack, and whether it happened
local victims, wiped -- tensors and problems to close, tables to empty
local collecting = false

local function chance()
  chances = chances - 1
  if chances ~= 0 then
    return
  end
  struck = true
  for _, victim in ipairs(victims) do
    getmetatable(victim).__gc(victim)
  end
  for _, options in ipairs(wiped) do
    for name in pairs(options) do
      options[name] = nil
    end
  end
  for size = 1, 16 do -- reuses the memory that is free now
    core.full({ size }, 0 / 0)
    core.full({ size }, -1, "int32")
  end
end

--- A list whose metamethods are opportunities to attack.
local function hostile(list)
  return setmetatable({}, {
    __len = function()
      chance()
      return #list
    end,
    __index = function(_, i)
      chance()
      return list[i]
    end,
  })
end

local function same(list)
  return list
end

local function leave_garbage()
  setmetatable({}, {
    __gc = function()
      if collecting then
        chance()
        leave_garbage()
      end
    end,
  })
end

--- Make every allocation collect all garbage, or restore the usual collector.
local function collect_always(on)
  collecting = on
  if on then
    collectgarbage("incremental", 1, 100, 64)
    collectgarbage()
    leave_garbage()
  else
    collectgarbage("incremental", 200, 100, 13)
  end
end

local function text(value)
  local kind = core.tensor_metatable == debug.getmetatable(value) and "tensor" or type(value)
  if kind == "tensor" then
    return value:dtype() .. text(value:shape()) .. text(value:totable())
  elseif kind == "table" then
    local parts = {}
    for name, part in pairs(value) do
      parts[#parts + 1] = name .. "=" .. text(part)
    end
    table.sort(parts)
    return "{" .. table.concat(parts, ",") .. "}"
  end
  return tostring(value)
end

--- Call with an attack at opportunity number `n`; returns whether it happened, and the result as
-- text.
local function attack(make, lists, finalizers, n)
  chances, struck, wiped = math.huge, false, {}
  local closed, call = make(lists and hostile or same, function(options)
    wiped[#wiped + 1] = options
    return options
  end)
  victims = closed
  collect_always(finalizers)
  chances = n
  local results = table.pack(pcall(call))
  collect_always(false)
  chances = math.huge
  results.n = nil
  return struck, results[1] and text(results) or "refused: " .. tostring(results[2])
end

-- Completeness: each C function is among the calls, or here

local elsewhere = {}
for name in ("backward differentiable enable_grad is_parameter no_grad parameter" -- its own spec
  .. " __add __sub __mul __div __mod __pow __unm __le __close __gc" -- as add, ...; they close
  .. " __bor __bxor __bnot reshape" -- as __band, view
  .. " arange linspace eye full ones zeros rand randint randn seed random_state" -- no tensor
  .. " corpus_create corpus_open create_file flush_file folder_names hash lock pattern"
  .. " random_below random_permuted write_file" -- nor these
  .. " character_width hint nearest" -- texts
  .. " gradient_sum ranks_combine ranks_join ranks_leave" -- errors without other processes
  .. " is_recording json_array json_decode json_encode load load_npy load_safetensors save"
  .. " interrupt_call interrupt_clear interrupt_defer interrupt_disable interrupt_enable"
  .. " interrupt_wait interrupted machine matmul_precision memory memory_fail_after memory_limit"
  .. " memory_trim output_kept prepare_readline terminal_size threads"):gmatch "%S+" do
  elsewhere[name] = true
end

local tried = {}
for name in pairs(calls) do
  tried[name:match "^%S+"] = true
end

local function check_all(prefix, functions)
  for name, f in pairs(functions) do
    name = prefix .. name
    local is_native = type(f) == "function" and debug.getinfo(f).what == "C"
    if is_native and not tried[name] and not elsewhere[name] then
      print(name .. ": is not tried here")
    end
  end
end

local tensor = core.tensor_metatable
check_all("", core)
check_all("", tensor)
check_all("", tensor.methods)
check_all("rotary:", debug.getmetatable(core.rotary({ dim = 2 })).__index)
check_all("problems:", debug.getmetatable(core.tasks.new("copy", {})).__index)
check_all("corpus:", debug.getregistry()["roper.corpus"].__index)

-- The calls

local names, right, refused = {}, 0, 0
for name in pairs(calls) do
  names[#names + 1] = name
end
table.sort(names)
for _, name in ipairs(names) do
  local _, expected = attack(calls[name], false, false, -1)
  if expected:find "^refused" then
    print(("%s: %s"):format(name, expected))
  end
  for _, finalizers in ipairs({ false, true }) do
    local n, again = 0, true
    while again do
      n = n + 1
      local result
      again, result = attack(calls[name], not finalizers, finalizers, n)
      if result == expected then
        right = right + 1
      elseif result:find "^refused: .*already collected" or result:find "expected dim" then
        refused = refused + 1
      else
        print(("%s, closed by %s at chance %d: expected %s, got %s"):format(name,
          finalizers and "a finalizer" or "a list", n, expected, result))
      end
    end
  end
end
os.remove(lifetime_calls.path)
print(("%d functions, %d calls right, %d refused"):format(#names, right, refused))
