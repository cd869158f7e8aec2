--- Plots: lines, points, bars, histograms, heatmaps, rotations, arrows, attention weights and
--- position schemes, to a file or drawn in the terminal.
local axes = require "roper.plot.axis"
local data = require "roper.plot.data"
local options_of = require "roper.base.options"
local output = require "roper.plot.output"
local reduce = require "roper.plot.reduce"
local tables = require "roper.base.tables"
local text = require "roper.plot.text"

local M = {}

local LARGEST <const> = 10000 -- pixels or columns
local MOST_BARS <const> = 200

---@class plot.Options of every plot
---@field title? string = ""; text above the plot
---@field xlabel? string = ""; text at the horizontal axis
---@field ylabel? string = ""; text at the vertical axis
---@field legend? boolean = true; show what the colours mean, where there is something to tell
---@field width? integer pixels of a file (560; of arrows 460), columns of text (those of the
---   terminal)
---@field height? integer pixels of a file (400; of a heatmap 480), lines of text for
---   the drawing itself
---@field file? string the file to write, where it is not given as an argument
---@field format? "svg"|"png"|"pdf"|"text"|"window" of the file, by default as its name ends (.svg,
---   .png, .pdf, .txt); without a file the plot is returned as a string, or shown in a window

local COMMON <const> = { title = { "string", "" }, xlabel = { "string", "" },
  ylabel = { "string", "" }, legend = { "boolean", true }, width = "size?", height = "size?",
  file = "string?", format = { output.FORMATS } }

---@class plot.Series a line or a group of points or bars
---@field y tensor|number[] one number a point; nan and inf are gaps
---@field x? tensor|number[] as many; 1, 2, ... by default
---@field low? tensor|number[] the lower edge of a shaded band, such as the mean - standard error
---@field high? tensor|number[] its upper edge
---@field label? string in the legend; series of one label share a colour
---@field dashed? boolean = false; a dashed line

-- The options of a plot and the figure they begin. `file` may be left out before `options`.
local function read(name, extra, file, options)
  if options == nil and type(file) == "table" then
    file, options = nil, file
  end
  if file ~= nil and type(file) ~= "string" or type(options) == "table" and options[1] ~= nil then
    error(("%s: expected a file name or a table of options after the data, got %s; points with "
      .. "an x are {x = ..., y = ...}"):format(name, file and data.kind(file) or "a list"), 0)
  end
  local o = options_of.check(name, options, tables.merged(COMMON, extra), 0)
  if file and o.file then
    error(name .. ": expected one file, got one as argument and one as option", 0)
  end
  for _, option in ipairs { "width", "height" } do
    if (o[option] or 0) > LARGEST then
      error(("%s: option %s: expected at most %d, got %d"):format(name, option, LARGEST,
        o[option]), 0)
    end
  end
  o.file = file or o.file
  o.format = output.format(name, o.file, o.format)
  return o, { name = name, title = text.clean(o.title), xlabel = text.clean(o.xlabel),
    ylabel = text.clean(o.ylabel), legend = o.legend, width = o.width, height = o.height }
end

-- Is there something for a legend to tell?
local function has_labels(series)
  for _, one in ipairs(series) do
    if one.label then
      return true
    end
  end
  return false
end

-- The two axes for series; `round` makes them end at round numbers.
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

-- Points off a logarithmic scale are gaps.
local function drop_unscaled(list, is_log)
  for i = 1, is_log and list and #list or 0 do
    if list[i] <= 0 then
      list[i] = 0 / 0
    end
  end
end

local CURVES <const> = { xrange = "table?", yrange = "table?", logx = { "boolean", false },
  logy = { "boolean", false } }

-- Lines or points in a figure that `read` began.
local function show_curves(o, figure, style, values)
  figure.kind, figure.series = "curves", data.series(figure.name, values)
  for _, series in ipairs(figure.series) do
    series.style, series.label = style, series.label and text.clean(series.label)
    drop_unscaled(series.x, o.logx)
    drop_unscaled(series.y, o.logy)
    drop_unscaled(series.low, o.logy)
  end
  figure.legend = figure.legend and has_labels(figure.series)
  set_axes(figure, o, style == "points")
  for i, series in ipairs(figure.series) do
    figure.series[i] = style == "points" and reduce.cloud(series, figure.x, figure.y)
      or reduce.path(series)
  end
  return output.show(figure, o.file, o.format)
end

local function draw_curves(name, style, values, file, options)
  local o, figure = read(name, CURVES, file, options)
  return show_curves(o, figure, style, values)
end

---@class plot.CurveOptions: plot.Options
---@field xrange? number[] {low, high} to show; by default what the data need
---@field yrange? number[] the same of the vertical axis
---@field logx? boolean = false; a logarithmic scale; what is not above 0 is a gap
---@field logy? boolean = false; the same of the vertical axis

--- Lines through points, with a legend where series have labels and shaded bands where they have
--- low and high. In the terminal where no file is given.
---
--- The data are a vector or a list of numbers (over 1, 2, ...), a series {x =, y =, low =, high =,
--- label =, dashed =}, a list of these, or a matrix of which each column is a line. Long lines are
--- drawn by their extremes. Series of one label share a colour and an entry of the legend.
---
--- Errors: data that are no numbers, of unequal lengths or without a finite one; unknown options;
--- a file of another ending than .svg, .png, .pdf, .txt; for .png and .pdf an rsvg-convert, for a
--- window an xdg-open that is missing or fails.
---
---     > plot.line({1, 4, 9, 16}, {width = 30, height = 4})
---     20 ┤                         ⣀
---        │                  ⢀⣀⠤⠔⠒⠊⠉
---     10 ┤          ⣀⣀⠤⠤⠔⠒⠊⠉⠁
---      0 ┤⠤⠤⠤⠒⠒⠒⠒⠉⠉⠉
---        └┬───────┬────────┬───────┬
---         1       2        3       4
---@param values tensor|table numbers, a series or a list of series
---@param file? string to write; may be left out before the options
---@param options? plot.CurveOptions
---@return string? result the file; without one, with a format, the plot itself
function M.line(values, file, options)
  return draw_curves("plot.line", "lines", values, file, options)
end

--- Points, in the terminal where no file is given. Of very many points in one place, one is drawn.
---
--- Errors: as of plot.line.
---
---     > plot.scatter({x = {1, 2, 3}, y = {2, 1, 4}}, {width = 30, height = 4})
---     4 ┤                          ⠈
---       │
---     2 ┤⠄
---       │             ⢀
---       └┬────────────┬────────────┬
---        1            2            3
---@param values tensor|table as for plot.line
---@param file? string to write; may be left out before the options
---@param options? plot.CurveOptions
---@return string? result the file; without one, with a format, the plot itself
function M.scatter(values, file, options)
  return draw_curves("plot.scatter", "points", values, file, options)
end

---@class plot.HistogramOptions: plot.Options
---@field bins? integer as many of equal width, at most 1000; by default the larger of the numbers
---   by the rules of Sturges and of Freedman and Diaconis, or one for each of a few whole numbers
---@field range? number[] {low, high} of the bins; by default from the least value to the greatest
---@field logy? boolean = false; a logarithmic scale of the counts; empty bins are gaps

--- A histogram: how many values lie in each bin. A value on an edge belongs to the bin above it,
--- the greatest to the last. Values that are not finite or outside the range are left out, and a
--- note says how many.
---
--- Errors: no finite number in the range; else as of plot.line.
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
---@param file? string to write; may be left out before the options
---@param options? plot.HistogramOptions
---@return string? result the file; without one, with a format, the plot itself
function M.hist(values, file, options)
  local name = "plot.hist"
  local o, figure = read(name, { bins = "size?", range = "table?", logy = { "boolean", false } },
    file, options)
  local series
  series, figure.note = require("roper.plot.histogram").series(name, values, o)
  figure.ylabel = o.ylabel ~= "" and figure.ylabel or "count"
  return show_curves(o, figure, "lines", series)
end

---@class plot.BarOptions: plot.Options
---@field names? string[] what stands at the bars; 1, 2, ... by default
---@field yrange? number[] {low, high} to show; by default what the data and 0 need

-- The bars of every series, all as many.
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
    error(("%s: expected at most %d bars, got %d; plot.line draws as many numbers as there are")
      :format(name, MOST_BARS, count), 0)
  end
  return list, count
end

--- Bars from 0, one for each number; several series side by side. low and high of a series are
--- drawn as the range of each bar. In the terminal, where no file is given, they lie.
---
--- Errors: as of plot.line; more than 200 bars.
---
---     > plot.bar({3, 5}, {names = {"rope", "roper"}, width = 40})
---      rope │██████████████████             3
---     roper │██████████████████████████████ 5
---@param values tensor|table as for plot.line, without x
---@param file? string to write; may be left out before the options
---@param options? plot.BarOptions
---@return string? result the file; without one, with a format, the plot itself
function M.bar(values, file, options)
  local name = "plot.bar"
  local o, figure = read(name, { names = "table?", yrange = "table?" }, file, options)
  local count
  figure.kind = "bars"
  figure.series, count = read_bars(name, values)
  figure.names = data.texts(name .. ": names", o.names, count, text.clean) or {}
  for i = 1, count do
    figure.names[i] = figure.names[i] or tostring(i)
  end
  figure.legend = figure.legend and has_labels(figure.series)
  set_axes(figure, o, false)
  if not o.yrange then
    figure.y = axes.new({ { 0.0, figure.y.low, figure.y.high } }, { round = true })
  end
  return output.show(figure, o.file, o.format)
end

---@class plot.HeatmapOptions: plot.Options
---@field range? number[] {low, high} of the colours; by default that of the data
---@field palette? "viridis"|"diverging" by default diverging around 0 where data have both signs
---@field rows? string[] what stands at the rows; numbers from 1 by default
---@field columns? string[] what stands at the columns

--- A matrix as colours, its first row at the top; shades of grey where there are no colours. What
--- is not finite is left blank. More cells than fit are averaged, and the plot says so.
---
--- Errors: no matrix, no finite number in it; else as of plot.line.
---
---     > plot.heatmap(roper.eye(2), {width = 30, height = 4})
---       ██████
---     1 ██████
---             ██████
---     2       ██████
---          1     2
---       0 [    ░░░░▒▒▒▒▓▓▓▓████] 1
---@param matrix tensor|number[][] [rows, columns]
---@param file? string to write; may be left out before the options
---@param options? plot.HeatmapOptions
---@return string? result the file; without one, with a format, the plot itself
function M.heatmap(matrix, file, options)
  local name = "plot.heatmap"
  local o, figure = read(name, { range = "table?", rows = "table?", columns = "table?",
    palette = { { "viridis", "diverging" } } }, file, options)
  figure.kind, figure.gap, figure.first_row, figure.first_column = "matrix", "nan", 1, 1
  figure.matrix = data.matrix(name, matrix)
  local rows, columns = figure.matrix:size(1), figure.matrix:size(2)
  figure.rows = data.texts(name .. ": rows", o.rows, rows, text.clean)
  figure.columns = data.texts(name .. ": columns", o.columns, columns, text.clean)
  figure.range, figure.palette = data.range(name .. ": range", o.range), o.palette
  return output.show(figure, o.file, o.format)
end

---@class plot.RotationOptions: plot.Options
---@field pairs? integer[] which pairs to draw, from 1; by default the first seven

--- The pairs of features of a vector as arrows in the plane: dashed as they are, solid after the
--- scheme turned them by a position, with the way between.
---
---     (x_a, x_b) at the angle phi goes to phi + position * theta_t
---
--- Errors: no vector; a scheme that turns no pairs, or is for other features; else as of plot.line.
---
---     > rope = roper.position.rope{dim = 2}
---     > plot.rotation({1, 0}, rope, 1, {width = 24, height = 8})
---       dashed: before, solid…
---       │           ↗⡀
---       │          ⢀⠎⠉⢢⡀
---       │         ⢠⠃   ⢱⡀
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
---@param position? number = 1; fractional and negative too
---@param file? string to write; may be left out before the options
---@param options? plot.RotationOptions
---@return string? result the file; without one, with a format, the plot itself
function M.rotation(x, scheme, position, file, options)
  local name = "plot.rotation"
  if type(position) == "string" or type(position) == "table" and file == nil then
    position, file, options = nil, position, file
  end
  local o, figure = read(name, { pairs = "table?" }, file, options)
  position = position or 1
  if type(position) ~= "number" or position - position ~= 0 then
    error(("%s: expected a position, a finite number, got %s"):format(name,
      options_of.shown(position)), 0)
  end
  local reach
  figure.kind, figure.is_square = "curves", true
  figure.series, reach, figure.note =
    require("roper.plot.rotation").series(name, x, scheme, position, o.pairs)
  local range = { -1.05 * reach, 1.05 * reach }
  set_axes(figure, { xrange = reach > 0 and range or nil, yrange = reach > 0 and range or nil })
  if o.title == "" then
    figure.title = ("dashed: before, solid: turned by position %g"):format(position)
  end
  return output.show(figure, o.file, o.format)
end

---@class plot.Arrow also {x, y}, with or without the fields below `y`
---@field x number from its tail to its tip
---@field y number
---@field from? tensor|number[] {x, y} of its tail, such as the tip of the one before; {0, 0} by
---   default
---@field label? string beside it, in the terminal below all; arrows of one label share a colour
---@field dashed? boolean = false
---@field turned? number the angle, in radians, by which it has been turned about its tail: the way
---   that its tip came is drawn too

--- Arrows in one plane, in which both axes have the same scale.
---
--- Errors: no list of arrows; numbers that are not finite; more than 64 arrows; else as of
--- plot.line.
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
---@param file? string to write; may be left out before the options
---@param options? plot.Options
---@return string? result the file; without one, with a format, the plot itself
function M.arrows(list, file, options)
  local name = "plot.arrows"
  local o, figure = read(name, {}, file, options)
  figure.kind, figure.is_square, figure.is_tagged = "curves", true, true
  figure.series, figure.x, figure.y = require("roper.plot.arrows").series(name, list)
  figure.legend = figure.legend and has_labels(figure.series)
  return output.show(figure, o.file, o.format)
end

---@class plot.AttentionOptions: plot.Options
---@field tokens? string[]|string a label for each key, of which the last are the queries; a string
---   is its characters
---@field causal? boolean leave keys after the query blank; by default where they have no weight
---@field distance? boolean = false; columns are distances i - j from the query, not keys
---@field range? number[] {low, high} of the colours; by default from 0 to the greatest weight

--- The weights of one head: a row a query, a column a key, as colours. With fewer queries than
--- keys, the last query stands where the last key does. Positions count from 0.
---
---     with distance: the cell (i, d) is a_ij with j = i - d
---
--- Errors: no matrix; more queries than keys; else as of plot.heatmap.
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
---@param file? string to write; may be left out before the options
---@param options? plot.AttentionOptions
---@return string? result the file; without one, with a format, the plot itself
function M.attention(weights, file, options)
  local name = "plot.attention"
  local o, figure = read(name, { tokens = "any?", causal = "boolean?",
    distance = { "boolean", false }, range = "table?" }, file, options)
  figure = tables.merged(figure, require("roper.plot.attention").figure(name, weights, o))
  figure.kind, figure.range = "matrix", data.range(name .. ": range", o.range)
  figure.xlabel = o.xlabel ~= "" and figure.xlabel or o.distance and "distance i - j" or "key"
  figure.ylabel = o.ylabel ~= "" and figure.ylabel or "query"
  return output.show(figure, o.file, o.format)
end

---@class plot.PositionOptions: plot.CurveOptions
---@field distance? integer = 64; the largest
---@field dim? integer = 64; features of a head
---@field heads? integer = 8
---@field head? integer which of them is drawn; by default all count alike
---@field draws? integer = 64; of queries and keys
---@field same? boolean = false; the key is the query itself: what a token scores with its like
---@field seed? integer = 1; of what is drawn

--- Scores against the distance i - j, for random queries and keys: the mean over many draws, and
--- the standard deviation as a band. Several schemes are drawn in one chart, with the same draws.
---
---     sᵢⱼ = scale (A_i qᵢ) · (B_j kⱼ) + cᵢⱼ,   q, k ~ N(0, 1)
---
--- Errors: no such scheme, what it refuses; else as of plot.line.
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
---@param scheme string|table|Scheme|rotary a scheme, or a list of them
---@param file? string to write; may be left out before the options
---@param options? plot.PositionOptions
---@return string? result the file; without one, with a format, the plot itself
function M.position(scheme, file, options)
  local name = "plot.position"
  local o, figure = read(name, tables.merged(CURVES, { distance = { "size", 64 },
    dim = { "size", 64 }, heads = { "size", 8 }, head = "size?", draws = { "size", 64 },
    same = { "boolean", false }, seed = { "integer", 1 } }), file, options)
  local series = require("roper.plot.position").series(name, scheme, o)
  figure.xlabel = o.xlabel ~= "" and figure.xlabel or "distance i - j"
  figure.ylabel = o.ylabel ~= "" and figure.ylabel or "score"
  return show_curves(o, figure, "lines", series)
end

--- Is rsvg-convert there, which plots need to become PNG or PDF?
---
---     > plot.available() == plot.available()
---     true
---@return boolean
function M.available()
  return require("roper.base.subprocess").has "rsvg-convert"
end

return M
