return roper.lesson {
  order = 8,
  title = "How exactly must an angle be known?",
  before = "You know that position $p$ turns a pair by $pθ$ (`rotation`).",
  after = "You know three ways to compute the angles, and which of them survive 131072 tokens.",
  minutes = 20,
  needs = { "rotation", "general-form" },
  notation = {
    { "p", "a position" },
    { "θ", "the angle that one position turns a pair by" },
    { "s", "how many significant bits a number type has" },
  },
  steps = {
    { title = "An error in the angle is an error in all that follows",
      text = [[
        The first pair turns by 1 radian a position: at position 131072 it has gone round 20,860
        times. Only what is left after the last full turn counts. But a number type with $s$
        significant bits knows a number near 131072 to within $131072 / 2^s$: to 1e-11 in float64,
        to 0.008 in float32, to 64 with the 11 bits of float16 (did it reach so far), to 512 with
        the 8 of bfloat16. Off by 6 radians is once around: any angle at all.]],
      code = [[
        p, theta = 131072, 10000 ^ (-2 / 128)           -- the second pair of 64
        exact = p * theta
        function as(number, format)
          if format == "float32" then return roper.tensor{number}[1]:item() end
          return roper.tensor({number}, "float64"):round_to(format)[1]:item()
        end
        in_32 = as(p * as(theta, "float32"), "float32") - exact
        in_b16 = as(p * as(theta, "bfloat16"), "bfloat16") - exact
        p16 = as(p, "float16")
        in_32, in_b16, p16]],
      claims = {
        { "math.abs(in_32) > 1e-4",
          instead = { 'in_32 = as(p * as(theta, "float32"), "float32")', "in_32 = exact" } },
        { "math.abs(in_b16) > 3",
          instead = { 'in_b16 = as(p * as(theta, "bfloat16"), "bfloat16")', "in_b16 = exact" } },
        { "p16 == math.huge", instead = { "as(p,", "as(p / 4," } } },
      exercise = { question = "Why is p16 infinite?",
        answer = "float16 ends at 65504. A position beyond it has no float16 at all." } },
    { title = "Three ways to a table",
      text = [[
        By product: $pθ$ in the working type, then its sine and cosine. By recurrence: turn the last
        entry by $θ$ once more, in the working type; each step adds its rounding to those before. By
        the library's way: $pθ$ and its sine and cosine in float64, whatever the working type is,
        and only the results, which lie between -1 and 1, rounded to it.

        The error is that of the cosine, for the second pair of 64, the worst over the positions up
        to the one named.]],
      code = [[
        function single(x) return (("f"):unpack(("f"):pack(x))) end
        count = 131072
        positions = roper.arange(0, count, 1, "float64")
        truth = (positions * theta):cos()
        function error_of(cosines) return (cosines:to("float64") - truth):abs() end
        errors = {}
        angles = (positions:to("float32") * theta):to("float64")
        errors["float32, by product"] = error_of(angles:cos())
        errors["float32, by table"] = error_of(truth:to("float32"))
        for _, format in ipairs{"bfloat16", "float16"} do
          angles = (positions:round_to(format) * as(theta, format)):round_to(format)
          angles = angles:minimum(1e9) -- no infinity
          errors[format .. ", by product"] = error_of(angles:cos():round_to(format))
          errors[format .. ", by table"] = error_of(truth:round_to(format))
        end
        function turned(rounded)
          local c, s, C, S = 1, 0, rounded(math.cos(theta)), rounded(math.sin(theta))
          local cosines = {}
          for i = 1, count do
            cosines[i] = c
            c, s = rounded(c * C - s * S), rounded(s * C + c * S)
          end
          return error_of(roper.tensor(cosines, "float64"))
        end
        errors["float32, by recurrence"] = turned(single)
        errors["float64, by recurrence"] = turned(function(x) return x end)
        function worst(name, upto)
          return errors[name]:narrow(1, 1, upto):max():item()
        end
        worst("float32, by table", count), worst("float32, by product", count)
        worst("float32, by recurrence", count), worst("bfloat16, by table", count)]],
      claims = {
        { 'worst("float32, by table", count) < 1e-7',
          instead = { "error_of(truth:to(\"float32\"))", "error_of(truth + 1e-6)" } },
        { 'worst("float32, by product", count) > 1e-3',
          instead = { 'positions:to("float32") * theta', "positions * theta" } },
        { 'worst("float32, by recurrence", count) > 1e-5',
          instead = { "turned(single)", "turned(function(x) return x end)" } },
        { 'worst("float64, by recurrence", count) < 1e-9',
          instead = { "turned(function(x) return x end)", "turned(single)" } },
        { 'worst("bfloat16, by product", count) > 1',
          instead = { "error_of(angles:cos():round", "error_of(truth:round" } },
        { 'worst("bfloat16, by table", count) < 0.01',
          instead = { "error_of(truth:round_to", "error_of(2 * truth:round_to" } } },
      figure = { caption = "The largest error of the cosine up to a position. 1 is: no idea.",
        draw = [[
          series = {}
          for _, name in ipairs{
              "bfloat16, by product", "float16, by product", "float32, by product",
              "float32, by recurrence", "bfloat16, by table", "float32, by table",
              "float64, by recurrence"} do
            local x, y = {}, {}
            for e = 0, 16 do
              x[e + 1], y[e + 1] = 2 << e, worst(name, 2 << e)
            end
            series[#series + 1] = {x = x, y = y, label = name}
          end
          return plot.line(series, {logx = true, logy = true, xlabel = "position",
            ylabel = "largest error", height = format == "svg" and 560 or nil,
            format = format})]],
        claims = {
          { "series[1].y[17] > 1", instead = { "bfloat16, by product", "bfloat16, by table" } },
          { "series[7].y[17] < 1e-9", instead = { "float64, by", "float32, by" } } } } },
    { title = "What the library does",
      text = [[
        Rotation in float32 is as exact at position 131072.5 as at 1.5, to a millionth: its angles
        and tables are made in float64. So far from the beginning of a text the score of two tokens
        is what it was near it, to the rounding of float32.]],
      code = [[
        rope = roper.position.rope{dim = 128}
        x = roper.randn({64, 128}, "float64")
        function error_at(p)
          local single = rope:rotate(x:to("float32"), p):to("float64")
          return (single - rope:rotate(x, p)):abs():max():item()
        end
        near, far = error_at(1.5), error_at(131072.5)
        q, k = roper.randn{1, 1, 8, 128}, roper.randn{1, 1, 8, 128}
        function scores(offset)
          return roper.attention_weights(q, k, {position = "rope", offset = offset})
        end
        moved = (scores(0) - scores(131072)):abs():max():item()]],
      claims = {
        { "math.max(near, far) < 1e-6",
          instead = { 'x:to("float32"), p', 'x:to("float32"), p + 0.001' } },
        { "moved < 1e-5", instead = { "scores(131072)", "roper.attention_weights(q, k)" } } } },
  },
}
