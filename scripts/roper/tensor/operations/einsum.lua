--- Einstein summation.
local format = require "roper.text.format"
local tables = require "roper.base.tables"

local M = {}

---@class Lettered a tensor with a letter for each axis
---@field x tensor
---@field letters string[]

local function fail(message, ...)
  error("einsum: " .. message:format(...), 0)
end

-- The letters of a tensor. The `more` axes of "..." have the last of these digits.
local DIGITS <const> = "87654321"

local function letters_of(text, more)
  if not text:gsub("%.%.%.", "", 1):find "^%a*$" then
    fail("expected letters and ..., got %q", text)
  end
  local list = {}
  for letter in text:gsub("%.%.%.", DIGITS:sub(#DIGITS - more + 1)):gmatch "." do
    list[#list + 1] = letter
  end
  return list
end

-- The size of an axis after two sizes are combined: they must be equal or, in "...", one may be 1.
local function common_size(letter, known, size)
  if known == nil or known == size then
    return size
  elseif letter:find "%a" then
    fail("expected one size for %s, got %d and %d", letter, known, size)
  elseif known ~= 1 and size ~= 1 then
    fail("expected sizes that are equal or 1 for an axis of ..., got %d and %d", known, size)
  end
  return known == 1 and size or known
end

-- Removes the axes of "..." that are broadcast; another tensor has them in full size.
local function without_broadcast(one, sizes)
  local x, letters = one.x, {}
  for axis = #one.letters, 1, -1 do
    local letter = one.letters[axis]
    if x:size(axis) ~= sizes[letter] then
      x = x:squeeze(axis)
    else
      table.insert(letters, 1, letter)
    end
  end
  return { x = x, letters = letters }
end

-- The tensors with their letters, and the largest number of axes of "...".
local function read_operands(parts, given)
  local operands, sizes, most = {}, {}, 0
  for i, part in ipairs(parts) do
    local x = given[i]
    if not format.is_tensor(x) then
      fail("expected a tensor for %q, got %s", part, type(x))
    end
    local more = x:rank() - select(2, part:gsub("%a", ""))
    local letters = letters_of(part, more)
    if #letters ~= x:rank() then
      fail("expected a tensor with the axes %q, got %s", part, format.summary(x))
    end
    for axis, letter in ipairs(letters) do
      sizes[letter] = common_size(letter, sizes[letter], x:size(axis))
    end
    operands[i] = { x = x, letters = letters }
    most = part:find("...", 1, true) and math.max(most, more) or most
  end
  return tables.map(operands, function(one)
    return without_broadcast(one, sizes)
  end), most
end

-- The number of occurrences of each letter in tensors.
local function counts_of(operands)
  local counts = {}
  for _, one in ipairs(operands) do
    for _, letter in ipairs(one.letters) do
      counts[letter] = (counts[letter] or 0) + 1
    end
  end
  return counts
end

-- The letters of the result: those after "->" or, without an arrow, those that occur once.
local function read_result(text, operands, more)
  local counts, letters = counts_of(operands), {}
  if not text then
    for _, letter in ipairs(tables.keys(counts)) do
      letters[#letters + 1] = letter:find "%a" and counts[letter] == 1 and letter or nil
    end
    return tables.joined(letters_of("...", more), letters)
  end
  letters = letters_of(text, more)
  for letter, count in pairs(counts_of { { letters = letters } }) do
    if count > 1 or not counts[letter] then
      fail("expected each letter after -> once, and in one of the tensors, got %q", text)
    end
  end
  return letters
end

-- Takes the diagonal of axes with the same letter.
local function without_repeats(one)
  local shape, strides, letters, at, stride = {}, {}, {}, {}, 1
  for axis = #one.letters, 1, -1 do
    local letter, size = one.letters[axis], one.x:size(axis)
    if not at[letter] then
      at[letter] = #letters + 1
      letters[at[letter]], shape[at[letter]], strides[at[letter]] = letter, size, 0
    end
    strides[at[letter]] = strides[at[letter]] + stride
    stride = stride * size
  end
  return #letters == #one.letters and one
    or { x = one.x:as_strided(shape, strides), letters = letters }
end

-- Sums over the axes whose letters are not wanted.
local function summed(one, wanted)
  local axes = tables.map(one.letters, function(letter, axis)
    return not wanted[letter] and axis or nil
  end)
  return axes[1] and { x = one.x:sum(axes), letters = tables.map(one.letters, function(letter)
    return wanted[letter] and letter or nil
  end) } or one
end

-- The axes of a tensor in the order of letters.
local function permuted(one, letters)
  local axis_of = {}
  for axis, letter in ipairs(one.letters) do
    axis_of[letter] = axis
  end
  return one.x:permute(tables.map(letters, function(letter)
    return axis_of[letter]
  end))
end

-- A tensor of three axes, each the letters of one group.
local function grouped(one, ...)
  local x, sizes, axis = permuted(one, tables.joined(...)), {}, 0
  for i, group in ipairs { ... } do
    sizes[i] = 1
    for _ = 1, #group do
      axis = axis + 1
      sizes[i] = sizes[i] * x:size(axis)
    end
  end
  return x:view(sizes)
end

-- The product of two tensors, summed over the letters that both have and that are not wanted.
local function contracted(a, b, wanted)
  local in_a, in_b = tables.set(a.letters), tables.set(b.letters)
  local both, inner, left, right, sizes = {}, {}, {}, {}, {}
  for axis, letter in ipairs(a.letters) do
    local group = not in_b[letter] and left or wanted[letter] and both or inner
    group[#group + 1], sizes[letter] = letter, a.x:size(axis)
  end
  for axis, letter in ipairs(b.letters) do
    right[#right + 1], sizes[letter] = not in_a[letter] and letter or nil, b.x:size(axis)
  end
  local letters = tables.joined(both, left, right)
  local product = grouped(a, both, left, inner):matmul(grouped(b, both, inner, right))
  return { letters = letters, x = product:view(tables.map(letters, function(letter)
    return sizes[letter]
  end)) }
end

--- Einstein summation: products of tensors, summed over letters that name their axes. Letters that
--- are not after the arrow are summed over; a letter that occurs twice in a tensor takes its
--- diagonal. "..." is any number of axes, which are broadcast: their sizes must be equal or 1.
--- Without an arrow, the result has the letters that occur once, in alphabetical order. Tensors are
--- multiplied from left to right, two at a time, by `matmul`.
---
---     "ij,jk->ik":  yᵢₖ = Σⱼ aᵢⱼ bⱼₖ
---
--- Errors: a number of tensors or axes that does not match the equation; two sizes for one letter;
--- products of integers.
---
---     > a, b = roper.tensor{{1, 2}, {3, 4}}, roper.tensor{{1, 0}, {1, 1}}
---     > roper.einsum("ij,jk->ik", a, b)
---     float32 [2, 2]
---     3 2
---     7 4
---     > roper.einsum("ii", a)
---     5 (float32)
---@param equation string
---@param ... tensor
---@return tensor y
function M.einsum(equation, ...)
  if type(equation) ~= "string" then
    fail("expected an equation such as \"ij,jk->ik\", got %s", type(equation))
  end
  local text, parts = equation:gsub("%s", ""), {}
  local left, right = text:match "^(.-)%->(.*)$"
  for part in ((left or text) .. ","):gmatch "([^,]*)," do
    parts[#parts + 1] = part
  end
  if #parts ~= select("#", ...) then
    fail("expected %d tensors for %q, got %d", #parts, equation, select("#", ...))
  end
  local operands, more = read_operands(parts, { ... })
  local result = { letters = read_result(right, operands, more) }
  operands = tables.map(operands, without_repeats)
  while operands[2] do
    local a, b = table.remove(operands, 1), table.remove(operands, 1)
    local wanted = counts_of(tables.joined({ result }, operands))
    a = summed(a, counts_of(tables.joined({ result, b }, operands)))
    b = summed(b, counts_of(tables.joined({ result, a }, operands)))
    table.insert(operands, 1, contracted(a, b, wanted))
  end
  local y = permuted(summed(operands[1], counts_of { result }), result.letters)
  return parts[2] and y or y:clone()
end

return M
