-- lua5.4 fonts.lua FILE: writes the fonts of pages as CSS: subsets of the fonts of Debian, in
-- WOFF2. Pages use the system's fonts without this file. FONTS is the folder of the fonts,
-- /usr/share/fonts by default.
local target = ...
local FOLDER <const> = os.getenv "FONTS" or "/usr/share/fonts"

-- Few characters, because each page contains its fonts; others are shown in the system's font.
local LATIN <const> = "U+20-7E,U+A0,U+B0,U+B1,U+B2,U+B7,U+B9,U+D7,U+ED,U+F4,U+2013,U+2014,U+2018,"
  .. "U+2019,U+201C,U+201D,U+2026,U+202F,U+2032,U+2190,U+2192,U+2212"
-- Browsers show the letters of formulas as the italic letters from U+1D434 on.
local MATH <const> = "U+20-7E,U+B0,U+B1,U+B7,U+2026,U+2032,U+2190,U+2192,U+2202,U+2211,"
  .. "U+2212,U+2217,U+221A,U+2248,U+2264,U+2265,U+2297,U+22EF,U+2308-230B,U+27E8,U+27E9,U+2113,"
  .. "U+210E,U+3A6,"
  .. "U+1D434-1D454,U+1D456-1D467,U+1D6F7,U+1D6FC-1D700,U+1D703,U+1D706,U+1D707,U+1D70B,U+1D70C,"
  .. "U+1D70E,U+1D711,U+1D719"
-- Tables for hints and for Graphite, which browsers do not need.
local DROPPED <const> = "Silf,Silt,Glat,Gloc,Feat,Sill,FFTM"

-- The name of each font on pages, its weight and style, its file, and its characters.
local FONTS <const> = {
  { "Roper Text", 400, "normal", "truetype/charis/CharisSIL-Regular.ttf", LATIN },
  { "Roper Text", 700, "normal", "truetype/charis/CharisSIL-Bold.ttf", LATIN },
  { "Roper Sans", 400, "normal", "opentype/inter/Inter-Regular.otf", LATIN .. ",U+3B8,U+3C6" },
  { "Roper Sans", 600, "normal", "opentype/inter/Inter-SemiBold.otf", LATIN .. ",U+3B8,U+3C6" },
  { "Roper Math", 400, "normal", "opentype/stix-word/STIXMath-Regular.otf", MATH },
}

local function quoted(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

local function output(command)
  local pipe <close> = assert(io.popen(command))
  return pipe:read "a"
end

local parts = {}
for i, font in ipairs(FONTS) do
  local name, weight, style, file, characters = table.unpack(font)
  local subset = os.tmpname()
  local ok = os.execute(("pyftsubset %s --unicodes=%s --flavor=woff2 --layout-features=kern,liga "
    .. "--no-hinting --desubroutinize --drop-tables+=%s --output-file=%s"):format(
    quoted(FOLDER .. "/" .. file), characters, DROPPED, quoted(subset)))
  local data = ok and output(("base64 -w 0 < %s"):format(quoted(subset)))
  os.remove(subset)
  if not ok then
    io.stderr:write("fonts: cannot subset ", FOLDER, "/", file, "; please run: make fonts\n")
    os.exit(1)
  end
  parts[i] = ('@font-face { font-family: "%s"; font-weight: %d; font-style: %s; font-display: swap;'
    .. " src: url(data:font/woff2;base64,%s); }\n"):format(name, weight, style, data)
end
local stream = assert(io.open(target, "w"))
assert(stream:write(table.concat(parts)))
assert(stream:close())
