--- Suggestions for misspelt names, as in the errors of the core.
local core = require "roper.core"

return {
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
