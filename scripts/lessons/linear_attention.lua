return roper.lesson {
  order = 12,
  title = "Linear attention, and where to rotate",
  before = "You know RoPE (`relative-score`).",
  after = "You can say which sums all queries can share, and where to rotate.",
  summary = "Share one sum among all queries, and find where to rotate.",
  minutes = 20,
  needs = { "why-position", "relative-score" },
  notation = {
    { "q, k_n, v_n", "the query; the key and the value at position $n$" },
    { "φ", "a function with positive results, applied to each feature" },
    { "k vᵀ", "the matrix of all products of a feature of $k$ and a feature of $v$" },
    { "m, n", "the positions of the query and of a key" },
    { "R_m", "the rotation by position $m$" },
  },
  given = { q = "vector", k = "vectors", v = "vectors", m = "position", n = "positions" },
  steps = {
    { title = "Weights without the exponential",
      text = [[
        Attention as in `why-position` has a weight for each pair of tokens. For $T$ tokens there
        are $T²$ weights: a text of twice the length takes four times the work. Linear attention
        ([Katharopoulos et al. 2020](arXiv:2006.16236)) needs less. This lesson shows how, and how
        to add positions.

        Linear attention replaces the exponential of the softmax. Apply a function $φ$ with positive
        results to each feature of query and key. The dot product of the results measures how well
        the two match. Divide these matches by their sum to get the weights
        ([Su et al. 2021](arXiv:2104.09864), eq. 18). Here $φ(x)$ is $1 + x$ for $x > 0$ and $e^x$
        otherwise, as in [Katharopoulos et al. 2020](arXiv:2006.16236).

        (The library adds 0.000001 to the denominator, so its result differs in the last digits.)]],
      formula = "o = {Σ_n (φ(q) · φ(k_n)) v_n}/{Σ_n φ(q) · φ(k_n)}",
      predict = {
        question = [[Take two features: $q = (0, -1)$ and $k = (1, 0)$. How well do they match, that
          is, what is $φ(q) · φ(k)$? Two digits are enough.]],
        expect = "1 * 2 + math.exp(-1) * 1",
        answer = [[$φ(q) = (1, e^{-1})$ and $φ(k) = (2, 1)$, so it is $2 + 0.37$. The match of any
          two vectors is greater than 0.]],
        hints = {
          { "it == 0", "That is $q · k$. First apply $φ$ to each of the four numbers." },
          { "it == 2", "$φ(-1)$ is not 0 but $e^{-1}$, about 0.37." },
          { "it == 1", "$φ(1) = 1 + 1$, $φ(0) = 1$, and $φ(-1) = e^{-1}$." },
          "Apply $φ$ to the four numbers: $φ(0)$, $φ(-1)$ and $φ(1)$, $φ(0)$.",
          "$φ(0) · φ(1) + φ(-1) · φ(0)$, and $e^{-1}$ is about 0.37." } },
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
        From here on, $q$ and $k$ in the formulas mean $φ(q)$ and $φ(k)$. The formulas hold for all
        vectors, and so for these.

        A product of three factors can be computed in two orders.

        You can compute the match first: $q · k_n$ is a number that multiplies the value $v_n$.
        Another query needs all of this again.

        Or you can multiply key and value first: $k_n v_nᵀ$ is a small matrix, with all products of
        a feature of the key and a feature of the value. It does not depend on the query. So sum
        these matrices once. Then multiply each query by the transpose of the sum.]],
      formula = "Σ_n (q · k_n) v_n = (Σ_n k_n v_nᵀ)ᵀ q",
      predict = {
        question = [[A text has 1000 tokens. Keys and values have 64 features. How many numbers are
          in the sum $Σ_n k_n v_nᵀ$?]],
        expect = "64 * 64", within = 0,
        answer = [[$64 · 64 = 4096$, however long the text is. A text of 1000 tokens has a million
          weights.]],
        hints = {
          { "it == 64000", "That is one key for each token. How large is each matrix $k_n v_nᵀ$?" },
          { "it == 4096000", "That counts all matrices before they are added up." },
          { "it == 1000000", "That is the number of weights, which are no longer needed." },
          { "it == 64", "That is a vector. Each feature of the key multiplies each of the value." },
          "A sum of matrices has the size of one of them." } },
      identity = { "sum(dot(q, k)*v) == transpose(sum(k*transpose(v)))*q",
        wrong = { "sum(dot(q, k)*v) == sum(k*transpose(v))*q" } } },
    { title = "Running sums",
      text = [[
        A causal query sees its own token and those before it. So go through the text with two
        running sums. Add $k vᵀ$ to the first and $k$ to the second. At each token, multiply the
        query by the first sum, and divide by its product with the second.

        How much work is one more token? With softmax, its query is multiplied by $T$ keys, and its
        weights by $T$ values, of $d$ features each: $2 T d$ multiplications. With the running sums,
        $k vᵀ$ takes $d²$ multiplications and the product with the query $d²$: in total $2 d²$,
        however long the text is.]],
      predict = {
        question = [[Take heads of $d = 64$ features. For which number of tokens $T$ do both methods
          take equally many multiplications for the next token?]],
        expect = "64",
        answer = [[64: for $T = d$. After that the running sums take fewer, and their number does
          not grow.]],
        hints = {
          { "it == 4096", "That is $d²$. For which $T$ is $2 T d$ as large as $2 d²$?" },
          { "it == 8192", "That is the number of multiplications. For which $T$ are they equal?" },
          "Set $2 T d = 2 d²$ and divide by $2 d$." } },
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
        caption = "Multiplications for one more token, by the number of tokens before; $d = 64$.",
        draw = [[
          local tokens = roper.arange(0, 512, 16)
          softmax, linear = 2 * 64 * tokens, 0 * tokens + 2 * 64 * 64
          return plot.line({
            {x = tokens, y = softmax, label = "softmax: 2 T d"},
            {x = tokens, y = linear, label = "linear: 2 d²"},
          }, {xlabel = "tokens before", ylabel = "multiplications", format = format})]],
        claims = { { "softmax[5]:item() == linear[5]:item()",
          instead = { "2 * 64 * 64", "64 * 64" } } } } },
    { title = "The rotation, and which sum can be shared",
      text = [[
        Now add positions. Rotate $φ(q)$ and $φ(k)$ by their positions
        ([Su et al. 2021](arXiv:2104.09864), eq. 19). This is done only in the numerator, for a
        reason given below. The match becomes relative, as in `relative-score`.

        Can all queries still share one sum? It must be a sum over the keys that is the same for the
        queries at all positions $m$.]],
      formula = "Σ_n (R_m q · R_n k_n) v_n = Σ_n (q · R_{n-m} k_n) v_n",
      predict = {
        question = "Which sum can be computed once and shared by all queries?",
        choices = { "$Σ_n (R_{n-m} k_n) v_nᵀ$", "$Σ_n k_n v_nᵀ$", "$Σ_n (R_n k_n) v_nᵀ$",
          "none of them" },
        expect = 3,
        answer = [[The sum of the rotated keys. The query is rotated outside of the sum, by $R_m$:
          $(Σ_n (R_n k_n) v_nᵀ)ᵀ R_m q$. Could the sum of the unrotated keys be used again, because
          a rotation does not change lengths? No: each key is rotated by another angle, so the sum
          changes, and so does its length. Both are refuted here.]],
        hints = {
          { "it == 1", "It contains $m$, so each query would need another sum." },
          { "it == 2", "There no key is rotated, so the positions of the keys are missing." },
          { "it == 4", "Look at the left side of the formula. Which factor depends on $m$?" },
          "It must not contain $m$, but must depend on each $n$." } },
      identity = { "sum(dot(rotate(q, m), rotate(k, n))*v) == sum(dot(q, rotate(k, n - m))*v)"
          .. " == transpose(sum(rotate(k, n)*transpose(v)))*rotate(q, m)",
        wrong = {
          { "sum(dot(q, rotate(k, n - m))*v) == transpose(sum(k*transpose(v)))*rotate(q, m)",
            source = "the unrotated sum used again" },
          { "dot(sum(rotate(k, n)), sum(rotate(k, n))) == dot(sum(k), sum(k))",
            source = "as if the sum kept its length" } } } },
    { title = "Rotate before φ, or after?",
      text = [[
        So far we have applied $φ$ first and rotated then. The other order seems equally good:
        rotate the query and the key as RoPE does, then apply $φ$ to each feature, then sum.

        The code does both, and moves the text from position 0 to position 1000.]],
      predict = {
        question = "Rotate before $φ$, and move the whole text. What happens to the outputs?",
        choices = { "They stay the same, because all distances do.", "They change, up and down.",
          "They grow, because the positions do." },
        expect = 2,
        answer = [[They change. A dot product does not change if both arrows are rotated by the same
          angle. But a rotation mixes two features, and $φ$ then changes each of them separately. So
          the library rotates after $φ$. (The exact check allows sums and products but no
          exponential, so there squares replace $φ$.)]],
        hints = {
          { "it == 1", [[That is true without $φ$. But then $φ$ is applied. Is $φ$ of a rotated
            arrow the same as the rotated $φ$ of it? Try (1, 0) and a half turn.]] },
          { "it == 3", "A rotation changes no length." },
          [[Rotate (1, 0) by half a turn, then apply $φ$. Now apply $φ$ first, then rotate. Are the
            results equal?]] } },
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
      identity = { "dot(rotate(q*q, m), rotate(k*k, n)) == dot(q*q, rotate(k*k, n - m))",
        wrong = {
          { "dot(rotate(q, m)^2, rotate(k, n)^2) == dot(q*q, rotate(k, n - m)^2)",
            source = "the rotation before the square" } } },
      figure = {
        caption = [[One number of the output, while the whole text moves. Rotated after $φ$, it is
          constant. Rotated before $φ$, it depends on where the text begins.]],
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
    { title = "Negative weights, and the denominator",
      text = [[
        $φ$ makes all matches positive. So their sum, the denominator, is positive too. A rotation
        can make a match negative: then the angle between the arrows is more than 90 degrees.

        In the numerator this is allowed, so a value can have a negative weight
        ([Su et al. 2021](arXiv:2104.09864), section 3.3). The code multiplies queries and keys by 4
        to make this clearly visible in the weights.]],
      predict = {
        question = "What could go wrong if the matches in the denominator were rotated as well?",
        choices = { "Their sum could be near 0, and the output huge.",
          "The outputs would no longer be relative.",
          "Each query would need its own sum in the denominator." },
        expect = 1,
        answer = [[Positive and negative matches could cancel, and the division would be by 0. So
          the denominator is not rotated. The price is that the weights of a row do not sum to 1.]],
        hints = {
          { "it == 2", "Rotated matches are relative, in the numerator and in the denominator." },
          { "it == 3", "Rotated keys can be summed once there, too." },
          "Which sum of numbers is dangerous to divide by?" } },
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
        question = [[Take one pair with the frequency $θ = 0.1$ radian per position. $φ(q)$ and
          $φ(k)$ point in the same direction. What is the smallest whole distance at which the match
          is negative?]],
        expect = "16", within = 0,
        answer = [[16: a quarter turn is $π/2$, and $π/(2θ) = 15.7$. If the two do not point in the
          same direction, the distance differs. They can be nearly a quarter turn apart to begin
          with. Then one position may be enough, or it may take nearly half a turn, depending on the
          direction of the rotation.]],
        hints = {
          { "it == 15", "At 15 the pair has rotated by 1.5 radians: not quite a quarter turn." },
          { "it > 15 and it < 16", "There it is 0. What is the next whole distance?" },
          { "it == 31 or it == 32", "That is half a turn. When does the cosine go below 0?" },
          { "it == 90 or it == 91", "The angle is in radians: a quarter turn is $π/2$." },
          "The match is the product of the lengths and the cosine of the angle between the two.",
          "The cosine goes below 0 after a quarter turn, $π/2$." } } },
  },
}
