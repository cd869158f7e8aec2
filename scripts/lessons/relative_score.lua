return roper.lesson {
  order = 4,
  title = "Scores that depend on distance alone",
  before = "You can turn vectors by their position (`rotation`, `general-form`).",
  after = "You can say why RoPE's scores know $m - n$ and nothing else of $m$ and $n$.",
  minutes = 20,
  needs = { "rotation", "general-form" },
  notation = {
    { "m, n", "the positions of the query and of the key" },
    { "q, k", "the query and the key, before they are turned" },
    { "R_m", "the turn by position $m$" },
    { "xᵀ, Wᵀ", "transposed: rows and columns change places" },
    { "z^*", "the conjugate of a complex number: its angle the other way round" },
  },
  given = { q = "vector", k = "vector", x = "vector", y = "vector", Wq = "matrix", Wk = "matrix",
    m = "position", n = "position" },
  steps = {
    { title = "What is wanted",
      text = [[
        A word and the one before it should match alike wherever in the text they stand. So the
        score of the query $x_m$ at position $m$ and the key $x_n$ at position $n$ may depend on
        what they say and on the difference $m - n$, on nothing else
        ([Su et al. 2021](arXiv:2104.09864), eq. 11). RoFormer looks for functions $f$ that do this,
        and finds: turn each by its own position.

        The paper writes a pair as one complex number, on which $e^{imθ}$ is a turn (eq. 12). The
        score of a pair is the real part of the one number times the conjugate of the other.
        Conjugating turns $nθ$ into $-nθ$, and what is left is the difference. In plain numbers:]],
      formula = [[
        ⟨f(x_m, m), f(x_n, n)⟩ = g(x_m, x_n, m - n)
        Re[q e^{imθ} (k e^{inθ})^*] = Re[q k^* e^{i(m-n)θ}] ]],
      identity = { "rotate(q, m)[1]*rotate(k, n)[1] + rotate(q, m)[2]*rotate(k, n)[2]"
          .. " == (q[1]*k[1] + q[2]*k[2])*cos(m - n) + (q[1]*k[2] - q[2]*k[1])*sin(m - n)",
        wrong = {
          "rotate(q, m)[1]*rotate(k, n)[1] + rotate(q, m)[2]*rotate(k, n)[2]"
            .. " == (q[1]*k[1] + q[2]*k[2])*cos(m + n) + (q[1]*k[2] - q[2]*k[1])*sin(m + n)" } } },
    { title = "The same with turns",
      text = [[
        Turn both vectors back by $m$: the dot product of two does not change when they are turned
        alike. The query is then unturned, and the key turned by $n - m$. One line, and it is the
        reason for everything. Mind the order: the key turns by $n - m$, not by $m - n$.]],
      formula = "(R_m q) · (R_n k) = q · R_{n-m} k",
      identity = { "dot(rotate(q, m), rotate(k, n)) == dot(q, rotate(k, n - m))",
        wrong = { { "dot(rotate(q, m), rotate(k, n)) == dot(q, rotate(k, m - n))",
          source = "the order swapped" } } },
      code = [[
        theta = math.pi / 9                   -- a position turns by 20 degrees
        plane = roper.position.rope{dim = 2, frequencies = {theta}}
        query = roper.tensor({2, 1}, "float64")
        key = roper.tensor({1, 2}, "float64")
        function placed(m, n) return plane:rotate(query, m), plane:rotate(key, n) end
        function match(m, n)
          local query, key = placed(m, n)
          return (query * key):sum():item()
        end
        match(2, 1), match(7, 6), match(8, 6)
        moved = math.abs(match(2, 1) - match(7, 6))]],
      claims = { { "moved < 1e-12", instead = { "- match(7, 6)", "- match(8, 6)" } } },
      figure = {
        caption = [[Dashed: a query at position 2 and a key at 1. Solid: both 5 positions later.
          Each has turned by 100 degrees; the angle between them, and so the score, stays.]],
        draw = [[
          local list = {}
          between = {}
          for i, m in ipairs{2, 7} do
            local q, k = placed(m, m - 1)
            local x, y, x2, y2 = q[1]:item(), q[2]:item(), k[1]:item(), k[2]:item()
            between[i] = (math.atan(y2, x2) - math.atan(y, x)) % (2 * math.pi)
            list[#list + 1] = {x, y, dashed = i == 1, label = "query"}
            list[#list + 1] = {x2, y2, dashed = i == 1, label = "key", turned = between[i]}
          end
          return plot.arrows(list, {format = format})]],
        claims = { { "math.abs(between[2] - between[1]) < 1e-12",
          instead = { "m - 1", "1" } } } },
      exercise = { question = "Write it with the turn on the query instead of on the key.",
        answer = "$(R_{m-n} q) · k$. Try `roper.identity{...}` with dot(rotate(q, m - n), k)." } },
    { title = "With the weights in it",
      text = [[
        Queries and keys are made from the tokens by matrices, $q = W_q x_m$ and $k = W_k x_n$. A
        matrix that moves to the other side of a dot product is transposed on the way. RoFormer's
        eq. 16 forgets that: it prints $W_q$ where the transpose of $W_q$ belongs.]],
      formula = "(R_m W_q x)ᵀ (R_n W_k y) = xᵀ W_qᵀ R_{n-m} W_k y",
      identity = {
        "dot(rotate(Wq*x, m), rotate(Wk*y, n)) == transpose(x)*transpose(Wq)*rotation(n - m)*Wk*y",
        wrong = { { "dot(rotate(Wq*x, m), rotate(Wk*y, n))"
          .. " == transpose(x)*Wq*rotation(n - m)*Wk*y", source = "RoFormer, eq. 16" } } } },
    { title = "Shift the text, and nothing changes",
      text = [[
        Now the attention that models run. Let the text begin at position 1000 instead of 0: all
        weights stay as they were, to rounding. Turn the queries alone (`rotate = "q"`) and they
        do not: a turn on one side only is a dependence on the position itself.]],
      code = [[
        q = roper.randn({1, 1, 8, 16}, "float64")
        k = roper.randn({1, 1, 8, 16}, "float64")
        function weights(position, offset)
          return roper.attention_weights(q, k, {position = position, offset = offset})
        end
        moved = (weights("rope", 0) - weights("rope", 1000)):abs():max():item()
        one_sided = {type = "rope", rotate = "q"}
        shifted = weights(one_sided, 1000)
        changed = (weights(one_sided, 0) - shifted):abs():max():item()]],
      claims = {
        { "moved < 1e-12", instead = { 'weights("rope", 1000)', 'weights("none", 1000)' } },
        { "changed > 0.01", instead = { "weights(one_sided, 1000)", "weights(one_sided, 0)" } } },
      figure = { caption = "The last token's weights where the text begins at 0, and at 1000.",
        draw = [[
          near, far = weights("rope", 0)[1][1][8], weights("rope", 1000)[1][1][8]
          return plot.bar({{y = near, label = "from 0"}, {y = far, label = "from 1000"}},
            {xlabel = "token", ylabel = "weight", format = format})]],
        claims = { { "(near - far):abs():max():item() < 1e-12",
          instead = { 'weights("rope", 1000)', 'weights(one_sided, 1000)' } } },
        play = { kind = "attention", positions = { 3, 8, 12, 17 }, theta = 0.15,
          query = { 2.2, 0.8 },
          keys = { { 0.9, 1.5 }, { 1.2, 1.2 }, { 1.3, 1 }, { -0.1, 1.7 } },
          turns = { "", "q", "qk" },
          caption = [[Drag a token: its key turns, and its score changes. Move all together:
            every arrow turns, and no score changes. With the queries turned alone they do.]] } } },
    { title = "How a score fades with distance",
      text = [[
        Let query and key be the same vector of ones. At distance 0 all pairs agree, and the score
        is $d$. As the distance grows the fast pairs fall out of step, then slower ones, and the sum
        of their cosines fades: on average, what is near matches better. A model can learn other
        shapes by weighing the pairs.]],
      formula = "1 · R_p 1 = 2 Σ_t cos(p θ_t)",
      code = [[
        rope = roper.position.rope{dim = 64}
        ones = roper.ones({1, 64}, "float64")
        function score(p) return (ones * rope:rotate(ones, p)):sum():item() end
        score(0), score(1), score(100)
        cosines = 2 * (rope:thetas() * 100):cos():sum():item()
        off = math.abs(score(100) - cosines)]],
      claims = { { "off < 1e-10", instead = { "* 100", "* 99" } } },
      figure = { caption = [[The score of two equal vectors of ones against their distance,
        $d = 64$.]],
        draw = [[
          distances, scores = {}, {}
          for p = 0, 200 do distances[p + 1], scores[p + 1] = p, score(p) end
          return plot.line({x = distances, y = scores},
            {xlabel = "distance", ylabel = "score", format = format})]],
        claims = {
          { "scores[1] == 64", instead = { "score(p)", "score(p + 1)" } },
          { "math.max(table.unpack(scores, 20)) < 0.65 * scores[1]",
            instead = { "score(p)", "score(p / 10)" } } },
        play = { kind = "distance", pairs = 32,
          caption = [[A larger base slows the turns: the score fades later. With a smaller fraction,
            the features that do not turn keep their part of it at every distance.]] } } },
  },
}
