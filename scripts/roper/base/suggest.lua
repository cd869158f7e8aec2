--- Suggestions for misspelt names, as in the errors of the core.
local core = require "roper.core"

-- The end of a message about an unknown name of many: the three most similar ones, as far as they
-- are similar, and where all are listed.
local function nearest_of_many(name, names, where)
  local rest, found = table.move(names, 1, #names, 1, {}), {}
  for i = 1, 3 do
    found[i] = core.nearest(name, rest)
    for j = #rest, 1, -1 do
      if rest[j] == found[i] then
        table.remove(rest, j)
      end
    end
  end
  local texts = {}
  for i, one in ipairs(found) do
    texts[i] = (i == 1 and "" or i == #found and " or " or ", ") .. ('"%s"'):format(one)
  end
  return (found[1] and "; did you mean " .. table.concat(texts) .. "? " or "; ")
    .. (found[1] and where:gsub("^%l", string.upper) or where)
end

return {
  --- The end of a message about an unknown name of many: `; did you mean "beta1" or "beta2"? To
  --- list all fields: ...`, with up to three similar names, or only `; to list all fields: ...`.
  ---@type fun(name: string, names: string[], where: string): string
  nearest_of_many = nearest_of_many,

  --- The most similar of several names. The number of edits to it is at most 1, or a third of the
  --- letters if that is more, and less than the number of letters. Ties are broken by the longest
  --- common prefix, then by alphabetical order.
  ---@type fun(name: string, names: string[]): string? nil if none is similar
  nearest = core.nearest,

  --- The end of a message about an unknown name: `; did you mean "rope"?`, or "" if no name is
  --- similar. With `lead`, such as "it takes", it ends with all names: `; did you mean "rope"? It
  --- takes rope, none` or `; it takes rope, none`.
  ---@type fun(name: string, names: string[], lead?: string): string
  hint = core.hint,
}
