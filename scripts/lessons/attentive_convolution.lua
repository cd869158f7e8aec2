return roper.lesson {
  order = 14,
  title = "RoPER as a convolution with attention",
  before = "You can read $Σ_n a R_{n-m} v_n$ (`relative-distance`).",
  after = "You can say in which sense RoPER is a convolution, and when it is exactly one.",
  summary = "Say when RoPER is exactly a convolution.",
  minutes = 15,
  needs = { "relative-distance" },
  notation = {
    { "K(p)", "the kernel: the factor of an input at the distance $p$" },
    { "a_{m,n}", "the weight of the value at $n$ for the query at $m$" },
    { "R_{n-m}", "the rotation by the distance" },
    { "T", "the number of tokens" },
    { "w", "the frequency of the values, in units of the frequency $θ$ of the pair" },
  },
  given = { v = "vectors", m = "position", n = "positions" },
  steps = {
    { title = "A kernel that depends on distance",
      text = [[
        A convolution transforms a sequence $v$ into another sequence. Each output is a weighted sum
        of the inputs. The factor of each input depends only on its distance; this function of the
        distance is the kernel. Blurring a picture is a convolution: each point becomes a mean of
        the points around it. An echo is a convolution, too: each sound is repeated a moment later,
        more softly.

        The output of RoPER ([Harik and Jayasiri 2022](https://research.labml.ai/RoPER.html)) has
        this form. The matrix $R_{n-m}$ is its kernel. The attention weight is a second factor,
        which depends on the content of the tokens. So RoPER is a convolution that can also ignore
        inputs. Facts about convolutions help to understand RoPER.

        (The operation was found again twice: as VO-RoPE ([Su
        2025](https://kexue.fm/archives/10862)), and as RoVE, with the name attentive convolution
        ([García-Castellanos et al. 2026](arXiv:2606.11275)).)]],
      formula = [[
        "convolution:" o_m &= Σ_n K(n - m) v_n
        RoPER: o_m &= Σ_n a_{m,n} R_{n-m} v_n]],
      predict = {
        question = [[Take an echo: the kernel is $K(0) = 1$ and $K(-1) = 1/2$, and 0 at other
          distances. The inputs at positions 0 to 3 are 0, 0, 6, 0. What is the output $o_3$?]],
        expect = "6 / 2",
        answer = [[3. The 6 is at $n = 2$, at the distance $n - m = -1$ from $m = 3$, so half of it
          is added. The outputs are 0, 0, 6, 3.]],
        hints = {
          { "it == 6", "That is $o_2$, where the 6 is at the distance 0." },
          { "it == 0", "The 6 is one position before: at $n - m = 2 - 3$." },
          { "it == 9", "Only one input is not 0. It counts once." },
          "$o_3 = K(0 - 3) · 0 + K(1 - 3) · 0 + K(2 - 3) · 6 + K(3 - 3) · 0$" } },
      code = [[
        T = 12
        v = roper.randn({1, 1, T, 4}, "float64")
        q = roper.randn({1, 1, T, 4}, "float64")
        k = roper.randn({1, 1, T, 4}, "float64")
        out, a = roper.oracle.attention(q, k, v, {position = "roper"})
        rope = roper.position.rope{dim = 4}
        m = 5                                    -- one output, by the formula
        o = roper.zeros({4, 1}, "float64")
        for n = 0, T - 1 do
          weight, value = a[1][1][m + 1][n + 1], v[1][1][n + 1]:view{4, 1}
          o = o + weight * rope:matrix(n - m):matmul(value)
        end
        off = (o:view{4} - out[1][1][m + 1]):abs():max():item()]],
      claims = { { "off < 1e-12", instead = { "matrix(n - m)", "matrix(m - n)" } } } },
    { title = "Equal weights: exactly a convolution",
      text = [[
        Let queries and keys be 0. Then all scores are equal, and every weight is $1/T$. The output
        is $Σ_n R_{n-m} v_n / T$, which is exactly a convolution with the kernel $R_p / T$.

        The code computes it twice: as a sum over the distances $p$, from $-(T - 1)$ to $T - 1$, and
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
      identity = { "unrotate(sum(rotate(v, n)), m) == sum(rotation(n - m)*v)",
        wrong = { "unrotate(sum(rotate(v, n)), m) == rotation(m)*sum(v)" } },
      exercise = {
        question = [[All weights are equal. Now let all values be equal, too. With RoPE, all outputs
          are then the same. What are they with RoPER?]],
        choices = { "They are the same, too.",
          "They have the same length, and each is rotated further than the one before.",
          "They get shorter: the first is the longest, the last the shortest." },
        expect = 2,
        answer = [[For all tokens the sum of the rotated values is the same, $ô$. Then each rotates
          it back by its own position: $o_m = R_{-m} ô$. Try it:

          `roper.attention(nothing, nothing, nothing + 1, {position = "roper"})[1][1]`]],
        hints = {
          { "it == 1", "That is true before they are rotated back, each by its own position." },
          { "it == 3", "A rotation changes no length." },
          "The sum $ô$ is the same for all $m$. Which step follows?" } } },
    { title = "Moving the input",
      text = [[
        A convolution does not depend on absolute positions. An echo that starts later is the same
        echo.

        Is this also true of RoPER, although it rotates by absolute positions? The weights are still
        equal. The input is 0 except at two positions in the middle, so that nothing moves beyond
        the end. Then the input moves by one position.]],
      predict = {
        question = "What happens to the output?",
        choices = { "It stays where it is.", "It moves by one position and is otherwise the same.",
          "It moves by one position, and each of its arrows is rotated by one position more." },
        expect = 2,
        answer = [[It moves and is otherwise the same, because all distances $n - m$ are the same.
          A linear map with this property is a convolution: if the input moves, so does the output.
          Without rotating back, the arrows of the output would be rotated as well.]],
        hints = {
          { "it == 1", "Each output is computed from the inputs near it, and these have moved." },
          { "it == 3", "That would be true without rotating back. What does that subtract?" },
          "Input and output are both one position later. Does their distance change?" } },
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
        caption = [[The first feature of the output. The input has moved by one position, and so has
          the whole curve.]],
        draw = [[
          local function curve(x) return respond(x):narrow(4, 1, 1):view{T}:totable() end
          here, moved = curve(bump), curve(moved_in)
          return plot.line({{x = roper.arange(0, T), y = here, label = "original"},
            {x = roper.arange(0, T), y = moved, label = "moved by 1"}},
            {xlabel = "position m", ylabel = "output", format = format})]],
        claims = { { "math.abs(moved[9] - here[8]) < 1e-12",
          instead = { "curve(moved_in)", "curve(bump)" } } } } },
    { title = "Which frequencies pass",
      text = [[
        Let the values rotate with the position: $v_n = R_{nw} u$ is the same arrow $u$, each time
        rotated a little further. $w$ is their frequency, in units of the frequency $θ$ of the pair.

        RoPER rotates each value again, by $n - m$. The $-m$ is the same for all. So the output is a
        mean of arrows rotated by $n(1 + w)$. Arrows in all directions cancel; arrows in the same
        direction add up.]],
      formula = "|{1}/{T} Σ_n R_{n-m} R_{nw} u| = |{1}/{T} Σ_n R_{n(1+w)} u|",
      predict = {
        question = [[For which $w$ do all arrows point in the same direction, so that the output is
          longest?]],
        expect = "-1",
        answer = [[For $w = -1$: then the values rotate backward as fast as RoPER rotates them
          forward. So each pair of features responds to one frequency, its own. The pairs of a head
          are a bank of filters, from high to low frequencies, and attention selects the tokens that
          they are applied to.]],
        hints = {
          { "it == 0", "Then token $n$ is rotated by $n$: the arrows go round." },
          { "it == 1", "Then token $n$ is rotated by $2n$: they go round twice as fast." },
          "The arrow of token $n$ is rotated by $n(1 + w)$. When is that the same for all $n$?" } },
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
        inside, outside = response(-1), response(-0.5)]],
      claims = {
        { "math.abs(inside - 1) < 1e-12", instead = { "response(-1)", "response(-0.9)" } },
        { "outside < 0.1", instead = { "response(-0.5)", "response(-0.99)" } } },
      figure = {
        caption = [[The length of the output of a pair, for 64 values that rotate with frequency
          $w$. The pair responds most to -1. On both sides the response falls to 0 and then has side
          lobes: the first reach about 0.2, and those further away are lower.]],
        draw = [[
          speeds, lengths = {}, {}
          for i = 0, 150 do
            speeds[i + 1] = -2 + i / 75
            lengths[i + 1] = response(speeds[i + 1])
          end
          return plot.line({x = speeds, y = lengths},
            {xlabel = "w, in units of θ", ylabel = "length of the output", format = format})]],
        claims = {
          { "math.abs(lengths[76] - 1) < 1e-12",
            instead = { "response(speeds[i + 1])", "response(speeds[i + 1] / 2)" } },
          { "math.abs(math.max(table.unpack(lengths, 84)) - 0.2) < 0.03",
            instead = { "response(speeds[i + 1])", "response(speeds[i + 1] / 2)" } },
          { "math.max(table.unpack(lengths, 92)) < 0.15",
            instead = { "response(speeds[i + 1])", "response(speeds[i + 1] * 2)" } } } },
      exercise = {
        question = [[RoPE does not rotate the values: here its output is their plain mean. Which $w$
          gives the longest output?]],
        expect = "0",
        answer = [[$w = 0$: values that do not rotate. With RoPE all pairs are the same filter, for
          frequency 0. With RoPER each pair has its own.]],
        hints = {
          { "it == -1", "That is RoPER's, which rotates the values again. RoPE does not." },
          { "it == 1", "Then the arrows still point in different directions. When do they agree?" },
          "The arrows that are added up are now rotated by $nw$." } } },
  },
}
