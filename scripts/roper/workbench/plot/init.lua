--- Plots of lines, points, bars, histograms, heatmaps, rotations, arrows, attention weights and
--- position schemes, in a file or in the terminal.
local axes = require "roper.workbench.plot.axis"
local data = require "roper.workbench.plot.data"
local options_of = require "roper.options.rows"
local output = require "roper.workbench.plot.output"
local reduce = require "roper.workbench.plot.reduce"
local tables = require "roper.base.tables"
local text = require "roper.workbench.plot.text"

local M = {}

local MOST_BARS <const> = 200

local SIZE <const> = { smallest = 1, largest = 10000 } -- pixels or columns

local PLOT <const> = options_of.define("plot.Options", {
  text = "options of every plot",
  { "title", "string", "", "text above the plot" },
  { "xlabel", "string", "", "label of the horizontal axis" },
  { "ylabel", "string", "", "label of the vertical axis" },
  { "legend", "boolean", true, "draw a legend if series have labels" },
  { "width", SIZE, nil, "width of a file in pixels (560 by default; 460 for arrows), or of text in "
    .. "columns (by default that of the terminal)" },
  { "height", SIZE, nil, "height of a file in pixels (400 by default; 480 for a heatmap), or of "
    .. "the plot area in lines of text" },
  { "file", "string?", nil, "the file to write, if it is not passed as an argument" },
  { "format", output.FORMATS, nil, "format of the file; by default, that of its extension (.svg, "
    .. ".png, .pdf, .txt). Without a file, the plot is returned as a string in this format or, for "
    .. '"window", opened in a window' },
})

-- Returns the checked options of a plot, and a figure with the common fields. `file` can be omitted
-- before `options`.
local function read(name, rows, file, options)
  if options == nil and type(file) == "table" then
    file, options = nil, file
  end
  if file ~= nil and type(file) ~= "string" or type(options) == "table" and options[1] ~= nil then
    error(("%s: expected a file name or a table of options after the data, got %s; points with "
      .. "x are written {x = ..., y = ...}"):format(name, file and data.kind(file) or "a list"), 0)
  end
  local o = options_of.check(name, options, rows, 0)
  if file and o.file then
    error(name .. ": expected one file, got one as an argument and one as an option", 0)
  end
  o.file = file or o.file
  o.format = output.format(name, o.file, o.format)
  return o, { name = name, title = text.clean(o.title), xlabel = text.clean(o.xlabel),
    ylabel = text.clean(o.ylabel), legend = o.legend, width = o.width, height = o.height }
end

-- Sets both axes to fit the series. `x_round` makes the horizontal axis end at round numbers.
local function set_axes(figure, o, x_round)
  local xs, ys = {}, {}
  for _, series in ipairs(figure.series) do
    xs[#xs + 1] = series.x
    ys[#ys + 1] = series.y
    ys[#ys + 1] = series.low
    ys[#ys + 1] = series.high
  end
  local name = figure.name
  figure.is_ranged = o.xrange ~= nil or o.yrange ~= nil
  figure.x = axes.new(xs, { log = o.logx, round = x_round,
    range = data.range(name .. ": xrange", o.xrange, o.logx) })
  figure.y = axes.new(ys, { log = o.logy, round = true,
    range = data.range(name .. ": yrange", o.yrange, o.logy) })
  if not figure.x or not figure.y then
    error(("%s: expected at least one finite number%s, got none"):format(name,
      (o.logx or o.logy) and " above 0" or ""), 0)
  end
end

-- Turns numbers that a logarithmic scale cannot represent into gaps.
local function drop_unscaled(list, is_log)
  for i = 1, is_log and list and #list or 0 do
    if list[i] <= 0 then
      list[i] = 0 / 0
    end
  end
end

-- Draws lines or points in a figure from `read`.
local function show_curves(o, figure, style, values)
  figure.kind, figure.series = "curves", data.series(figure.name, values)
  for _, series in ipairs(figure.series) do
    series.style, series.label = style, series.label and text.clean(series.label)
    drop_unscaled(series.x, o.logx)
    drop_unscaled(series.y, o.logy)
    drop_unscaled(series.low, o.logy)
  end
  set_axes(figure, o, style == "points")
  for i, series in ipairs(figure.series) do
    figure.series[i] = style == "points" and reduce.cloud(series, figure.x, figure.y)
      or reduce.path(series)
  end
  return output.show(figure, o.file, o.format)
end

local RANGE <const> = "number[]"

local CURVES <const> = options_of.define("plot.CurveOptions", {
  parent = "plot.Options",
  { "xrange", "table?", nil, "{low, high} of the horizontal axis; by default the range of the data",
    type = RANGE },
  { "yrange", "table?", nil, "{low, high} of the vertical axis; by default the range of the data",
    type = RANGE },
  { "logx", "boolean", false, "logarithmic horizontal axis; numbers not above 0 are gaps" },
  { "logy", "boolean", false, "logarithmic vertical axis; numbers not above 0 are gaps" },
})

--- Draws lines through points. Series with labels get a legend; series with low and high get a
--- shaded band. Without a file, the plot is drawn in the terminal.
---
--- The data are a vector or a list of numbers (over 1, 2, ...), a series {x =, y =, low =, high =,
--- label =, dashed =, thin =}, a list of these, or a matrix with a line in each column. Long lines
--- are reduced to their extremes. Series with the same label share a colour and an entry of the
--- legend.
---
--- Errors: data that are not numbers, differ in length or contain no finite number; an unknown
--- option; a file with an extension other than .svg, .png, .pdf and .txt; rsvg-convert (for .png
--- and .pdf) or xdg-open (for a window) is missing or fails.
---
---     > plot.line({1, 4, 9, 16}, {width = 30, height = 4})
---     20 ┤                         ⣀
---        │                  ⢀⣀⠤⠔⠒⠊⠉
---     10 ┤          ⣀⣀⠤⠤⠔⠒⠊⠉⠁
---      0 ┤⠤⠤⠤⠒⠒⠒⠒⠉⠉⠉
---        └┬───────┬────────┬───────┬
---         1       2        3       4
---@param values tensor|table numbers, a series or a list of series
---@param file? string to write; can be omitted before the options
---@param options? plot.CurveOptions
---@return string? result the file; without a file but with a format, the plot itself
function M.line(values, file, options)
  local o, figure = read("plot.line", CURVES, file, options)
  return show_curves(o, figure, "lines", values)
end

--- Draws points. Without a file, the plot is drawn in the terminal. If there are more than 4000
--- points, only one is drawn in each cell of a fine grid.
---
--- Errors: as for plot.line.
---
---     > plot.scatter({x = {1, 2, 3}, y = {2, 1, 4}}, {width = 30, height = 4})
---     4 ┤                          ⠈
---       │
---     2 ┤⠄
---       │             ⢀
---       └┬────────────┬────────────┬
---        1            2            3
---@param values tensor|table as for plot.line
---@param file? string to write; can be omitted before the options
---@param options? plot.CurveOptions
---@return string? result the file; without a file but with a format, the plot itself
function M.scatter(values, file, options)
  local o, figure = read("plot.scatter", CURVES, file, options)
  return show_curves(o, figure, "points", values)
end

local HISTOGRAM <const> = options_of.define("plot.HistogramOptions", {
  parent = "plot.Options",
  { "bins", { smallest = 1, largest = 1000 }, nil, "by default, the larger of the numbers by the "
    .. "rules of Sturges and of Freedman and Diaconis, or, for whole numbers in a small range, one "
    .. "bin for each; otherwise the number of bins of equal width" },
  { "range", "table?", nil, "{low, high} of the bins; by default from the smallest to the largest "
    .. "value", type = RANGE },
  { "logy", "boolean", false, "logarithmic counts; empty bins are gaps" },
})

--- Draws a histogram: the number of values in each bin. A value on an edge belongs to the bin above
--- it; the largest value belongs to the last bin. Values that are not finite or outside the range
--- are omitted, and a note gives their number.
---
--- Errors: no finite number in the range; otherwise as for plot.line.
---
---     > plot.hist({1, 2, 2, 3, 3, 3}, {width = 30, height = 6})
---     count
---       │                 ⢸⠍⡋⠍⡋⠍⡋⠍⡋⢽
---       │                 ⢸⠅⡂⠅⡂⠅⡂⠅⡂⢽
---     2 ┤         ⡏⠍⡋⠍⡋⠍⡋⠍⡋⠅⡂⠅⡂⠅⡂⠅⡂⢽
---       │⣀⣀⣀⣀⣀⣀⣀⣀⣀⡇⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⢽
---       │⡇⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⢽
---     0 ┤⡇⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⢽
---       └────┬────────┬────────┬────
---            1        2        3
---@param values tensor|number[] of any shape
---@param file? string to write; can be omitted before the options
---@param options? plot.HistogramOptions
---@return string? result the file; without a file but with a format, the plot itself
function M.hist(values, file, options)
  local o, figure = read("plot.hist", HISTOGRAM, file, options)
  local series
  series, figure.note = require("roper.workbench.plot.histogram").series(values, o)
  figure.ylabel = o.ylabel ~= "" and figure.ylabel or "count"
  return show_curves(o, figure, "lines", series)
end

local BARS <const> = options_of.define("plot.BarOptions", {
  parent = "plot.Options",
  { "names", "table?", nil, "labels of the bars; by default 1, 2, ...", type = "string[]" },
  { "yrange", "table?", nil, "{low, high} of the values; by default the range of the data and 0",
    type = RANGE },
})

-- Reads the bars of every series, which must have the same number of bars.
local function read_bars(name, values)
  local list = data.series(name, values)
  local count = list[1] and #list[1].y or 0
  for i, series in ipairs(list) do
    if #series.y ~= count then
      error(("%s: expected as many bars in every series, got %d in series 1 and %d in series %d")
        :format(name, count, #series.y, i), 0)
    end
    series.index, series.label = i, series.label and text.clean(series.label)
  end
  if count > MOST_BARS then
    error(("%s: expected at most %d bars, got %d; use plot.line for more values"):format(name,
      MOST_BARS, count), 0)
  end
  return list, count
end

--- Draws a bar from 0 for each number; bars of several series are drawn side by side. If a series
--- has low and high, they are drawn as the range of each bar. Without a file, horizontal bars are
--- drawn in the terminal.
---
--- Errors: as for plot.line; more than 200 bars.
---
---     > plot.bar({3, 5}, {names = {"rope", "roper"}, width = 40})
---      rope │██████████████████             3
---     roper │██████████████████████████████ 5
---@param values tensor|table as for plot.line, without x
---@param file? string to write; can be omitted before the options
---@param options? plot.BarOptions
---@return string? result the file; without a file but with a format, the plot itself
function M.bar(values, file, options)
  local name = "plot.bar"
  local o, figure = read(name, BARS, file, options)
  local count
  figure.kind = "bars"
  figure.series, count = read_bars(name, values)
  figure.names = data.texts(name .. ": names", o.names, count, text.clean) or {}
  for i = 1, count do
    figure.names[i] = figure.names[i] or tostring(i)
  end
  set_axes(figure, o, false)
  if not o.yrange then
    figure.y = axes.new({ { 0.0, figure.y.low, figure.y.high } }, { round = true })
  end
  return output.show(figure, o.file, o.format)
end

local HEATMAP <const> = options_of.define("plot.HeatmapOptions", {
  parent = "plot.Options",
  { "range", "table?", nil, "{low, high} of the colours; by default the range of the data",
    type = RANGE },
  { "palette", { "viridis", "diverging" }, nil, 'by default "diverging", around 0, if the data '
    .. 'have both signs, otherwise "viridis"' },
  { "rows", "table?", nil, "labels of the rows; by default numbers", type = "string[]" },
  { "columns", "table?", nil, "labels of the columns; by default numbers", type = "string[]" },
  { "first_row", "integer", 1, "number of the first row" },
  { "first_column", "integer", 1, "number of the first column, such as 0 for distances" },
})

--- Draws a matrix as colours, with its first row at the top; in a terminal without colours, as
--- shades of grey. Values that are not finite are left blank. If there are more cells than fit,
--- they are averaged, as a note below the plot says.
---
--- Errors: an argument that is not a matrix, or has no finite number; otherwise as for plot.line.
---
---     > plot.heatmap(roper.eye(2), {width = 30, height = 4})
---       ██████
---     1 ██████
---             ██████
---     2       ██████
---          1     2
---       0 [    ░░░░▒▒▒▒▓▓▓▓████] 1
---@param matrix tensor|number[][] [rows, columns]
---@param file? string to write; can be omitted before the options
---@param options? plot.HeatmapOptions
---@return string? result the file; without a file but with a format, the plot itself
function M.heatmap(matrix, file, options)
  local name = "plot.heatmap"
  local o, figure = read(name, HEATMAP, file, options)
  figure.kind, figure.gap = "matrix", "nan"
  figure.first_row, figure.first_column = o.first_row, o.first_column
  figure.matrix = data.matrix(name, matrix)
  local rows, columns = figure.matrix:size(1), figure.matrix:size(2)
  figure.rows = data.texts(name .. ": rows", o.rows, rows, text.clean)
  figure.columns = data.texts(name .. ": columns", o.columns, columns, text.clean)
  figure.range, figure.palette = data.range(name .. ": range", o.range), o.palette
  return output.show(figure, o.file, o.format)
end

local ROTATION <const> = options_of.define("plot.RotationOptions", {
  parent = "plot.Options",
  { "pairs", "table?", nil, "pairs to draw, from 1; by default the first seven",
    type = "integer[]" },
})

--- Draws the pairs of features of a vector as arrows in the plane: dashed before the scheme rotates
--- them to a position, solid after it, with the path of the tip.
---
---     the angle phi of (x_a, x_b) becomes phi + position * theta_t
---
--- Errors: an x that is not a vector; a scheme that does not rotate pairs, or is for another number
--- of features; otherwise as for plot.line.
---
---     > rope = roper.position.rope{dim = 2}
---     > plot.rotation({1, 0}, rope, 1, {width = 24, height = 8})
---       dashed: before, solid…
---       │           ↗
---       │          ⢀⠎⠉⢢⡀
---       │         ⢠⠃   ⠱⡀
---       │        ⡰⠁     ⡇
---     0 ┤        ⠉  ⠉⠉  →
---       │
---       │
---       │
---       └┬───────┬──────┬
---       -1       0      1
---        → pair 1, θ = 1
---@param x tensor|number[] [features]
---@param scheme rotary|string the scheme, or its name
---@param position? number = 1; can be fractional or negative; can be omitted before the file or the
---   options
---@param file? string to write; can be omitted before the options
---@param options? plot.RotationOptions
---@return string? result the file; without a file but with a format, the plot itself
function M.rotation(x, scheme, position, file, options)
  if type(position) == "string" or type(position) == "table" and file == nil then
    position, file, options = nil, position, file
  end
  local o, figure = read("plot.rotation", ROTATION, file, options)
  position = position == nil and 1 or position
  if type(position) ~= "number" or position - position ~= 0 then
    error("plot.rotation: expected a finite number as position, got "
      .. options_of.shown(position), 0)
  end
  local reach
  figure.kind, figure.is_square = "curves", true
  figure.series, reach, figure.note =
    require("roper.workbench.plot.rotation").series(x, scheme, position, o.pairs)
  local range = reach > 0 and { -1.05 * reach, 1.05 * reach } or nil
  set_axes(figure, { xrange = range, yrange = range })
  if o.title == "" then
    figure.title = ("dashed: before, solid: rotated by position %g"):format(position)
  end
  return output.show(figure, o.file, o.format)
end

--- Draws arrows in one plane; both axes have the same scale.
---
--- Errors: an argument that is not a list of arrows; a number that is not finite; more than 64
--- arrows; otherwise as for plot.line.
---
---     > q = {2, 1, label = "q"}
---     > k = {-1, 1, from = {2, 1}, label = "k"}
---     > plot.arrows({q, k}, {width = 24, height = 8})
---     2 ┤        ↖
---       │         ⠑k
---       │           ⠑⢄
---       │             ⠑⢄
---       │           ⣀⠤⠒⠉↗
---       │       ⣀⠤q⠉
---       │   ⣀⠤⠒⠉
---     0 ┤⠠⠒⠉
---       └┬───────┬──────┬
---        0       1      2
---        → q   → k
---@param list tensor|plot.Arrow[] a list of arrows, or a matrix [arrows, 2]
---@param file? string to write; can be omitted before the options
---@param options? plot.Options
---@return string? result the file; without a file but with a format, the plot itself
function M.arrows(list, file, options)
  local o, figure = read("plot.arrows", PLOT, file, options)
  figure.kind, figure.is_square, figure.is_tagged = "curves", true, true
  figure.series, figure.x, figure.y = require("roper.workbench.plot.arrows").series(list)
  return output.show(figure, o.file, o.format)
end

local ATTENTION <const> = options_of.define("plot.AttentionOptions", {
  parent = "plot.Options",
  { "tokens", "string|table?", nil, "a label for each key, of which the last are those of the "
    .. "queries; the characters of a string are labels", type = "string[]|string" },
  { "causal", "boolean?", nil, "leave keys after the query blank; by default, if all their weights "
    .. "are 0" },
  { "distance", "boolean", false, "columns are distances i - j from the query instead of keys" },
  { "range", "table?", nil, "{low, high} of the colours; by default from 0 to the largest weight",
    type = RANGE },
})

--- Draws the attention weights of one head as colours: a row for each query, a column for each key.
--- If there are fewer queries than keys, the last query has the position of the last key. Positions
--- count from 0.
---
---     with distance: the cell (i, d) is a_ij with j = i - d
---
--- Errors: an argument that is not a matrix; more queries than keys; otherwise as for plot.heatmap.
---
---     > q = roper.ones{1, 1, 4, 4}
---     > weights = roper.attention_weights(q, q, {causal = true})
---     > plot.attention(weights[1][1], {tokens = "abca", width = 30, height = 4})
---     query
---     a ████············
---     b ▒▒▒▒▒▒▒▒········
---     c ░░░░░░░░░░░░····
---     a ░░░░░░░░░░░░░░░░
---        a   b   c   a
---       key
---       0 [    ░░░░▒▒▒▒▓▓▓▓████] 1
---@param weights tensor|number[][] [queries, keys]
---@param file? string to write; can be omitted before the options
---@param options? plot.AttentionOptions
---@return string? result the file; without a file but with a format, the plot itself
function M.attention(weights, file, options)
  local name = "plot.attention"
  local o, figure = read(name, ATTENTION, file, options)
  figure = tables.merged(figure, require("roper.workbench.plot.attention").figure(weights, o))
  figure.kind, figure.range = "matrix", data.range(name .. ": range", o.range)
  figure.xlabel = o.xlabel ~= "" and figure.xlabel or o.distance and "distance i - j" or "key"
  figure.ylabel = o.ylabel ~= "" and figure.ylabel or "query"
  return output.show(figure, o.file, o.format)
end

local POSITION <const> = options_of.define("plot.PositionOptions", {
  parent = "plot.CurveOptions",
  { "distance", "size?", nil, "the largest distance; that of the longest input of a model, if it "
    .. "is below 64", shown = "64" },
  { "dim", "size?", nil, "features of a head; only without a model", shown = "64" },
  { "heads", "size?", nil, "number of heads; only without a model", shown = "8" },
  { "layer", "size?", nil, "the layer of a model to draw; by default, each layer" },
  { "head", "size?", nil, "the head to draw; by default, all heads are averaged" },
  { "draws", "size", 64, "number of random queries and keys" },
  { "same", "boolean", false, "use each query as the key: the score of a token with an equal "
    .. "token" },
  { "seed", "integer", 1, "seed of the random draws" },
})

--- Draws the scores of random queries and keys against the distance i - j: their mean over many
--- draws, and the standard deviation as a band. Several schemes are drawn in one plot, with the
--- same draws. Keys that a scheme hides are gaps. For a model, the queries and keys are those of
--- random inputs of each layer, through its trained norm and maps, with its trained scheme.
---
---     sᵢⱼ = scale (A_i qᵢ) · (B_j kⱼ) + cᵢⱼ,   q, k ~ N(0, 1)
---     in a model: q = W_q norm(x) + b_q,   k = W_k norm(y) + b_k,   x, y ~ N(0, 1)
---
--- Errors: a scheme that is unknown or refuses the options; a model without MultiHeadAttention;
--- otherwise as for plot.line.
---
---     > plot.position({"rope", "none"}, {same = true, distance = 6, width = 40,
---     >>   height = 5})
---     score
---     10 ┤⠄⡀⠄⡀⠄⡀⠄⡀⠄⡀⠄⡀⠄⡀⠄⡀⠄⡀⠄⡀⠄⡀⠄⡀⠄⡀⠄⡀⠄⡀⠄⡀⠄⡀⠄⡀
---        │⠥⣦⣥●⣥⣦■⡦⠥⡦⠥⡦⠥⡦⠥⡦⠥⡦■⡦⠥⡦⠥⡦⠥⡦⠥⡦⠥⡦■⡦⠥⡦⠥⡦
---        │⠅⡂⠅⡂⠅⡂⠅⡋⠍⡋⠗⡒⠗⡦⠥●⣅⣂⡅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂
---        │      ⠁ ⠁⠂⠁⠂⠅⠂⠅⡂⠅⡂⠍⡋⠍⡋⠕⡒⠗⡒⠗●⠗⡒⠗⡒⠗⡒⠗⡒
---      5 ┤                  ⠁ ⠁ ⠁⠂⠁⠂⠁⠂⠁⠂⠁⠂⠁⠂⠁⠂
---        └┬───────────┬──────────┬───────────┬
---         0           2          4           6
---                    distance i - j
---         ━●━ rope   ━■━ none
---@param scheme string|table|Scheme|rotary|Module a scheme, a list of them, or a model
---@param file? string to write; can be omitted before the options
---@param options? plot.PositionOptions
---@return string? result the file; without a file but with a format, the plot itself
function M.position(scheme, file, options)
  local o, figure = read("plot.position", POSITION, file, options)
  local series = require("roper.workbench.plot.position").series(scheme, o)
  figure.xlabel = o.xlabel ~= "" and figure.xlabel or "distance i - j"
  figure.ylabel = o.ylabel ~= "" and figure.ylabel or "score"
  return show_curves(o, figure, "lines", series)
end

--- Returns true if rsvg-convert is installed, which PNG and PDF files require.
---
---     > plot.available() == plot.available()
---     true
---@return boolean
function M.available()
  return require("roper.system.process").has "rsvg-convert"
end

return M
