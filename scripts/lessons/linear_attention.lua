return roper.lesson {
  order = 7,
  title = "Linear attention, and where the turn belongs",
  before = "You know RoPE (`relative-score`).",
  after = "You can say what may be summed once for all queries, and where the turn belongs.",
  minutes = 30,
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
        Attention as in `why-position` has a weight for each pair of tokens. For $T$ tokens these
        are $T²$ weights: twice the text is four times the work. Linear attention
        ([Katharopoulos et al. 2020](arXiv:2006.16236)) does with less. This lesson shows how, and
        where positions come in.

        What has to go is the exponential of the softmax. Apply to each feature of query and key a
        function $φ$ whose results are positive. Take the dot product of what comes out: that is how
        well the two match. Divide the matches by their sum, and they are weights. Here $φ(x)$ is
        $1 + x$ above 0 and $e^x$ below.

        (The library adds 0.000001 to what it divides by, and so differs in the last digits.)]],
      formula = "o = {Σ_i (φ(q) · φ(k_i)) v_i}/{Σ_i φ(q) · φ(k_i)}",
      predict = {
        question = [[Two features: $q = (0, -1)$ and $k = (1, 0)$. How well do they match, that is,
          what is $φ(q) · φ(k)$? Two digits will do.]],
        expect = "1 * 2 + math.exp(-1) * 1",
        answer = [[$φ(q) = (1, e^{-1})$ and $φ(k) = (2, 1)$, so it is $2 + 0.37$. No two vectors
          match by 0 or less.]],
        hints = {
          { "it == 0", "That is $q · k$. First apply $φ$ to each of the four numbers." },
          { "it == 2", "$φ(-1)$ is not 0 but $e^{-1}$, some 0.37." },
          { "it == 1", "$φ(1) = 1 + 1$, $φ(0) = 1$, and $φ(-1) = e^{-1}$." },
          "Make four numbers of the four: $φ(0)$, $φ(-1)$ and $φ(1)$, $φ(0)$.",
          "$φ(0) · φ(1) + φ(-1) · φ(0)$, and $e^{-1}$ is some 0.37." } },
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
        From here on $q$ and $k$ in the formulas stand for $φ(q)$ and $φ(k)$. The lines hold for all
        numbers, so for these too.

        A product of three can be bracketed in two ways.

        Either match first: $q · k_i$ is a number, by which the value $v_i$ is multiplied. For
        another query all of it begins anew.

        Or put key and value together first: $k_i v_iᵀ$ is a small matrix, of all products of a
        feature of the key and a feature of the value. There is no query in it. So sum these
        matrices once. Then each query is multiplied by the sum, transposed.]],
      formula = "Σ_i (q · k_i) v_i = (Σ_i k_i v_iᵀ)ᵀ q",
      predict = {
        question = [[A text has 1000 tokens. Keys and values have 64 features. How many numbers are
          there in the sum $Σ_i k_i v_iᵀ$?]],
        expect = "64 * 64", within = 0,
        answer = [[$64 · 64 = 4096$, however long the text is. The text of 1000 tokens has a million
          weights.]],
        hints = {
          { "it == 64000", "That is one key for each token. What has each matrix, and their sum?" },
          { "it == 4096000", "These are all matrices before they are added up." },
          { "it == 1000000", "That is the number of weights, which nobody needs any more." },
          { "it == 64", "That would be a vector. A feature of the key meets each of the value." },
          "A sum of matrices is as large as one of them." } },
      identity = { "sum(dot(q, k)*v) == transpose(sum(k*transpose(v)))*q",
        wrong = { "sum(dot(q, k)*v) == sum(k*transpose(v))*q" } } },
    { title = "Running sums",
      text = [[
        A causal query sees its own token and those before it. So go along the text with two sums.
        Add $k vᵀ$ to the one and $k$ to the other. At each token multiply the query by the first,
        and divide by its product with the second.

        How much work is one more token? With softmax its query meets $T$ keys and $T$ values of $d$
        features: $2 T d$ multiplications. With the sums it is $d²$ to make $k vᵀ$ and $d²$ to
        multiply the query by the sum: $2 d²$, however long the text.]],
      predict = {
        question = [[Take heads of $d = 64$ features. After how many tokens $T$ does the next one
          take as many multiplications in both ways?]],
        expect = "64",
        answer = "At $T = d$. From there on the sums take fewer, and always as many.",
        hints = {
          { "it == 4096", "That is $d²$. Where is $2 T d$ as large as $2 d²$?" },
          { "it == 8192", "So many multiplications these are. Where does softmax take as many?" },
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
        Now positions. Turn $φ(q)$ by its position and $φ(k)$ by its own
        ([Su et al. 2021](arXiv:2104.09864), section 3.3). This is done above the bar of the
        fraction only; why, is told below. The match becomes relative, as in `relative-score`.

        But does the trick with the sum still work? It needs a sum over the keys that serves the
        queries at all positions $m$.]],
      formula = "Σ_i (R_m q · R_i k_i) v_i = Σ_i (q · R_{i-m} k_i) v_i",
      predict = {
        question = "Which sum can be made once, and serve them all?",
        choices = { "$Σ_i (R_{i-m} k_i) v_iᵀ$", "$Σ_i k_i v_iᵀ$", "$Σ_i (R_i k_i) v_iᵀ$",
          "none of them" },
        expect = 3,
        answer = [[The sum of the turned keys. The query brings its own turn $R_m$ from outside:
          $(Σ_i (R_i k_i) v_iᵀ)ᵀ R_m q$. Some notes on RoPE use the sum of the unturned keys again,
          because a turn changes no length. But each key turns by another angle, and so the sum
          changes. Their line and their reason are both refuted here.]],
        hints = {
          { "it == 1", "There is $m$ in it: that is another sum for each query." },
          { "it == 2", "In it no key is turned. What then tells where a key stands?" },
          { "it == 4", "Look at the left side of the formula. What has $m$ to do with there?" },
          "It must have no $m$ in it, and still know each $i$." } },
      identity = { "sum(dot(rotate(q, m), rotate(k, i))*v) == sum(dot(q, rotate(k, i - m))*v)"
          .. " == transpose(sum(rotate(k, i)*transpose(v)))*rotate(q, m)",
        wrong = {
          { "sum(dot(q, rotate(k, i - m))*v) == transpose(sum(k*transpose(v)))*rotate(q, m)",
            source = "printed in notes on RoPE: the unturned sum reused" },
          { "dot(sum(rotate(k, i)), sum(rotate(k, i))) == dot(sum(k), sum(k))",
            source = "their reason: the length of the sum stays" } } } },
    { title = "Turn before φ, or after?",
      text = [[
        So far $φ$ came first, and then the turn. The other order looks as good: turn the query and
        the key as RoPE does, then apply $φ$ to each feature of what comes out, then sum.

        The code does both, and moves the text from position 0 to position 1000.]],
      predict = {
        question = "Turned before $φ$: what happens to the outputs when the whole text moves?",
        choices = { "They stay: all distances do.", "They change, now up, now down.",
          "They grow, since the positions do." },
        expect = 2,
        answer = [[They change. A dot product stays when both arrows turn alike. But a turn mixes
          two features, and $φ$ bends each by itself. So the library turns after $φ$. (The exact
          check needs sums of products, and an exponential is none. So there squares stand for
          $φ$.)]],
        hints = {
          { "it == 1", [[So it is while arrows only turn. But then $φ$ comes. Is $φ$ of a turned
            arrow the turned $φ$ of it? Try (1, 0) and a half turn.]] },
          { "it == 3", "A turn changes no length." },
          "Turn (1, 0) by half a circle and apply $φ$. Apply $φ$ and turn. Is it the same?" } },
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
        caption = [[One number of the output, while the whole text moves. Turned after $φ$ it stays.
          Turned before $φ$ it depends on where the text begins.]],
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
        $φ$ makes all matches positive. So their sum, by which they are divided, is positive too. A
        turn can make a match negative: arrows that are more than 90 degrees apart.

        Above the bar that is allowed. A token may carry with a minus. In the code queries and keys
        are made 4 times as long, for this to be seen well in the weights.]],
      predict = {
        question = "What could go wrong if the matches below the bar were turned as well?",
        choices = { "Their sum could come near 0, and the output be huge.",
          "The outputs would no longer be relative.",
          "The sum below the bar would have to be made anew for each query." },
        expect = 1,
        answer = [[Positive and negative matches could cancel, and nothing may be divided by 0. So
          what is below the bar is not turned. The price: the weights of a row no longer sum
          to 1.]],
        hints = {
          { "it == 2", "Turned matches are relative, above the bar and below it." },
          { "it == 3", "Turned keys can be summed once there, too." },
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
        question = [[One pair, of speed $θ = 0.1$: each position turns it by 0.1 radian. $φ(q)$ and
          $φ(k)$ point the same way. At which whole distance is the match negative for the first
          time?]],
        expect = "16", within = 0,
        answer = [[At 16: a quarter turn is $π/2$, and $π/(2θ) = 15.7$. Where the two do not point
          the same way it is another distance. They may be nearly a quarter turn apart to begin
          with. Then one position can be enough, or nearly half a turn be needed, by the way that
          they turn.]],
        hints = {
          { "it == 15", "By 15 the pair has turned 1.5 radians: not quite a quarter turn." },
          { "it > 15 and it < 16", "There it is 0. Which is the next whole distance?" },
          { "it == 31 or it == 32", "That is half a turn. When does the cosine go below 0?" },
          { "it == 90 or it == 91", "The angle is in radians: a quarter turn is $π/2$." },
          "The match is the lengths times the cosine of the angle between the two.",
          "The cosine goes below 0 after a quarter turn, $π/2$." } } },
  },
}
