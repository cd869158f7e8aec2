--- `roper kernel`: registers roper as a kernel of Jupyter, or removes it.
local files = require "roper.system.file"

local MODULE <const> = "roper.workbench.session.kernel"
local REMOVED <const> = "The kernel roper was removed from Jupyter.\n"

-- The folder of the kernel in the user's Jupyter data.
local function installed_folder()
  local folder = require("roper.system.environment").get "JUPYTER_DATA_DIR"
  if not folder or folder == "" then
    local data = require("roper.system.paths").user("XDG_DATA_HOME", ".local/share") or ""
    folder = data .. "/jupyter"
  end
  return folder .. "/kernels/roper"
end

-- Removes the kernel, no matter which Python installed it. Returns whether it was installed.
local function remove_installed()
  local folder = installed_folder()
  if not files.remove_file(folder .. "/kernel.json") then
    return false
  end
  files.remove_folder(folder)
  return true
end

return {
  summary = "Install or uninstall the kernel for Jupyter notebooks.",
  define = function(command)
    command:argument("action"):choices { "install", "uninstall" }
      :description("Install or uninstall the kernel for the current user. uninstall needs no "
        .. "Python.")
    command:option("--python"):argname("PROGRAM"):default "python3"
      :description "A Python with ipykernel."
  end,
  run = function(parsed)
    if parsed.action == "uninstall" and remove_installed() then
      io.stdout:write(REMOVED)
      return
    end
    local folder = package.searchpath(MODULE, package.path):match "^(.*)/"
    local roper = files.real(arg[0])
    require("roper.system.process").run(parsed.python,
      { folder .. "/kernel.py", parsed.action, roper }, { package = "python3" })
    io.stdout:write(parsed.action == "install" and "The kernel roper was installed. Start it with "
      .. "jupyter lab, or jupyter console --kernel roper\n" or REMOVED)
  end,
}
