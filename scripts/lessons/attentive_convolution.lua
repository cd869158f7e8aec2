return roper.lesson {
  order = 9,
  title = "RoPER as a convolution that pays attention",
  before = "You can read $Σ_i a R_{i-n} v_i$ (`relative-distance`).",
  after = "You can say in which sense RoPER is a convolution, and when it is exactly one.",
  minutes = 20,
  needs = { "relative-distance" },
  notation = {
    { "K(p)", "the kernel: what multiplies an input at the distance $p$" },
    { "a_{n,i}", "the weight of the value at $i$ for the query at $n$" },
    { "R_{i-n}", "the turn by the distance" },
    { "T", "how many tokens there are" },
    { "w", "how fast the values turn, measured in the speed $θ$ of the pair" },
  },
  given = { v = "vectors", i = "positions", n = "position" },
  steps = {
    { title = "A kernel that depends on distance",
      text = [[
        A convolution makes of a series $v$ another: each output is a sum over the inputs, each
        multiplied by a kernel that depends only on how far away it is. A blurred picture is one; so
        is an echo. RoPER's output has that form, with the matrix $R_{i-n}$ as the kernel and the
        attention weight as a second factor: a convolution that may look away.

        (Of the same operation others speak as VO-RoPE, or as RoVE, the attentive convolution.)]],
      formula = [[
        "convolution:" o_n &= Σ_i K(i - n) v_i
        RoPER: o_n &= Σ_i a_{n,i} R_{i-n} v_i]],
      code = [[
        T = 12
        v = roper.randn({1, 1, T, 4}, "float64")
        q = roper.randn({1, 1, T, 4}, "float64")
        k = roper.randn({1, 1, T, 4}, "float64")
        out, a = roper.oracle.attention(q, k, v, {position = "roper"})
        rope = roper.position.rope{dim = 4}
        n = 5                                    -- one output, by the formula
        o = roper.zeros({4, 1}, "float64")
        for i = 0, T - 1 do
          weight, value = a[1][1][n + 1][i + 1], v[1][1][i + 1]:view{4, 1}
          o = o + weight * rope:matrix(i - n):matmul(value)
        end
        off = (o:view{4} - out[1][1][n + 1]):abs():max():item()]],
      claims = { { "off < 1e-12", instead = { "matrix(i - n)", "matrix(n - i)" } } } },
    { title = "With uniform weights, exactly one",
      text = [[
        Where query and key are 0, all scores are equal, and every weight is $1/T$. What is left is
        $Σ_i R_{i-n} v_i / T$: a convolution with the kernel $R_p / T$, and nothing else. Below it
        is computed by an explicit convolution over distances $p$, from $-(T - 1)$ to $T - 1$, and
        by attention.]],
      code = [[
        nothing = roper.zeros({1, 1, T, 4}, "float64")
        uniform = roper.attention(nothing, nothing, v, {position = "roper"})
        padded = roper.cat({nothing, v, nothing}, 3)[1][1]
        convolved = roper.zeros({T, 4}, "float64")
        for p = 1 - T, T - 1 do
          kernel = rope:matrix(p):transpose(1, 2) / T
          convolved = convolved + padded:narrow(1, T + 1 + p, T):matmul(kernel)
        end
        off = (convolved - uniform[1][1]):abs():max():item()]],
      claims = { { "off < 1e-12", instead = { "nothing, nothing, v", "q, k, v" } } },
      identity = { "unrotate(sum(rotate(v, i)), n) == sum(rotation(i - n)*v)",
        wrong = { "unrotate(sum(rotate(v, i)), n) == rotation(n)*sum(v)" } } },
    { title = "Shift in, shift out",
      text = [[
        What makes a convolution is that it commutes with shifting: move the input by one place, and
        the output moves by one place, unchanged. With fixed weights RoPER keeps that, as long as
        nothing falls over the edge: here the input is 0 but for two places in the middle.]],
      code = [[
        bump = roper.zeros({1, 1, T, 4}, "float64")
        bump[{1, 1, 5}], bump[{1, 1, 6}] = v[{1, 1, 1}], v[{1, 1, 2}]
        moved_in = roper.cat({bump:narrow(3, T, 1), bump:narrow(3, 1, T - 1)}, 3)
        function respond(x)
          return roper.attention(nothing, nothing, x, {position = "roper"})
        end
        moved_out = respond(moved_in):narrow(3, 2, T - 1)
        off = (moved_out - respond(bump):narrow(3, 1, T - 1)):abs():max():item()]],
      claims = { { "off < 1e-12",
        instead = { '{position = "roper"}', '{position = {type = "rope", rotate = "v"}}' } } },
      figure = {
        caption = [[The first feature of the output. The input has moved by one place, and so has
          the whole curve.]],
        draw = [[
          local function curve(x) return respond(x):narrow(4, 1, 1):view{T}:totable() end
          here, moved = curve(bump), curve(moved_in)
          return plot.line({{x = roper.arange(0, T), y = here, label = "as it was"},
            {x = roper.arange(0, T), y = moved, label = "moved by 1"}},
            {xlabel = "position n", ylabel = "output", format = format})]],
        claims = { { "math.abs(moved[9] - here[8]) < 1e-12",
          instead = { "curve(moved_in)", "curve(bump)" } } } } },
    { title = "What it lets through",
      text = [[
        A convolution answers each frequency by itself. Let the values turn as they go along,
        $v_i = R_{iw} u$, with $w$ measured in the speed $θ$ of the pair. Multiplied by $R_{i-n}$
        the terms turn by $i(1 + w)$: if $w = -1$, all stand still and add up; else they go round
        and cancel. So each pair listens to one frequency, its own: the features of a head are a
        bank of filters, from fast to slow, and attention says where to listen.]],
      formula = "|{1}/{T} Σ_i R_{i-n} R_{iw} u| = |{1}/{T} Σ_i R_{i(1+w)} u|",
      code = [[
        pair = roper.position.rope{dim = 2}
        u = roper.tensor({{1, 0}}, "float64")
        function response(w)
          local speeds = w * roper.arange(0, 64, 1, "float64")
          local x = pair:rotate(u:expand{64, 2}:contiguous(), speeds)
          local zero = roper.zeros({1, 1, 64, 2}, "float64")
          x = x:view{1, 1, 64, 2}
          local o = roper.attention(zero, zero, x, {position = "roper"})
          return o[1][1][1]:square():sum():item() ^ 0.5
        end
        heard, missed = response(-1), response(-0.5)]],
      claims = {
        { "math.abs(heard - 1) < 1e-12", instead = { "response(-1)", "response(-0.9)" } },
        { "missed < 0.1", instead = { "response(-0.5)", "response(-0.99)" } } },
      figure = {
        caption = "The response of a pair to values that turn with speed $w$, over 64 tokens.",
        draw = [[
          speeds, lengths = {}, {}
          for i = 0, 150 do
            speeds[i + 1] = -2 + i / 75
            lengths[i + 1] = response(speeds[i + 1])
          end
          return plot.line({x = speeds, y = lengths},
            {xlabel = "w, in units of θ", ylabel = "length of the output", format = format})]],
        claims = { { "math.abs(lengths[76] - 1) < 1e-12",
          instead = { "response(speeds[i + 1])", "response(speeds[i + 1] / 2)" } } } },
      exercise = {
        question = [[RoPE alone carries the plain mean of the values. Which $w$ does that listen
          to?]],
        answer = [[$w = 0$: to what does not turn. All its features are the same, slowest
          filter.]] } },
  },
}
