return roper.lesson {
  order = 1,
  title = "Why attention needs positions",
  before = [[You know sine and cosine from school, and can read a sum $Σ$. No knowledge of language
    models is needed.]],
  after = [[You can explain why attention ignores word order, what a causal mask reveals about
    positions, and how sine waves encode a distance.]],
  minutes = 25,
  needs = {},
  notation = {
    { "q_m", "the query of token $m$: what it looks for" },
    { "k_n, v_n", "the key and the value of token $n$: what it is matched by, what it passes on" },
    { "a_{m,n}", "the weight of the value of token $n$ in the output of token $m$" },
    { "o_m", "the output of token $m$, $Σ_n a_{m,n} v_n$" },
    { "x · y", "the dot product, $x₁ y₁ + x₂ y₂ + …$" },
    { "d", "the number of features of a query or a key" },
    { "θ_t", "the frequency of pair $t$, in radians per position" },
  },
  given = { i = "position", j = "position", k = "position" },
  steps = {
    { title = "Attention is a weighted mean",
      text = [[
        A language model predicts how a text continues. Attention is the part of the model that
        passes information from one word to another. By itself it ignores the order of the words.
        These lessons show how to give it the order.

        RoPE, rotary position encoding, rotates the vectors of a word by an angle that grows with
        its position. RoPER also rotates the values that attention passes on. By the end you can
        derive both line by line, recognize mistakes that occur in papers and programs, and train a
        small model. Lines after a `>` are Lua code, with the results below. At the terminal you can
        type your own.

        First: what is attention? A model splits a text into tokens; here a token is a word. Each
        token is represented by a list of numbers, a vector. Attention computes three vectors from
        it. The query $q$ describes what the token looks for, the key $k$ what it is matched by, and
        the value $v$ what it passes on.

        The query of token $m$ is compared with the key of each token $n$. The dot product
        $q_m · k_n$ is large if they match. (It also grows with the number of features; dividing by
        $√d$ makes up for that.) The exponential makes it positive and favors the largest. Dividing
        by the sum of all exponentials gives the weights. The output is the mean of the values with
        these weights ([Su et al. 2021](arXiv:2104.09864), eq. 2).

        The code below makes 6 tokens of 8 random numbers. They are in a tensor, an array of numbers
        with four axes: batch, heads, tokens, features. For now query, key and value are the same
        vector. With `weights = true` attention also returns the weights: row $m$ contains those of
        token $m$. (`:abs():max():item()` is the largest absolute value in a tensor. Applied to a
        difference, it shows how far apart two tensors are.)]],
      formula = [[
        a_{m,n} &= {exp(q_m · k_n / √d)}/{Σ_j exp(q_m · k_j / √d)}
        o_m &= Σ_n a_{m,n} v_n]],
      code = [[
        x = roper.randn{1, 1, 6, 8}
        out, weights = roper.attention(x, x, x, {weights = true})
        weights[1][1]
        off = (weights:sum(4) - 1):abs():max():item()]],
      claims = { { "off < 1e-6", instead = { "sum(4)", "sum(3)" } } },
      predict = {
        question = [[Add up the weights of one token: $a_{m,n}$ for one $m$ and all $n$. What is
          their sum?]],
        expect = "1",
        answer = [[The sum is 1. The numerators add up to the denominator, which is the same in all
          of them. So each weight is a share of the whole, and the output is a mean. (Each token
          here matches itself best, because its query and its key are the same vector.)]],
        hints = { { "it == 6", "It would be 6 if each weight were 1." },
          { "it == 0", "$exp$ is always positive, so every weight is greater than 0." },
          [[All these fractions have the same denominator. Add up the numerators. Where else does
            that sum appear?]] } },
      exercise = {
        question = [[Three tokens have the values 10, 20 and 30, each a single number. Another token
          gives them the weights 0.5, 0.3 and 0.2. What is its output?]],
        expect = "0.5 * 10 + 0.3 * 20 + 0.2 * 30",
        answer = [[$0.5 · 10 + 0.3 · 20 + 0.2 · 30 = 17$. With equal weights it would be 20. The
          value 10 has the largest weight and pulls the mean down.]],
        hints = { { "it == 20", "That is the mean with equal weights." },
          { "it == 60", "That is the sum of the values. Multiply each value by its weight first." },
          { "math.abs(it - 17 / 3) < 0.01", "The weights sum to 1, so do not divide again." },
          "Multiply each value by its weight, and add up the products." } } },
    { title = "Shuffle the tokens",
      text = [[
        Here are the same six tokens in another order: the last three come first. Their vectors do
        not change. (`narrow(3, 4, 3)` takes 3 elements along axis 3, starting from the fourth.)]],
      formula = "o_m = {Σ_n exp(q_m · k_n / √d) v_n}/{Σ_j exp(q_m · k_j / √d)}",
      predict = {
        question = "What happens to the output of a token?",
        choices = { "It stays the same and moves with the token to its new position.",
          "It changes, because the token has other neighbors now.",
          "It stays at its old position: the first output is still the same." },
        expect = 1,
        answer = [[The formula contains only the vectors of $m$ and $n$, not their positions, and a
          sum does not depend on the order of its terms. So each token has the same output as
          before, at its new position. To attention, "dog bites man" and "man bites dog" are the
          same.]],
        hints = {
          { "it == 2", "Neighbors do not occur in the formula. Every $n$ is treated alike." },
          { "it == 3", "$o_m$ is computed from the query of token $m$, so it moves with $m$." },
          "Does a sum change if you reorder its terms?" } },
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
        "Jane went to the movies, Jane went home." The first Jane should attend to the movies, the
        second to home. But they are the same word, so they have the same vector.]],
      predict = {
        question = [[For how many of these 8 tokens does another token have exactly the same
          output?]],
        expect = "4",
        answer = [[4: both "Jane" and both "went". The same vector gives the same query, so the same
          weights and the same output. Attention cannot distinguish equal words.]],
        hints = {
          { "it == 2", "The two Janes are two of them. Which other word occurs twice?" },
          { "it == 1 or it == 3", "If one token equals another, both count." },
          { "it == 0", "Neither the query nor the sum depends on the position of a token." },
          "The same vector gives the same query. Which words occur twice?" } },
      code = [[
        vectors = roper.randn{6, 8}       -- Jane, went, to, the, movies, home
        sentence = roper.tensor({{0, 1, 2, 3, 4, 0, 1, 5}}, "int32")
        x = vectors:embedding(sentence):view{1, 1, 8, 8}
        out, weights = roper.attention(x, x, x, {weights = true})
        apart = (out:narrow(3, 1, 1) - out:narrow(3, 6, 1)):abs():max():item()]],
      claims = {
        { "apart < 1e-6", instead = { "weights = true", "weights = true, position = 'rope'" } } },
      figure = { caption = "The attention weights. The rows of the two Janes, 0 and 5, are equal.",
        draw = [[
          local words = {"Jane", "went", "to", "the", "movies", "Jane", "went", "home"}
          rows = weights[1][1]
          return plot.attention(rows, {tokens = words, format = format})]],
        claims = { { "(rows[1] - rows[6]):abs():max():item() < 1e-6", instead = { "weights[1][1]",
          "roper.attention_weights(x, x, {position = 'rope'})[1][1]" } } } } },
    { title = "A causal mask reveals something",
      text = [[
        A model that continues a text must not use later tokens. With `causal = true` the query of a
        token sees only that token and those before it. This is the causal mask.

        The code below tries it twice. The first input is the sentence with the two Janes. The
        second is 6 identical tokens, so each query gives equal weights to all tokens that it sees.
        The first token has the value 1, the others 0.]],
      predict = {
        { question = "With the mask, do the two Janes still have the same output?",
          choices = { "Yes: the same word, the same query.",
            "No: the second Jane sees more tokens than the first." },
          expect = 2,
          answer = [[The first Jane sees only herself. The second also sees the five tokens before
            her.]],
          hints = { "The query is the same. But which keys does each of them see?" } },
        { question = [[Now take the 6 identical tokens, and count positions from 0. What is the
            output at position 3?]],
          expect = "1/4",
          answer = [[$1/4$. The token at position $m$ sees $m + 1$ tokens, and their mean is
            $1/(m + 1)$. So the mask reveals the position, and a later layer can learn to use it
            ([Haviv et al. 2022](arXiv:2203.16634)).]],
          hints = {
            { "math.abs(it - 1/3) < 0.01", "Position 0 counts as well: 0, 1, 2 and 3 are seen." },
            { "math.abs(it - 1/6) < 0.01", "That is without the mask. What does position 3 see?" },
            { "it == 1", "That is the sum of the values seen. The output is their mean." },
            { "it == 0", "That is its own value. It also sees the first token." },
            { "it == 4", "That is the number of tokens seen. Take the mean of their values." },
            "Which values does it see? Take their mean." } } },
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
        { "off < 1e-4", instead = { "first, {causal = true}", "first" } } },
      exercise = {
        question = [[How useful is this clue at later positions? How much greater is the output at
          position 99 than at position 100? (Let Lua calculate.)]],
        expect = "1/100 - 1/101",
        within = 0.005,
        answer = [[$1/100 - 1/101 = 1/10100$, about 0.0001. From position 0 to 1 the difference was
          one half. At later positions the clue is weak. The methods that follow encode positions
          explicitly.]],
        hints = {
          { "math.abs(it - (1/99 - 1/100)) < 5e-7", "The token at position 99 sees 100 tokens." },
          { "math.abs(it + (1/100 - 1/101)) < 5e-7", "The earlier output is greater: no minus." },
          "The output at position $m$ is $1/(m + 1)$." } } },
    { title = "The first method: add sine waves",
      text = [[
        The first transformer ([Vaswani et al. 2017](arXiv:1706.03762)) adds a pattern $p_i$ to the
        vector at position $i$. The pattern identifies the position: it has a sine and a cosine for
        each pair of features. The angle of pair $t$ grows by $θ_t$ at each position, so the pairs
        are waves of different wavelengths.

        How similar are the patterns of $i$ and $j$? Compute their dot product. The second line
        below is the contribution of one pair, a formula from school.

        That line is checked below, with random numbers and exactly (`relative-distance` explains
        how). In the check, `cos(i)` means $cos iθ$.]],
      formula = [[
        p_{i,2t} = sin(iθ_t)    p_{i,2t+1} = cos(iθ_t)    θ_t = 10000^(-2t/d)
        sin iθ sin jθ + cos iθ cos jθ = cos (i - j)θ]],
      predict = {
        question = [[The angle of a pair grows by 30 degrees per position. What does this pair
          contribute to the dot product of the patterns of positions 1005 and 1007?]],
        expect = "math.cos(math.rad(60))",
        answer = [[$cos 60° = 0.5$, the same as for positions 5 and 7. Only the distance matters.
          The following lessons build on this.

          RoFormer's eq. 4 prints a $k$ on the right where the left has an $i$. Taken literally, the
          pattern of $i$ would not depend on $i$, and the line below would be false.

          One problem remains: a pattern added to a vector mixes with the content of the vector. The
          next lesson, `rotation`, rotates the vector instead, and its length does not change.]],
        hints = {
          { "math.abs(it - math.cos(2)) < 0.01 or math.abs(it - math.cos(60)) < 0.01",
            "`math.cos` takes radians: `math.cos(math.rad(60))` is the cosine of 60 degrees." },
          { "math.abs(it - math.cos(math.rad(30))) < 0.01",
            "That is the cosine of 30 degrees, but the positions are two apart." },
          { "it == 60 or it == -60", "That is the angle. What is its cosine?" },
          { "it == 1", "Only equal positions give 1." },
          "What is the angle $(i - j)θ$ here? What is its cosine?" } },
      identity = { "sin(i)*sin(j) + cos(i)*cos(j) == cos(i - j)",
        wrong = {
          { "sin(k)*sin(j) + cos(k)*cos(j) == cos(i - j)", source = "RoFormer, eq. 4: k for i" } },
      } },
  },
}
