--- `roper kernel`: tell Jupyter of the kernel that notebooks of roper run in, or no more.
local MODULE <const> = "roper.session.kernel"

return {
  summary = "Make roper a kernel of Jupyter's notebooks.",
  define = function(command)
    command:argument("action"):choices { "install", "uninstall" }
      :description "For the user who runs it; neither needs to be root."
    command:option("--python"):argname("PROGRAM"):default "python3"
      :description "A Python that has ipykernel."
  end,
  run = function(parsed)
    local folder = package.searchpath(MODULE, package.path):match "^(.*)/"
    local roper = require("luv").fs_realpath(arg[0])
    require("roper.base.program").run(parsed.python,
      { folder .. "/kernel.py", parsed.action, roper }, { package = "python3" })
    io.stdout:write(parsed.action == "install" and "Jupyter has the kernel roper now: "
      .. "jupyter lab, or jupyter console --kernel roper\n" or "Jupyter has no kernel roper now.\n")
  end,
}
