return roper.lesson {
  order = 1,
  title = "Why attention needs to be told where things are",
  before = [[You know sine and cosine from school, and can read a sum $Σ$. Nothing about language
    models is taken for granted.]],
  after = [[You can say what attention does not see, what a causal mask gives away, and what waves
    tell of a distance.]],
  minutes = 25,
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
        A language model guesses how a text goes on. In it, attention is the part by which words
        take notice of each other. But attention does not see in which order they stand. These
        lessons are about telling it.

        RoPE, rotary position encoding, turns the vectors of a word by an angle that grows with its
        position. RoPER turns what attention carries, too. In the end you can derive both line by
        line, find the mistakes that papers and programs make, and train a small model. Lines after
        a `>` are Lua, and below them what it says. On a terminal you can type your own.

        First: what is attention? A model cuts a text into tokens, here words. Each token is a list
        of numbers: a vector. Attention makes three vectors of it. The query $q$ says what the token
        looks for, the key $k$ what it can be found by, the value $v$ what it hands over.

        Token $m$ compares its query with the key of each token $n$. The dot product $q_m · k_n$ is
        large where they match. (Long vectors have larger ones; the $√d$ makes up for that.) $exp$
        makes it positive, and large ones larger still. Divided by their sum, that gives the
        weights. The output is the mean of the values with these weights
        ([Su et al. 2021](arXiv:2104.09864), eq. 2).

        Below are 6 tokens of 8 random numbers. They stand in a tensor, a block of numbers with four
        axes: batch, heads, tokens, numbers. For now query, key and value are the same vector. With
        `weights = true` attention returns the weights, too: row $m$ holds those of token $m$.
        (`:abs():max():item()` is the largest number of a tensor, signs left aside. Of a difference
        it tells how far two tensors are apart.)]],
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
        answer = [[Their sum is 1. The numerators add up to the denominator, which is the same in
          all of them. So the weights are shares of a whole, and the output is a mean. (Each token
          here matches itself best: its query and its key are the same vector.)]],
        hints = { { "it == 6", "6 it would be if each weight were 1." },
          { "it == 0", "$exp$ of anything is positive, so no weight is 0 or less." },
          [[All these fractions have the same denominator. Add up the numerators: have you seen that
            sum before?]] } },
      exercise = {
        question = [[Three tokens have the values 10, 20 and 30, of one number each. A token gives
          them the weights 0.5, 0.3 and 0.2. What is its output?]],
        expect = "0.5 * 10 + 0.3 * 20 + 0.2 * 30",
        answer = [[$0.5 · 10 + 0.3 · 20 + 0.2 · 30 = 17$. With equal weights it would be 20; the 10,
          which weighs most, pulls it down.]],
        hints = { { "it == 20", "That is the mean with equal weights." },
          { "it == 60", "That is the sum of the values. Each counts by its weight." },
          { "math.abs(it - 17 / 3) < 0.01", "The weights add up to 1: do not divide once more." },
          "Multiply each value by its weight, and add up." } } },
    { title = "Shuffle the tokens",
      text = [[
        The same six tokens once more, in another order: the last three come first. Their vectors
        stay as they are. (`narrow(3, 4, 3)` takes, along axis 3, from number 4 on, 3 of them.)]],
      formula = "o_m = {Σ_n exp(q_m · k_n / √d) v_n}/{Σ_j exp(q_m · k_j / √d)}",
      predict = {
        question = "What happens to the output of a token?",
        choices = { "It stays the same, and stands where the token now stands.",
          "It changes: the token has other neighbours now.",
          "It stays where it was: the first output is still the same." },
        expect = 1,
        answer = [[The formula has nothing of $m$ and $n$ but the vectors that stand there, and a
          sum does not mind the order of its terms. So each token gets the output that it had, in
          its new place. "Dog bites man" and "man bites dog" are the same to attention.]],
        hints = {
          { "it == 2", "Where in the formula are neighbours? Every $n$ is treated alike." },
          { "it == 3", "$o_m$ is made with the query of token $m$, so it goes where $m$ goes." },
          "What changes in the sum when its terms change places?" } },
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
        second at home. But they are the same word, and so they have the same vector.]],
      predict = {
        question = [[For how many of these 8 tokens is there another one with exactly the same
          output?]],
        expect = "4",
        answer = [[4: the two Janes, and the two "went". The same vector gives the same query, hence
          the same weights, hence the same output. Attention cannot tell equal words apart.]],
        hints = {
          { "it == 2", "The two Janes are two of them. Which other word stands there twice?" },
          { "it == 1 or it == 3", "If one is like another, the other is like the one." },
          { "it == 0", "Neither the query nor the sum knows where a token stands." },
          "The same vector, the same query. Which words stand there twice?" } },
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
          "roper.attention_weights(x, x, {position = 'rope'})[1][1]" } } } } },
    { title = "A causal mask gives something away",
      text = [[
        A model that continues a text must not see what comes later. With `causal = true` a token
        sees only itself and the tokens before it. That is the causal mask.

        Below, this is tried twice. First with the sentence of the two Janes. Then with 6 tokens
        that are all alike, so that a token gives equal weights to all that it sees. Of these, the
        first has the value 1 and the others 0.]],
      predict = {
        { question = "With the mask, do the two Janes still get the same output?",
          choices = { "Yes: the same word, the same query.",
            "No: the second Jane sees more than the first." },
          expect = 2,
          answer = [[The first Jane sees herself alone. The second sees five tokens before her,
            too.]],
          hints = { "The query is the same. But which keys does each of them see?" } },
        { question = [[Now the 6 tokens that are alike. Count their positions from 0. What is the
            output at position 3?]],
          expect = "1/4",
          answer = [[$1/4$. The token at position $m$ sees $m + 1$ tokens and takes their mean,
            $1/(m + 1)$. So the mask gives positions away, and a later layer can learn to read them
            ([Haviv et al. 2022](arXiv:2203.16634)).]],
          hints = {
            { "math.abs(it - 1/3) < 0.01", "Position 0 counts, too: 0, 1, 2 and 3 are seen." },
            { "math.abs(it - 1/6) < 0.01", "So it is without the mask. What does position 3 see?" },
            { "it == 1", "That is the sum of the values seen. The output is their mean." },
            { "it == 0", "That is its own value. It sees the first token as well." },
            { "it == 4", "So many tokens it sees. The output is the mean of their values." },
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
        question = [[How good is this clue far on? By how much is the output at position 99 greater
          than at position 100? (Let Lua calculate.)]],
        expect = "1/100 - 1/101",
        within = 0.005,
        answer = [[$1/100 - 1/101 = 1/10100$, about 0.0001. From position 0 to 1 it was a half. Far
          on, the clue is faint. The remedies that follow tell positions outright.]],
        hints = {
          { "math.abs(it - (1/99 - 1/100)) < 5e-7", "The token at position 99 sees 100 tokens." },
          { "math.abs(it + (1/100 - 1/101)) < 5e-7", "The earlier one is greater: no minus." },
          "The output at position $m$ is $1/(m + 1)$." } } },
    { title = "The first remedy: add waves",
      text = [[
        The first transformer ([Vaswani et al. 2017](arXiv:1706.03762)) added to the vector at
        position $i$ a pattern $p_i$ that names the position: for each pair of features a sine and a
        cosine. Pair $t$ moves on by the angle $θ_t$ at each position, so the pairs are waves of
        different lengths.

        How alike are the patterns of $i$ and $j$? Their dot product tells. The second line is what
        one pair adds to it: a formula from school.

        The machine checks that line, on random numbers and exactly (`relative-distance` tells how).
        There `cos(i)` stands for $cos iθ$.]],
      formula = [[
        p_{i,2t} = sin(iθ_t)    p_{i,2t+1} = cos(iθ_t)    θ_t = 10000^(-2t/d)
        sin iθ sin jθ + cos iθ cos jθ = cos (i - j)θ]],
      predict = {
        question = [[One pair moves on by 30 degrees a position. What does it add to the dot product
          of the patterns of positions 1005 and 1007?]],
        expect = "math.cos(math.rad(60))",
        answer = [[$cos 60° = 0.5$, as for positions 5 and 7: their distance alone counts. That is
          the seed of all that follows.

          RoFormer's eq. 4 prints a $k$ on the right where the left has an $i$. Taken at its word,
          the pattern of $i$ would not depend on $i$, and the line below would be false.

          One thing remains: a pattern that is added to a vector gets mixed with what the vector
          says. The next lesson, `rotation`, turns the vector instead, and its length stays.]],
        hints = {
          { "math.abs(it - math.cos(2)) < 0.01 or math.abs(it - math.cos(60)) < 0.01",
            "`math.cos` takes radians: `math.cos(math.rad(60))` is the cosine of 60 degrees." },
          { "math.abs(it - math.cos(math.rad(30))) < 0.01",
            "That is the cosine of 30 degrees: the positions are two apart." },
          { "it == 60 or it == -60", "That is the angle. What is its cosine?" },
          { "it == 1", "Only the same position gives 1." },
          "Which angle is $(i - j)θ$ here? What is its cosine?" } },
      identity = { "sin(i)*sin(j) + cos(i)*cos(j) == cos(i - j)",
        wrong = {
          { "sin(k)*sin(j) + cos(k)*cos(j) == cos(i - j)", source = "RoFormer, eq. 4: k for i" } },
      } },
  },
}
