return roper.lesson {
  order = 1,
  title = "Why attention needs to be told where things are",
  before = "You can read a formula with a sum in it. Nothing about attention is taken for granted.",
  after = "You can say what attention does not see, and what a causal mask gives away.",
  minutes = 20,
  needs = {},
  notation = {
    { "q_m", "the query of token $m$: what it looks for" },
    { "k_n, v_n", "the key and the value of token $n$: how it is found, what it hands over" },
    { "a_{m,n}", "the weight with which token $m$ takes the value of token $n$" },
    { "o_m", "the output for token $m$, $Σ_n a_{m,n} v_n$" },
    { "x · y", "the dot product, $x₁ y₁ + x₂ y₂ + …$" },
    { "d", "how many numbers a query or a key has" },
    { "θ_t", "the speed of the wave of pair $t$, in radians a position" },
  },
  given = { i = "position", j = "position", k = "position" },
  steps = {
    { title = "Attention is a weighted mean",
      text = [[
        A model sees a sentence as a list of tokens, and each token as a list of numbers: a vector.
        Attention gives each token a new vector. It makes three vectors of each token: a query $q$
        (what it looks for), a key $k$ (what it can be found by) and a value $v$ (what it hands
        over). Token $m$ compares its query with every key; how well they match becomes a weight;
        and its output is the mean of the values with these weights
        ([Su et al. 2021](arXiv:2104.09864), eq. 2).

        Here are 6 tokens of 8 numbers. The four axes are batch, heads, tokens, numbers. For now
        query, key and value are the same vector. A row of the weights belongs to one token, and
        sums to 1; with `weights = true` attention returns them too. (`:abs():max():item()` is the
        largest number of a tensor, signs left aside: of a difference, how far two are apart.)]],
      formula = [[
        a_{m,n} &= {exp(q_m · k_n / √d)}/{Σ_j exp(q_m · k_j / √d)}
        o_m &= Σ_n a_{m,n} v_n]],
      code = [[
        x = roper.randn{1, 1, 6, 8}
        out, weights = roper.attention(x, x, x, {weights = true})
        weights[1][1]
        off = (weights:sum(4) - 1):abs():max():item()]],
      claims = { { "off < 1e-6", instead = { "sum(4)", "sum(3)" } } } },
    { title = "Shuffle the tokens, and the outputs are shuffled alike",
      text = [[
        There is no $m$ and no $n$ on the right-hand side of these formulas, only the vectors that
        stand there. So attention cannot know the order. Put the last three tokens first: each token
        gets the output that it had before, in its new place. (`narrow(3, 4, 3)` takes, along axis
        3, from number 4 on, 3 of them.)

        "Dog bites man" and "man bites dog" are the same to it.]],
      code = [[
        function last_first(y)
          return roper.cat({y:narrow(3, 4, 3), y:narrow(3, 1, 3)}, 3)
        end
        y = last_first(x)
        moved = roper.attention(y, y, y)
        off = (moved - last_first(out)):abs():max():item()]],
      claims = { { "off < 1e-6", instead = { "(y, y, y)", "(y, y, y, {position = 'rope'})" } } } },
    { title = "Two Janes",
      text = [[
        "Jane went to the movies, Jane went home." The first Jane should look at the movies, the
        second at home. But they are the same word, hence the same vector, the same query, the same
        weights, the same output: attention cannot tell them apart.]],
      code = [[
        vectors = roper.randn{6, 8}       -- Jane, went, to, the, movies, home
        sentence = roper.tensor({{0, 1, 2, 3, 4, 0, 1, 5}}, "int32")
        x = vectors:embedding(sentence):view{1, 1, 8, 8}
        out, weights = roper.attention(x, x, x, {weights = true})
        apart = (out:narrow(3, 1, 1) - out:narrow(3, 6, 1)):abs():max():item()]],
      claims = {
        { "apart < 1e-6", instead = { "weights = true", "weights = true, position = 'rope'" } } },
      figure = { caption = "Who looks at whom: the rows of the two Janes, 0 and 5, are the same.",
        draw = [[
          local words = {"Jane", "went", "to", "the", "movies", "Jane", "went", "home"}
          rows = weights[1][1]
          return plot.attention(rows, {tokens = words, format = format})]],
        claims = { { "(rows[1] - rows[6]):abs():max():item() < 1e-6", instead = { "weights[1][1]",
          "roper.attention_weights(x, x, {position = 'rope'})[1][1]" } } } },
      exercise = { question = "Which other tokens of this sentence get the same output?",
        answer = [[The two "went", 1 and 6. Any two equal words do.]] } },
    { title = "A causal mask gives something away",
      text = [[
        A model that continues a text must not see what comes later: with `causal = true` a token
        sees only itself and those before it. The two Janes see different things now, and differ.

        Even where all tokens look equally at all they see, position leaks: let only the first
        token carry a 1. The token at position $m$ (counted from 0) sees $m + 1$ tokens and takes
        their mean, $1/(m + 1)$. A further layer can read its position off that
        ([Haviv et al. 2022](arXiv:2203.16634)). But it must learn to, and the differences get small
        quickly.]],
      code = [[
        out = roper.attention(x, x, x, {causal = true})
        apart = (out:narrow(3, 1, 1) - out:narrow(3, 6, 1)):abs():max():item()
        same = roper.zeros{1, 1, 6, 2}
        first = roper.zeros{1, 1, 6, 2}
        first[{1, 1, 1}] = 1
        means = roper.attention(same, same, first, {causal = true})
        means:narrow(4, 1, 1):view{6}
        counts = 1 / means:narrow(4, 1, 1):view{6}
        off = (counts - roper.arange(1, 7)):abs():max():item()]],
      claims = {
        { "apart > 0.01", instead = { "(x, x, x, {causal = true})", "(x, x, x)" } },
        { "off < 1e-4", instead = { "first, {causal = true}", "first" } } } },
    { title = "The first remedy: add waves",
      text = [[
        The first transformer added to each vector a pattern that names its position: for each pair
        of features a sine and a cosine of another frequency $θ$. How alike the patterns of two
        positions are depends on their distance alone: pair for pair, their product is the cosine of
        $(i - j)θ$. That is the seed of all that follows.

        RoFormer's eq. 4 prints a $k$ on the right where the left has an $i$. Taken at its word, the
        pattern of $i$ would not depend on i, and the line below would be false.

        What is added to a vector is mixed with what it says. The next lesson turns the vector
        instead, which leaves its length as it was.]],
      formula = [[
        p_{i,2t} = sin(iθ_t)    p_{i,2t+1} = cos(iθ_t)    θ_t = 10000^(-2t/d)
        sin iθ sin jθ + cos iθ cos jθ = cos (i - j)θ]],
      identity = { "sin(i)*sin(j) + cos(i)*cos(j) == cos(i - j)",
        wrong = {
          { "sin(k)*sin(j) + cos(k)*cos(j) == cos(i - j)", source = "RoFormer, eq. 4: k for i" } },
      } },
  },
}
