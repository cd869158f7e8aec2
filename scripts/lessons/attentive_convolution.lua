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
        A convolution makes another series of a series $v$. Each output is a sum over the inputs.
        Each input is multiplied by a number that depends only on how far away it is: the kernel.
        A blurred picture is a convolution: each point becomes a mean of those around it. An echo is
        one: what was said a moment ago comes again, softer.

        RoPER's output has this form. The matrix $R_{i-n}$ is its kernel. The attention weight is a
        second factor, which depends on what the tokens say. So it is a convolution that may look
        away. What is known of convolutions then helps to understand RoPER.

        (Of the same operation others speak as VO-RoPE, or as RoVE, the attentive convolution.)]],
      formula = [[
        "convolution:" o_n &= Σ_i K(i - n) v_i
        RoPER: o_n &= Σ_i a_{n,i} R_{i-n} v_i]],
      predict = {
        question = [[An echo: the kernel is $K(0) = 1$ and $K(-1) = 1/2$, and 0 at other distances.
          The inputs are 0, 0, 6, 0, at positions 0 to 3. What is the output $o_3$?]],
        expect = "6 / 2",
        answer = [[The 6 stands at $i = 2$, at the distance $i - n = -1$ from $n = 3$: half of it
          comes again. All outputs are 0, 0, 6, 3.]],
        hints = {
          { "it == 6", "That is $o_2$, where the 6 is at the distance 0." },
          { "it == 0", "The 6 stands one place before: at $i - n = 2 - 3$." },
          { "it == 9", "Only one input is not 0. It counts once." },
          "$o_3 = K(0 - 3) · 0 + K(1 - 3) · 0 + K(2 - 3) · 6 + K(3 - 3) · 0$" } },
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
        Let queries and keys be 0. Then all scores are equal, and every weight is $1/T$. What is
        left is $Σ_i R_{i-n} v_i / T$: a convolution with the kernel $R_p / T$, and nothing else.

        The code computes it twice: by adding up over the distances $p$, from $-(T - 1)$ to $T - 1$,
        and by attention.]],
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
        wrong = { "unrotate(sum(rotate(v, i)), n) == rotation(n)*sum(v)" } },
      exercise = {
        question = [[All weights are equal, and now let all values be the same, too. With RoPE all
          outputs are then the same. And with RoPER?]],
        choices = { "They are the same, too.", "They are of one length, each turned further.",
          "They fade: the first is the longest, the last the shortest." },
        expect = 2,
        answer = [[All tokens add up the same turned values, to the same sum $ô$. Then each turns it
          back by its own position: $o_n = R_{-n} ô$. See it:

          `roper.attention(nothing, nothing, nothing + 1, {position = "roper"})[1][1]`]],
        hints = {
          { "it == 1", "So they are before the turn back. Each token turns by another position." },
          { "it == 3", "A turn changes no length." },
          "The sum $ô$ is the same for all $n$. What is done to it at the end?" } } },
    { title = "When the input moves",
      text = [[
        A convolution has no idea of where it is. An echo that comes late is the same echo, later.

        Does RoPER keep that, although positions are all that it turns by? The weights stay equal.
        The input is 0 but for two places in the middle, so that nothing falls over the edge. Then
        it moves by one place.]],
      predict = {
        question = "What happens to the output?",
        choices = { "It stays where it is.", "It moves by one place, and is the same there.",
          "It moves by one place, and each of its arrows is turned by one position more." },
        expect = 2,
        answer = [[It moves as it is: all distances $i - n$ are what they were. This is what makes a
          convolution: move the input, and the output moves along. Without the turn back its arrows
          would be turned as well.]],
        hints = {
          { "it == 1", "Each output is made of the inputs near it, and these have moved." },
          { "it == 3", "So it would be without the turn back. What does that take off?" },
          "Input and output both stand one place later. What is the distance of the two?" } },
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
        Let the values turn as they go along: $v_i = R_{iw} u$, the same arrow $u$, each time turned
        a little more. How fast is $w$, measured in the speed $θ$ of the pair.

        RoPER turns each once more, by $i - n$. The $-n$ is the same for all. So what is added up
        are arrows turned by $i(1 + w)$. Arrows that go round cancel; arrows that stand still add
        up.]],
      formula = "|{1}/{T} Σ_i R_{i-n} R_{iw} u| = |{1}/{T} Σ_i R_{i(1+w)} u|",
      predict = {
        question = "For which $w$ do all arrows point the same way, so that the output is longest?",
        expect = "-1",
        answer = [[For $w = -1$: values that turn back as fast as RoPER turns them forward. So each
          pair of features listens to one speed, its own. The pairs of a head are a bank of filters,
          from fast to slow, and attention says where to listen.]],
        hints = {
          { "it == 0", "Then token $i$ is turned by $i$: the arrows go round." },
          { "it == 1", "Then token $i$ is turned by $2i$: they go round twice as fast." },
          "The arrow of token $i$ is turned by $i(1 + w)$. When does that not depend on $i$?" } },
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
        caption = [[How long the output of a pair is, where 64 values turn with speed $w$. It hears
          -1, and hardly anything else.]],
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
        question = [[RoPE carries the values as they are: a plain mean of them, here. Which $w$ does
          that listen to?]],
        expect = "0",
        answer = [[$w = 0$: values that do not turn. With RoPE all pairs are the same filter, the
          slowest. With RoPER each is another.]],
        hints = {
          { "it == -1", "That is RoPER's, which turns the values once more. RoPE does not." },
          "The arrows that are added up are now turned by $iw$." } } },
  },
}
