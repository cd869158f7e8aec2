local arrays = require("tests.arrays")
local gradients = require("tests.gradients")
local roper = require("roper")

-- The definition: for each place of the result the sum over all places of the other letters.
local function by_definition(equation, arrays_of)
  local left, right = equation:match("^(.-)%->(.*)$")
  local inputs, sizes, all = {}, {}, {}
  for part in (left .. ","):gmatch("([^,]*),") do
    local letters = {}
    for letter in part:gmatch("%a") do
      letters[#letters + 1] = letter
      local size = arrays_of[#inputs + 1].shape[#letters]
      if not sizes[letter] then
        all[#all + 1], sizes[letter] = letter, size
      end
    end
    inputs[#inputs + 1] = letters
  end
  local shape, results, rest, rest_shape = {}, {}, {}, {}
  for letter in right:gmatch("%a") do
    results[#results + 1], shape[#shape + 1] = letter, sizes[letter]
  end
  for _, letter in ipairs(all) do
    if not right:find(letter, 1, true) then
      rest[#rest + 1], rest_shape[#rest_shape + 1] = letter, sizes[letter]
    end
  end
  return arrays.make(shape, function(at)
    local place, total = {}, 0
    for i, letter in ipairs(results) do
      place[letter] = at[i]
    end
    for n = 0, arrays.count(rest_shape) - 1 do
      for i, value in ipairs(arrays.coordinates(rest_shape, n)) do
        place[rest[i]] = value
      end
      local product = 1
      for i, letters in ipairs(inputs) do
        local here = {}
        for axis, letter in ipairs(letters) do
          here[axis] = place[letter]
        end
        product = product * arrays.get(arrays_of[i], here)
      end
      total = total + product
    end
    return total
  end)
end

local function pick(letters, count)
  local list = {}
  for _ = 1, count do
    list[#list + 1] = letters:sub(math.random(#letters), nil):sub(1, 1)
  end
  return table.concat(list)
end

describe("einsum", function()
  it("agrees with its definition for random equations", function()
    arrays.each_seed(120, function()
      local sizes, parts, operands, from = {}, {}, {}, {}
      for letter in ("abcde"):gmatch(".") do
        sizes[letter] = math.random(15) == 1 and 0 or math.random(3)
      end
      for i = 1, math.random(3) do
        parts[i] = pick("abcde", math.random(0, 3))
        local shape = {}
        for letter in parts[i]:gmatch(".") do
          shape[#shape + 1] = sizes[letter]
        end
        operands[i] = arrays.random_layout(shape, "float64")
        from[i] = arrays.from(operands[i])
      end
      local left, result = table.concat(parts, ","), ""
      for letter in ("ecadb"):gmatch(".") do
        if left:find(letter, 1, true) and math.random(2) == 1 then
          result = result .. letter
        end
      end
      local equation = left .. "->" .. result
      arrays.check(by_definition(equation, from), roper.einsum(equation, table.unpack(operands)),
        1e-12, equation)
    end)
  end)

  it("has gradients, also of diagonals and of a tensor used twice", function()
    roper.seed(1)
    local options = { layouts = false }
    gradients.check(function(a, b) return roper.einsum("ij,kj->ki", a, b) end,
      { { 2, 3 }, { 4, 3 } })
    gradients.check(function(a) return roper.einsum("iji->j", a) end, { { 2, 3, 2 } }, options)
    gradients.check(function(a) return roper.einsum("ij,ik->jk", a, a) end, { { 2, 3 } }, options)
    gradients.check(function(a, b, c) return roper.einsum("...i,ij,j->...", a, b, c) end,
      { { 2, 2, 3 }, { 3, 2 }, { 2 } }, options)
  end)

  it("keeps letters that occur once if there is no arrow, and ignores spaces", function()
    local a, b = roper.randn({ 2, 3 }), roper.randn({ 3, 4 })
    assert.equal(roper.einsum("ij,jk->ik", a, b), roper.einsum(" i j , j k ", a, b))
    assert.equal(a:transpose(1, 2), roper.einsum("ba", a))
    assert.same({ 2, 2, 2 }, roper.einsum("...ij,...jk", roper.ones({ 2, 2, 3 }),
      roper.ones({ 2, 3, 2 })):shape())
  end)

  it("broadcasts the axes of ...", function()
    local a, b = roper.randn({ 1, 3, 2 }), roper.randn({ 5, 1, 2 })
    arrays.close((a * b):sum(3), roper.einsum("...i,...i->...", a, b), 1e-6)
    arrays.close((a * b):sum({ 1, 2 }), roper.einsum("...i,...i->i", a, b), 1e-6)
    assert.same({ 0, 3 }, roper.einsum("...i,...i->...", a, roper.ones({ 0, 1, 2 })):shape())
    assert.same({ 1, 1 }, roper.einsum("...i,...i->...", roper.ones({ 1, 2 }),
      roper.ones({ 1, 1, 2 })):shape())
    gradients.check(function(x, y) return roper.einsum("...i,...j->...ji", x, y) end,
      { { 1, 3, 2 }, { 4, 1, 2 } }, { layouts = false })
  end)

  it("rejects what does not fit", function()
    local a, b = roper.ones({ 2, 3 }), roper.ones({ 3, 4 })
    for message, arguments in pairs({
      ['expected 2 tensors for "ij,jk", got 1'] = { "ij,jk", a },
      ['expected a tensor for "jk", got number'] = { "ij,jk", a, 5 },
      ['expected a tensor with the axes "ijk", got float32 %[2, 3%]'] = { "ijk", a },
      ["expected one size for j, got 3 and 2"] = { "ij,jk", a, a },
      ["one size for j, got 1 and 3"] = { "ij,jk", roper.ones({ 2, 1 }), b },
      ["sizes that are equal or 1 for an axis of ..., got 2 and 3"] = { "...j,...k", a, b },
      ['expected letters and ..., got "i%.j"'] = { "i.j", a },
      ['each letter after %-> once, and in one of the tensors, got "ii"'] = { "ij->ii", a },
      ['each letter after %-> once, and in one of the tensors, got "ik"'] = { "ij->ik", a },
      ['expected a tensor with the axes "...ijk", got'] = { "...ijk", a },
      ["expected an equation such as .*, got nil"] = {},
    }) do
      assert.error_matches(function() roper.einsum(table.unpack(arguments)) end,
        "^einsum: .*" .. message)
    end
    assert.error_matches(function()
      roper.einsum("ij,jk", a:to("int32"), b:to("int32"))
    end, "matmul: expected")
  end)
end)
