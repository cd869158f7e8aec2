return roper.lesson {
  order = 7,
  title = "Linear attention, and where the turn belongs",
  before = "You know RoPE (`relative-score`).",
  after = "You can say what may be summed once for all queries, and why the turn comes after $φ$.",
  minutes = 25,
  needs = { "relative-score" },
  notation = {
    { "q, k_i, v_i", "the query; the key and the value at position $i$" },
    { "φ", "a function with positive results, of each feature by itself" },
    { "k vᵀ", "the matrix of all products of a feature of $k$ and one of $v$" },
    { "m, i", "the positions of the query and of a key" },
    { "R_m", "the turn by position $m$" },
  },
  given = { q = "vector", k = "vectors", v = "vectors", i = "positions", m = "position" },
  steps = {
    { title = "Weights without the exponential",
      text = [[
        Softmax ties each query to each key: for $T$ tokens, $T²$ weights. Linear attention measures
        in another way how well two match: a function $φ$ with positive results, applied to each
        feature (here $φ(x) = elu(x) + 1$: $1 + x$ above 0, $e^x$ below), and then the dot product
        ([Katharopoulos et al. 2020](arXiv:2006.16236)). The weights are divided by their sum, as
        before.

        In the lines below $q$ and $k$ stand for $φ(q)$ and $φ(k)$: an identity holds for all
        numbers, so for those too. The position of the query is $m$, those of the keys are $i$.]],
      formula = "o = {Σ_i (q · k_i) v_i}/{Σ_i q · k_i}",
      code = [[
        function phi(x) return roper.where(x:gt(0), x + 1, x:minimum(0):exp()) end
        q = roper.randn({1, 1, 6, 4}, "float64")
        k = roper.randn({1, 1, 6, 4}, "float64")
        v = roper.randn({1, 1, 6, 4}, "float64")
        matches = phi(q):matmul(phi(k):transpose(3, 4))
        by_hand = matches:matmul(v) / matches:sum(4):unsqueeze(4)
        off = (by_hand - roper.linear_attention(q, k, v)):abs():max():item()]],
      claims = { { "off < 1e-5", instead = { "phi(k)", "phi(q)" } } } },
    { title = "One sum for all queries",
      text = [[
        A product of three can be bracketed either way. First $(q · k) v$ for every key: $T$
        products for each query. Or first $k vᵀ$ for every key, a small matrix; sum these once; and
        let each query be multiplied by the sum.]],
      formula = "Σ_i (q · k_i) v_i = (Σ_i k_i v_iᵀ)ᵀ q",
      identity = { "sum(dot(q, k)*v) == transpose(sum(k*transpose(v)))*q",
        wrong = { "sum(dot(q, k)*v) == sum(k*transpose(v))*q" } } },
    { title = "Running sums",
      text = [[
        A causal query takes the keys up to its own. So go along the text, add $k vᵀ$ to one sum and
        $k$ to another, and answer each query from what is there: the same work for each token,
        however long the text. With softmax, token number $T$ costs $T$ times as much as the
        first.]],
      code = [[
        fq, fk = phi(q)[1][1], phi(k)[1][1]
        S, z = roper.zeros({4, 4}, "float64"), roper.zeros({4}, "float64")
        outputs = {}
        for i = 1, 6 do
          S = S + fk[i]:view{4, 1} * v[1][1][i]:view{1, 4}
          z = z + fk[i]
          outputs[i] = fq[i]:view{1, 4}:matmul(S) / (fq[i] * z):sum()
        end
        running = roper.cat(outputs, 1)
        causal = roper.linear_attention(q, k, v, {causal = true})
        off = (running - causal[1][1]):abs():max():item()]],
      claims = { { "off < 1e-5", instead = { "{causal = true}", "{causal = false}" } } },
      figure = {
        caption = "Multiplications for one more token, after so many, with 64 features a head.",
        draw = [[
          local tokens = roper.arange(0, 512, 16)
          softmax, linear = 2 * 64 * tokens, 0 * tokens + 2 * 64 * 64
          return plot.line({
            {x = tokens, y = softmax, label = "softmax: 2 T d"},
            {x = tokens, y = linear, label = "linear: 2 d²"},
          }, {xlabel = "tokens before", ylabel = "multiplications", format = format})]],
        claims = { { "softmax[5]:item() == linear[5]:item()",
          instead = { "2 * 64 * 64", "64 * 64" } } } } },
    { title = "The turn, and which sum is reused",
      text = [[
        Turn $φ(q)$ by its position and $φ(k)$ by its own, in the numerator
        ([Su et al. 2021](arXiv:2104.09864), section 3.3). The match becomes relative. Some notes on
        RoPE write the sum with $R_{i-m}$ inside it and say that $Σ k vᵀ$ can be reused all the
        same, since turning changes no length. But $R_{i-m}$ differs from query to query, and turns
        every key by another angle. What can be reused is the sum of the turned keys,
        $Σ (R_i k_i) v_iᵀ$; the query brings its own turn $R_m$ from outside.]],
      formula = [[
        Σ_i (R_m q · R_i k_i) v_i &= Σ_i (q · R_{i-m} k_i) v_i
                                  &= (Σ_i (R_i k_i) v_iᵀ)ᵀ R_m q]],
      identity = { "sum(dot(rotate(q, m), rotate(k, i))*v) == sum(dot(q, rotate(k, i - m))*v)"
          .. " == transpose(sum(rotate(k, i)*transpose(v)))*rotate(q, m)",
        wrong = {
          { "sum(dot(q, rotate(k, i - m))*v) == transpose(sum(k*transpose(v)))*rotate(q, m)",
            source = "printed in notes on RoPE: the unturned sum reused" },
          { "dot(sum(rotate(k, i)), sum(rotate(k, i))) == dot(sum(k), sum(k))",
            source = "their reason: the length of the sum stays" } } } },
    { title = "Before φ is too early",
      text = [[
        $φ$ works on each feature by itself, and a turn mixes two features. Turn first, and $φ$
        bends what should stay a turn. With squares in place of $φ$ the exact check can say so; with
        the real $φ$, shifting the text does. Turned afterwards, as the library does it, nothing
        moves.]],
      code = [[
        rope = roper.position.rope{dim = 4}
        function before(offset)
          local p = roper.arange(offset, offset + 6)
          return roper.linear_attention(rope:rotate(q, p), rope:rotate(k, p), v)
        end
        function after(offset)
          return roper.linear_attention(q, k, v, {position = "rope", offset = offset})
        end
        early = (before(0) - before(1000)):abs():max():item()
        late = (after(0) - after(1000)):abs():max():item()
        function first(out) return out[1][1][1][1]:item() end]],
      claims = {
        { "early > 0.01", instead = { "before(1000)", "before(0)" } },
        { "late < 1e-9", instead = { "after(1000)", "before(1000)" } } },
      identity = { "dot(rotate(q*q, m), rotate(k*k, i)) == dot(q*q, rotate(k*k, i - m))",
        wrong = {
          { "dot(rotate(q, m)^2, rotate(k, i)^2) == dot(q*q, rotate(k, i - m)^2)",
            source = "the turn before the square" } } },
      figure = {
        caption = [[One number of the output, while the whole text moves. Turned after $φ$ it
          stays; turned before $φ$ it depends on where the text begins.]],
        draw = [[
          starts, levels, waves = {}, {}, {}
          for i = 1, 100 do
            starts[i] = (i - 1) / 4
            levels[i], waves[i] = first(after(starts[i])), first(before(starts[i]))
          end
          return plot.line({{x = starts, y = levels, label = "after φ"},
            {x = starts, y = waves, label = "before φ"}},
            {xlabel = "position of the first token", ylabel = "output", format = format})]],
        claims = {
          { "math.max(table.unpack(levels)) - math.min(table.unpack(levels)) < 1e-9",
            instead = { "first(after(", "first(before(" } },
          { "math.max(table.unpack(waves)) - math.min(table.unpack(waves)) > 0.01",
            instead = { "first(before(", "first(after(" } } } } },
    { title = "Weights below zero, and the denominator",
      text = [[
        $φ$ makes all matches positive, so that their sum can divide them. A turn can make a match
        negative. In the numerator that is allowed: a token may carry with a minus. In the
        denominator the sum could come to 0, and the result explode. So only the numerator is
        turned; the weights then no longer sum to 1.]],
      code = [[
        q, k = 4 * q, 4 * k
        o, weights = roper.oracle.linear_attention(q, k, v, {position = "rope"})
        weights[1][1]
        least = weights:min():item()
        sums = (weights:sum(4) - 1):abs():max():item()]],
      claims = {
        { "least < 0", instead = { 'v, {position = "rope"}', "v" } },
        { "sums > 0.01", instead = { 'v, {position = "rope"}', "v" } } },
      exercise = {
        question = "For one query and one key, how far apart must they be for a negative match?",
        answer = [[$φ(q)$ and $φ(k)$ lie in the first quarter of the plane: they may be a quarter
          apart already, and then any distance will do. Arrows that point the same way need a
          quarter turn, $π/2$: in a pair of speed $θ$, a distance of more than $π/(2θ)$.]] } },
  },
}
