--- Suggestions for misspelt names.
local M = {}

-- The number of edits (insert, delete, replace, swap two neighbours) from `a` to `b`.
local function distance(a, b)
  local before_last, last = nil, {}
  for j = 0, #b do
    last[j] = j
  end
  for i = 1, #a do
    local row = { [0] = i }
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j)
      row[j] = math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (same and 0 or 1))
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        row[j] = math.min(row[j], before_last[j - 2] + 1)
      end
    end
    before_last, last = last, row
  end
  return last[#b]
end

-- The length of the common prefix of two names.
local function common_start(a, b)
  local count = 0
  while count < #a and a:byte(count + 1) == b:byte(count + 1) do
    count = count + 1
  end
  return count
end

--- The most similar of several names. It is at most one edit away, or one for every three letters,
--- but fewer edits than letters. Ties are broken by the longest common prefix, then by alphabetical
--- order.
---@param name string
---@param names string[]
---@return string? nearest nil if none is similar
function M.nearest(name, names)
  local nearest, fewest, most_alike = nil, math.min(math.max(1, #name // 3) + 1, #name), 0
  for _, candidate in ipairs(names) do
    local is_near = math.abs(#name - #candidate) <= fewest -- a lower bound of the edits
    local edits = is_near and distance(name:lower(), candidate:lower()) or math.huge
    local alike = common_start(name:lower(), candidate:lower())
    local is_equal = nearest and edits == fewest
    if edits < fewest or is_equal and (alike > most_alike
      or alike == most_alike and candidate < nearest) then
      nearest, fewest, most_alike = candidate, edits, alike
    end
  end
  return nearest
end

--- The end of a message about an unknown name.
---@param name string
---@param names string[]
---@param lead string? such as "it takes": the hint ends with this and all names
---@return string hint such as `; did you mean "rope"?`, or "" if no name is similar; with `lead`
---   `; did you mean "rope"? It takes rope, none` or `; it takes rope, none`
function M.hint(name, names, lead)
  local nearest = M.nearest(name, names)
  local question = nearest and ('; did you mean "%s"?'):format(nearest) or ""
  if not lead then
    return question
  end
  local all = lead .. " " .. table.concat(names, ", ")
  return question .. (nearest and " " .. all:gsub("^%l", string.upper) or "; " .. all)
end

return M
