--- The table that `require "roper"` returns, as `root`. `roper/init.lua` sets it for modules below
--- it that describe the public names (help) or run code that uses them (lessons).
return setmetatable({}, {
  __index = function()
    error('base.public: no table yet; require "roper" first', 2)
  end,
})
