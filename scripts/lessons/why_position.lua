return roper.lesson {
  order = 2,
  title = "Why attention needs positions",
  before = "You can read a sum $Σ$. No knowledge of language models is needed.",
  after = "You can explain why attention to all words of a text ignores their order.",
  summary = "Swap the words of a sentence and find that attention does not notice.",
  minutes = 15,
  needs = {},
  notation = {
    { "q_m", "the query of token $m$: what it looks for" },
    { "k_n, v_n", "the key and the value of token $n$: what finds it, what it passes on" },
    { "a_{m,n}", "the weight of the value of token $n$ in the output of token $m$" },
    { "o_m", "the output of token $m$, $Σ_n a_{m,n} v_n$" },
    { "x · y", "the dot product, $x₁ y₁ + x₂ y₂ + …$" },
    { "d", "the number of features of a query or a key" },
  },
  steps = {
    { title = "Attention is a weighted mean",
      text = [[
        A language model predicts how a text continues. Attention is the part of the model that
        passes information from one word to another. Without positions, attention to all words of a
        text ignores their order. These lessons show how to give it positions.

        RoPE, rotary position encoding ([Su et al. 2021](arXiv:2104.09864)), rotates the vectors of
        a word by an angle that grows with its position. RoPER
        ([Harik and Jayasiri 2022](https://research.labml.ai/RoPER.html)) also rotates the values
        that attention passes on. By the end you can derive both line by line, recognize mistakes
        that occur in papers and programs, and train a small model. Lines after a `>` are Lua code,
        with the results below. At the terminal you can type your own.

        First: what is attention? A model splits a text into tokens; here a token is a word. Each
        token is represented by a list of numbers, a vector. Attention computes three vectors from
        it. The query $q$ describes what the token looks for. The key $k$ describes what other
        tokens can find it by. The value $v$ is what it passes on.

        The query of token $m$ is compared with the key of each token $n$. The dot product
        $q_m · k_n$ is their score: it is large if they match. The numbers of a vector are its
        features, and $d$ is how many a key has. Scores of random vectors typically grow like $√d$,
        so each score is divided by $√d$. The exponential, $exp(x) = e^x$, makes the scores positive
        and favors the largest. Dividing by the sum of all exponentials gives the weights. These two
        operations are the softmax. The output is the mean of the values with these weights
        ([Su et al. 2021](arXiv:2104.09864), eq. 2).

        The code below makes 6 tokens of 8 random numbers. They are in a tensor, an array of numbers
        with four axes: batch, heads, tokens, features. The first two are for several texts and for
        several attentions side by side; here there is one of each. For now query, key and value are
        the same vector. With `weights = true` attention also returns the weights: row $m$ contains
        those of token $m$. (`:abs():max():item()` is the largest absolute value in a tensor, here
        of a difference.)]],
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
        not change. The formula is that of the previous step, with the weights inserted.
        (`narrow(3, 4, 3)` takes 3 elements along axis 3, starting from the fourth.)]],
      formula = "o_m = {Σ_n exp(q_m · k_n / √d) v_n}/{Σ_j exp(q_m · k_j / √d)}",
      predict = {
        question = "What happens to the output of a token?",
        choices = { "It stays the same and moves with the token to its new position.",
          "It changes, because the token has other neighbors now.",
          "It stays at its old position: the first output is still the same." },
        expect = 1,
        answer = [[The formula contains only the vectors of $m$ and $n$, not their positions, and
          the sum over all tokens does not depend on the order of its terms. So each token has the
          same output as before, at its new position. "dog bites man" and "man bites dog" give each
          word the same output. (This is true if each query sees all tokens. If later tokens are
          hidden, the sum has other terms at each position: see `mask-and-waves`.)]],
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
        question = "How many of these 8 tokens have the same output as another token?",
        expect = "4",
        answer = [[4: both "Jane" and both "went". The same vector gives the same query, so the same
          weights and the same output. If every token sees all tokens, attention without positions
          cannot distinguish equal words.]],
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
      figure = {
        caption = [[The attention weights, a row for each query. The brighter, the greater. Which
          rows are equal?]],
        draw = [[
          local words = {"Jane", "went", "to", "the", "movies", "Jane", "went", "home"}
          rows = weights[1][1]
          return plot.attention(rows, {tokens = words, format = format})]],
        claims = {
          { "(rows[1] - rows[6]):abs():max():item() < 1e-6", instead = { "weights[1][1]",
            "roper.attention_weights(x, x, {position = 'rope'})[1][1]" } },
          { "(rows[2] - rows[7]):abs():max():item() < 1e-6", instead = { "weights[1][1]",
            "roper.attention_weights(x, x, {position = 'rope'})[1][1]" } } } },
      exercise = {
        question = [[Another sentence has 10 tokens: one word occurs 3 times, another 2 times, and
          5 words occur once. How many different outputs does attention compute?]],
        expect = "7", within = 0,
        answer = "7: one for each different word. It does not matter where the words are.",
        hints = {
          { "it == 10", "Equal words have equal outputs. Count each word once." },
          { "it == 5", "Also count the two words that are repeated, each once." },
          { "it == 2", "That is the number of words that are repeated. What of the others?" },
          "Which tokens have the same output? Count the different words." } } },
  },
}
