--- SHA-256 (FIPS 180-4), for pages that name the scripts that they run.
local M = {}

-- The first 32 bits of the fractional parts of a root of the first primes.
local function fractions(count, root)
  local list, n = {}, 2
  while #list < count do
    local is_prime = true
    for d = 2, math.floor(n ^ 0.5) do
      is_prime = is_prime and n % d ~= 0
    end
    if is_prime then
      list[#list + 1] = math.floor(n ^ root % 1 * 2 ^ 32)
    end
    n = n + 1
  end
  return list
end

local K <const>, START <const> = fractions(64, 1 / 3), fractions(8, 1 / 2)
local ALL <const> = 0xFFFFFFFF

local function rotated(x, n)
  return (x >> n | x << (32 - n)) & ALL
end

-- Adds a block of 64 bytes to a state of eight numbers.
local function add(state, block)
  local w = { (">" .. ("I4"):rep(16)):unpack(block) }
  for i = 17, 64 do
    local x, y = w[i - 15], w[i - 2]
    w[i] = w[i - 16] + (rotated(x, 7) ~ rotated(x, 18) ~ x >> 3) + w[i - 7]
      + (rotated(y, 17) ~ rotated(y, 19) ~ y >> 10) & ALL
  end
  local a, b, c, d, e, f, g, h = table.unpack(state)
  for i = 1, 64 do
    local t = h + (rotated(e, 6) ~ rotated(e, 11) ~ rotated(e, 25)) + (e & f ~ ~e & ALL & g) + K[i]
      + w[i]
    local u = (rotated(a, 2) ~ rotated(a, 13) ~ rotated(a, 22)) + (a & b ~ a & c ~ b & c)
    a, b, c, d, e, f, g, h = t + u & ALL, a, b, c, d + t & ALL, e, f, g
  end
  for i, x in ipairs { a, b, c, d, e, f, g, h } do
    state[i] = state[i] + x & ALL
  end
end

--- The SHA-256 of bytes.
---@param bytes string
---@return string digest 32 bytes
function M.of(bytes)
  local state = table.move(START, 1, 8, 1, {})
  local padded = bytes .. "\x80" .. ("\0"):rep((55 - #bytes) % 64) .. (">I8"):pack(8 * #bytes)
  for at = 1, #padded, 64 do
    add(state, padded:sub(at, at + 63))
  end
  return (">" .. ("I4"):rep(8)):pack(table.unpack(state))
end

local LETTERS <const> = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

--- Bytes in Base64 (RFC 4648).
---@param bytes string
---@return string
function M.base64(bytes)
  local text = bytes:gsub("..?.?", function(three)
    local bits = (">I3"):unpack(three .. "\0\0")
    return (("...."):gsub("()%.", function(i)
      local at = (bits >> 6 * (4 - i) & 63) + 1
      return LETTERS:sub(at, at)
    end)):sub(1, #three + 1)
  end)
  return text .. ("="):rep(-#text % 4)
end

return M
