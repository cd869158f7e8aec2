-- Names of the element-wise operations, from their rows in core/kernels/operation: what is added is
-- tested, too.

local M = {}

local function rows(file, kind)
  local list = {}
  for line in io.lines(("core/kernels/operation/%s.h"):format(file)) do
    list[#list + 1] = line:match("^" .. kind .. '%([%u_]+, "([%l_]+)"')
  end
  assert(list[1], "no rows in " .. file)
  return list
end

--- Functions of one argument of any dtype, and of floats only.
M.unary, M.float_unary = rows("unary", "UNARY"), rows("unary", "FLOAT_UNARY")

--- Functions of two arguments, and those that compare them.
M.binary, M.comparisons = rows("binary", "%u*_?BINARY"), rows("compare", "COMPARE")

return M
