local core = require("roper.core")
local plot = require("roper.workbench.plot")

-- Check a picture against one that was looked at; options `small` make it 40 columns wide.
local function shows(expected, picture)
  assert.equal(expected, "\n" .. picture)
end

local function small(options)
  options.format, options.width, options.height = "text", 40, options.height or 4
  return options
end

describe("plot.line in the terminal", function()
  it("marks each line if there are no colours, breaks at gaps, shows single points", function()
    shows([[

                  loss
nats
4 ┤                                    •
  │⠒⠂ ⠐⠒⠂■⠐⠒⠂ ⠐⠒⠂ ⠐⠒⠂■⠐⠒⠂ ⠐⠒⠂ ⠐⠒⠂■⠐⠒⠂ ⠐⠒
2 ┤
  │         ⣀⣀⡠⠄
0 ┤⣀⡠⠤●⠒⠒⠒⠉⠉⠁
  └┬───────────┬───────────┬───────────┬
   0           1           2           3
                   step
   ━●━ rope   ╍■╍ roper
]], plot.line({ { x = { 0, 1, 2, 3 }, y = { 0, 1, 0 / 0, 4 }, label = "rope" },
      { x = { 0, 3 }, y = { 3, 3 }, label = "roper", dashed = true } },
      small({ title = "loss", xlabel = "step", ylabel = "nats", height = 5 })))
  end)

  it("puts the marks of later series on top", function()
    for _ = 1, 20 do
      local lines = {}
      for i = 1, 5 do -- the marks of the first and the fifth are at the same places
        lines[i] = { y = { 1, 1 } }
      end
      local picture = plot.line(lines, small({}))
      assert.truthy(picture:find("○", 1, true))
      assert.is_nil(picture:find("●", 1, true))
    end
  end)

  it("shades a band", function()
    shows([[

4 ┤           ⡀ ⡀ ⡀ ⡀ ⡀⠄⡀⠄⡀⠄⡀⠄⡂⠄⡂⠄⡂⠄⡂⠅⡂⠅
  │⠄⡂⠄⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⢅⣂⣅⣂⣅⣂⣅⣂⠥⡦⠥⡦⠥⡦⠥⡒⠗⡒⠗
2 ┤⠥⡦⠥⡦⠗⡒⠗⡒⠗⡒⠗⡋⠍⡋⠍⡋⠍⡋⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⡂⠅⠂⠅⠂⠅
  │⠅⡂⠅⡂⠅⠂⠅⠂⠅⠂⠅⠂⠁⠂⠁⠂⠁⠂⠁ ⠁ ⠁ ⠁
  └┬─────────────────┬─────────────────┬
   0                 1                 2
]], plot.line({ x = { 0, 2 }, y = { 2, 3 }, low = { 1, 2 }, high = { 3, 4 } }, small({})))
  end)

  it("shows the part in a range", function()
    shows([[

  │      ⣀⣀⣀⡠⠤⠤⠤⠒⠒⠒⠒⠉⠉
1 ┤⠒⠒⠉⠉⠉⠉
  │
0 ┤
  └┬─────────────────┬─────────────────┬
  2.0               2.5              3.0
]], plot.line({ 0, 1, 2, 3 }, small({ xrange = { 2, 3 }, yrange = { 0, 1.5 } })))
  end)
end)

describe("plot.scatter in the terminal", function()
  it("places points on a logarithmic scale", function()
    shows([[

100 ┤                                  ⠈
    │
 10 ┤                 ⠈
  1 ┤⡀
    └┬────────────────┬────────────────┬
    -1                0                1
]], plot.scatter({ x = { -1, 0, 1 }, y = { 1, 10, 100 } }, small({ logy = true })))
  end)
end)

describe("plot.bar in the terminal", function()
  it("draws horizontal bars, on both sides of 0", function()
    shows([[

rope 1│         ██████▊   3 (2 to 4)
     2│         ██▎       1

   é 1│    ▐████          -2 (-3 to -1)
     2│         ████▌     2

日本 1│                   nan
     2│         █▏        0.5
       1 a   2 b
]], plot.bar({ { y = { 3, -2, 0 / 0 }, label = "a", low = { 2, -3, 0 / 0 },
        high = { 4, -1, 0 / 0 } },
      { y = { 1, 2, 0.5 }, label = "b" } },
      small({ names = { "rope", "é", "日本" } })))
  end)
end)

describe("plot.heatmap in the terminal", function()
  it("is in shades if there are no colours", function()
    shows([[

  m
        ░░░░░░▒▒▒▒▒▒
1       ░░░░░░▒▒▒▒▒▒
  ▓▓▓▓▓▓······██████
2 ▓▓▓▓▓▓······██████
     1     2     3
  0 [    ░░░░▒▒▒▒▓▓▓▓████] 5   · nan
]], plot.heatmap({ { 0, 1, 2 }, { 3, 0 / 0, 5 } }, small({ title = "m" })))
  end)

  it("names rows and columns", function()
    shows([[

           ██████
  up       ██████
     ▓▓▓▓▓▓░░░░░░
down ▓▓▓▓▓▓░░░░░░
       x     y
             z
     -1 [    ░░░░▒▒▒▒▓▓▓▓████] 1
]], plot.heatmap({ { -1, 1 }, { 0.5, -0.25 } },
      small({ rows = { "up", "down" }, columns = { "x", "yz" } })))
  end)

  it("averages a matrix that does not fit", function()
    shows([[


20 ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░
   ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓
40 █████████████████████████████████████
          20     40      60     80
   451 [    ░░░░▒▒▒▒▓▓▓▓████] 3.55e+03
   40 x 100; each cell is the mean of 1…
]], plot.heatmap(core.arange(0, 4000):view({ 40, 100 }), small({})))
  end)
end)

describe("plot.rotation in the terminal", function()
  it("rotates pairs by a quarter", function()
    shows([[

  dashed: before, solid: rotated by pos…
b
  │       ↑↑⠒⠢⢄⡀
  │       22   ⠙⢦⡀
  │       ⢸⡇     ⠱⡀
  │       ⢸⡇      ⡇
0 ┤        ⠉  ⠉1  →
  │
  │
  │
  └┬───────┬──────┬
  -1       0      1
          a
   1 pair 1, θ = 1   2 pair 2, θ = 0.01
]], plot.rotation({ 1, 0, 0, 1 }, "rope", math.pi / 2,
      small({ xlabel = "a", ylabel = "b", height = 8 })))
  end)
end)

describe("plot.attention in the terminal", function()
  it("shows the weights of queries and keys", function()
    shows([[

query
a ████········
␣ ▒▒▒▒▒▒▒▒····
↵ ░░░░░░░░▒▒▒▒
   a   ␣   ↵
  key
  0 [    ░░░░▒▒▒▒▓▓▓▓████] 1   · no key
]], plot.attention({ { 1, 0, 0 }, { 0.5, 0.5, 0 }, { 0.25, 0.25, 0.5 } },
      small({ tokens = "a \n" })))
  end)

  it("shows the mean distance", function()
    shows([[

query
0 ████········
  ▒▒▒▒▒▒▒▒····
  ▓▓▓▓░░░░
    0   1   2
  distance i - j
  0 [    ░░░░▒▒▒▒▓▓▓▓████] 1   · no key
]], plot.attention({ { 1, 0, 0 }, { 0.5, 0.5, 0 }, { 0, 0.25, 0.75 } },
      small({ distance = true })))
  end)

  it("shows distances of the last queries", function()
    shows([[

query
  ██████      ······
1 ██████      ······
  ▒▒▒▒▒▒      ▒▒▒▒▒▒
2 ▒▒▒▒▒▒      ▒▒▒▒▒▒
     0     1     2
  distance i - j
  0 [    ░░░░▒▒▒▒▓▓▓▓████] 1   · no key
]], plot.attention({ { 0, 1, 0 }, { 0.5, 0, 0.5 } }, small({ distance = true })))
  end)
end)
