return roper.lesson {
  order = 8,
  title = "How exactly must an angle be known?",
  before = "You know that position $p$ turns a pair by $pθ$ (`rotation`).",
  after = "You can say which of three ways to compute the angles still works at token 131072.",
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
        Models calculate with few digits, to be fast. Texts get long. Here is where the two clash,
        and what to do about it.

        At position $p$ a pair is turned by $pθ$. The first pair has $θ = 1$ radian. So at position
        131072 it has gone round 20,860 times. Full turns change nothing: only what is left after
        the last of them counts. An angle of 131072 must be known as closely as one of 1.

        A computer keeps a number to so many digits. With 3 of them 131072 becomes 131000. Its
        digits are binary: bits. With $s$ bits a number near $131072 = 2^17$ is known to within
        $2^17 / 2^s$. Of the number types float64 has 53 bits, float32 24, float16 11 and bfloat16
        8.

        The code takes the second pair of 64, whose $θ$ is no round number. Its function `as` rounds
        a number to a type. Three numbers are shown: the error of the angle in float32, the error in
        bfloat16, and what float16 makes of the position.]],
      predict = {
        question = "How far off can a number near $2^17$ be in bfloat16?",
        expect = "2^17 / 2^8",
        answer = [[$2^17 / 2^8 = 2^9 = 512$. As an angle in radians that is 81 times around: nothing
          is known of it. In float16 it would be 64, in float32 0.008, in float64 1e-11.]],
        hints = {
          { "it == 1024", [[So far apart are two neighbours that can be kept. The nearer one is at
            most half of that away.]] },
          { "it == 256", "That is $2^8$. Divide $2^17$ by it." },
          "It is $2^17 / 2^s$ for $s = 8$ bits.", "Subtract the powers: $2^{17-8}$." } },
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
      exercise = {
        { question = [[float16 has made `inf` of the position: infinite. Where does float16 end? Try
            some numbers, such as `> as(60000, "float16")`, and answer to within 1%.]],
          expect = "65504",
          answer = "It ends at 65504. A position beyond that has no float16 at all.",
          hints = {
            { "it == math.huge", "That is beyond the end. Which is the last that comes before?" },
            { 'as(it, "float16") == math.huge', "That becomes `inf`: it is beyond the end." },
            { "it > 0 and it < 64000", "That is kept, but it is not the last. Try a larger one." },
            "Between one that is kept and one that becomes `inf`, try the middle." } },
        { question = [[Texts get 1024 times as long. How many more bits must a type have, for the
            angles to stay as exact?]],
          expect = "10", within = 0,
          answer = "10, for $2^10 = 1024$. Each doubling of the length costs one more bit.",
          hints = {
            { "it == 1024 or it == 512", "Each further bit halves the error once more." },
            "A further bit halves the error. How many times must it be halved?" } } } },
    { title = "Three ways to a table",
      text = [[
        A model makes the cosines and sines of all positions once. They are kept as a table. There
        are three ways to make it. The working type is the one that the model calculates in.

        By product: multiply $p$ by $θ$ in the working type. Then take the cosine and the sine.

        By recurrence: turn the last entry by $θ$ once more, in the working type. No large angle is
        ever formed. But what is rounded off at each step adds to what was rounded off before.

        Rounded last: calculate $pθ$, its cosine and its sine in float64, whatever the working type
        is. Round only these results, which lie between -1 and 1.

        The code makes each table for the second pair of 64, and compares its cosines with the true
        ones. Its function `worst` tells the largest error up to some position.]],
      predict = {
        question = [[Let the working type be float32. Which way is as exact at the last of 131072
          positions as at the first ones?]],
        choices = { "by product", "by recurrence", "rounded last", "none of them" }, expect = 3,
        answer = [[Rounded last: there is no large number that is rounded, and none is rounded
          twice. So even bfloat16 is off by 0.002 at most. By product its cosines are off by up to
          2, and two cosines cannot differ by more.]],
        hints = {
          { "it == 1", "The product grows with the position. So does what its bits leave out." },
          { "it == 2", "No angle is large there. But at the last position 131071 roundings met." },
          { "it == 4", "One of the three rounds nothing that grows with the position." },
          "For each way: what is rounded, how large is it, and how often?" } },
      code = [[
        function single(x) return (("f"):unpack(("f"):pack(x))) end
        count = 131072
        positions = roper.arange(0, count, 1, "float64")
        truth = (positions * theta):cos()
        function error_of(cosines) return (cosines:to("float64") - truth):abs() end
        errors = {}
        angles = (positions:to("float32") * theta):to("float64")
        errors["float32, by product"] = error_of(angles:cos())
        errors["float32, rounded last"] = error_of(truth:to("float32"))
        for _, format in ipairs{"bfloat16", "float16"} do
          angles = (positions:round_to(format) * as(theta, format)):round_to(format)
          angles = angles:minimum(1e9) -- no infinity
          errors[format .. ", by product"] = error_of(angles:cos():round_to(format))
          errors[format .. ", rounded last"] = error_of(truth:round_to(format))
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
        worst("float32, rounded last", count), worst("float32, by product", count)
        worst("float32, by recurrence", count), worst("bfloat16, rounded last", count)]],
      claims = {
        { 'worst("float32, rounded last", count) < 1e-7',
          instead = { "error_of(truth:to(\"float32\"))", "error_of(truth + 1e-6)" } },
        { 'worst("float32, by product", count) > 1e-3',
          instead = { 'positions:to("float32") * theta', "positions * theta" } },
        { 'worst("float32, by recurrence", count) > 1e-5',
          instead = { "turned(single)", "turned(function(x) return x end)" } },
        { 'worst("float64, by recurrence", count) < 1e-9',
          instead = { "turned(function(x) return x end)", "turned(single)" } },
        { 'worst("bfloat16, by product", count) > 1',
          instead = { "error_of(angles:cos():round", "error_of(truth:round" } },
        { 'worst("bfloat16, rounded last", count) < 0.01',
          instead = { "error_of(truth:round_to", "error_of(2 * truth:round_to" } } },
      figure = {
        caption = [[The largest error of the cosine up to a position. Where it is 1 or more, nothing
          is known of the cosine. What is rounded last stays flat.]],
        draw = [[
          series = {}
          for _, name in ipairs{
              "bfloat16, by product", "float16, by product", "float32, by product",
              "float32, by recurrence", "bfloat16, rounded last", "float32, rounded last",
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
          { "series[1].y[17] > 1", instead = { "bfloat16, by product", "bfloat16, rounded last" } },
          { "series[7].y[17] < 1e-9", instead = { "float64, by", "float32, by" } } } } },
    { title = "What the library does",
      text = [[
        The library makes its angles and tables in float64, and rounds last, whatever type the
        features have. (A position need not be a whole number.)

        Here 64 vectors of 128 features are turned in float32 and in float64. The function
        `error_at` tells how far the two are apart, at most.]],
      predict = {
        question = "At position 1.5 it is some 3e-7. And at position 131072.5?",
        choices = { "about the same", "about 300 times as much", "about 87,000 times as much" },
        expect = 1,
        answer = [[About the same. So the weights of 8 tokens that begin at position 131072 are the
          weights that they have at 0, to the rounding of float32.]],
        hints = {
          { "it == 3", "So it would be by product: the position is 87,000 times as large." },
          "What is rounded, and is it larger at a far position?" } },
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
