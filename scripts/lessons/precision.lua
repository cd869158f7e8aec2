return roper.lesson {
  order = 13,
  title = "How precise must an angle be?",
  before = "You know that position $m$ rotates a pair by $mθ$ (`rotation`).",
  after = [[You can say which of three ways to compute the angles is still accurate at token
    131072.]],
  summary = "Compute an angle three ways at token 131,072 and compare.",
  minutes = 15,
  needs = { "rotation", "general-form" },
  notation = {
    { "m", "a position" },
    { "θ", "the frequency: the angle per position of a pair" },
    { "s", "the number of significant bits of a number type" },
  },
  steps = {
    { title = "An error in the angle changes everything after it",
      text = [[
        Models calculate with few digits, to be fast. Texts get longer and longer. This lesson shows
        how the two conflict ([Wang et al. 2024](arXiv:2411.13476)), and what to do about it.

        At position $m$ a pair is rotated by $mθ$. The first pair has $θ = 1$ radian, so at position
        131072 it has made 20,860 full turns. Full turns change nothing; only the rest counts. So an
        angle of 131072 needs the same absolute precision as an angle of 1.

        A computer stores a number with a fixed number of digits. With 3 digits, 131072 becomes
        131000. The digits are binary: bits. With $s$ bits, a number near $131072 = 2^17$ has an
        error of up to $2^17 / 2^s$. float64 has 53 bits, float32 24, float16 11 and bfloat16 8.

        The code takes the second of 64 pairs, whose $θ$ is not a round number. Its function `as`
        rounds a number to a type. Three numbers are shown: the error of the angle in float32, the
        error in bfloat16, and the position in float16.]],
      predict = {
        question = "How large can the error of a number near $2^17$ be in bfloat16?",
        expect = "2^17 / 2^8",
        answer = [[$2^17 / 2^8 = 2^9 = 512$. As an angle in radians that is 81 full turns, so the
          angle is meaningless. In float16 the error would be up to 64, in float32 0.008, in float64
          1e-11.]],
        hints = {
          { "it == 1024", [[That is the gap between two neighbors of the type. The nearer one is at
            most half of that away.]] },
          { "it == 256", "That is $2^8$. Divide $2^17$ by it." },
          "It is $2^17 / 2^s$ with $s = 8$ bits.", "Subtract the exponents: $2^{17-8}$." } },
      code = [[
        m, theta = 131072, 10000 ^ (-2 / 128)           -- the second pair of 64
        exact = m * theta
        function as(number, format)
          if format == "float32" then return roper.tensor{number}[1]:item() end
          return roper.tensor({number}, "float64"):round_to(format)[1]:item()
        end
        in_32 = as(m * as(theta, "float32"), "float32") - exact
        in_b16 = as(m * as(theta, "bfloat16"), "bfloat16") - exact
        m16 = as(m, "float16")
        in_32, in_b16, m16]],
      claims = {
        { "math.abs(in_32) > 1e-4",
          instead = { 'in_32 = as(m * as(theta, "float32"), "float32")', "in_32 = exact" } },
        { "math.abs(in_b16) > 3",
          instead = { 'in_b16 = as(m * as(theta, "bfloat16"), "bfloat16")', "in_b16 = exact" } },
        { "m16 == math.huge", instead = { "as(m,", "as(m / 4," } } },
      exercise = {
        { question = [[In float16 the position became `inf`, infinity. What is the largest number in
            float16? Try some numbers, such as `> as(60000, "float16")`, and answer to within 1%.]],
          expect = "65504",
          answer = "It is 65504. Larger positions cannot be stored in float16 at all.",
          hints = {
            { "it == math.huge", "That is infinity. Find the largest number below it." },
            { 'as(it, "float16") == math.huge', "That becomes `inf`: it is too large." },
            { "it > 0 and it < 64000", "That can be stored, but a larger one can be, too." },
            "Try the middle between a number that can be stored and one that becomes `inf`." } },
        { question = [[Texts get 1024 times longer. How many more bits must a type have to keep the
            angles equally precise?]],
          expect = "10", within = 0,
          answer = "10, because $2^10 = 1024$. Each doubling of the length costs one more bit.",
          hints = {
            { "it == 1024 or it == 512", "Each additional bit halves the error." },
            { "it == 9 or it == 11", "Count again: 2, 4, 8, ... up to 1024." },
            "An additional bit halves the error. How often must it be halved?" } } } },
    { title = "Three ways to compute a table",
      text = [[
        A model computes the cosines and sines of all positions once and stores them in a table.
        There are three ways to compute it. The working type is the type that the model calculates
        in.

        By product: multiply $m$ by $θ$ in the working type. Then take the cosine and the sine.
        Programs did this with short types, too
        ([issue 1003 of GPT-NeoX](https://github.com/EleutherAI/gpt-neox/issues/1003)). In 2026 a
        program drew images of a single color, because in bfloat16 all positions of an image were
        rounded to the same number ([pull request 13922 of
        Diffusers](https://github.com/huggingface/diffusers/pull/13922)).

        By recurrence: rotate the previous entry by $θ$ in the working type. There are no large
        angles, but the rounding errors of all steps add up.

        Rounded last: calculate $mθ$, its cosine and its sine in float64, whatever the working type
        is. Round only these results, which lie between -1 and 1.

        The code computes each table for the second of 64 pairs and compares its cosines with the
        exact ones. Its function `worst` returns the largest error up to a position.]],
      predict = {
        question = [[Let the working type be float32. Which way is as precise at the last of 131072
          positions as at the first?]],
        choices = { "by product", "by recurrence", "rounded last", "none of them" }, expect = 3,
        answer = [[Rounded last: no large number is rounded, and none is rounded twice. So even in
          bfloat16 the error is at most 0.002. By product, the cosines in bfloat16 have errors of up
          to 2, the largest possible difference of two cosines.]],
        hints = {
          { "it == 1", "The product grows with the position, and so does its rounding error." },
          { "it == 2", "No angle is large there, but 131071 rounding errors add up." },
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
        caption = [[The largest error of the cosine up to a position. An error of 1 or more makes
          the cosine meaningless. With "rounded last" the error stays constant.]],
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
        The library computes its angles and tables in float64 and rounds last, whatever the type of
        the features is. (A position need not be a whole number.) Other programs compute them in
        float32, such as Transformers since 2024 ([pull request
        29285](https://github.com/huggingface/transformers/pull/29285)).

        The code rotates 64 vectors of 128 features in float32 and in float64. Its function
        `error_at` returns the largest difference between the two.]],
      predict = {
        question = "At position 1.5 it is about 3e-7. And at position 131072.5?",
        choices = { "about the same", "about 300 times larger", "about 87,000 times larger" },
        expect = 1,
        answer = [[About the same. So the attention weights of 8 tokens that begin at position
          131072 equal their weights at position 0, up to rounding in float32.]],
        hints = {
          { "it == 3", "That would be the error by product: the position is 87,000 times larger." },
          { "it == 2", "That is the root of 87,000. Do errors add up over the positions here?" },
          "What is rounded, and is it larger at a large position?" } },
      code = [[
        rope = roper.position.rope{dim = 128}
        x = roper.randn({64, 128}, "float64")
        function error_at(m)
          local single = rope:rotate(x:to("float32"), m):to("float64")
          return (single - rope:rotate(x, m)):abs():max():item()
        end
        near, far = error_at(1.5), error_at(131072.5)
        q, k = roper.randn{1, 1, 8, 128}, roper.randn{1, 1, 8, 128}
        function scores(offset)
          return roper.attention_weights(q, k, {position = "rope", offset = offset})
        end
        moved = (scores(0) - scores(131072)):abs():max():item()]],
      claims = {
        { "math.max(near, far) < 1e-6",
          instead = { 'x:to("float32"), m', 'x:to("float32"), m + 0.001' } },
        { "moved < 1e-5", instead = { "scores(131072)", "roper.attention_weights(q, k)" } } } },
  },
}
