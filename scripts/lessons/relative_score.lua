return roper.lesson {
  order = 6,
  title = "Scores that depend only on distance",
  before = [[You can rotate vectors by their position (`rotation`, `general-form`). You know how
    attention uses scores (`why-position`).]],
  after = "You can explain why RoPE's scores depend on positions only through $m - n$.",
  summary = "Slide two words along the text and prove why their score stays.",
  minutes = 25,
  needs = { "why-position", "rotation", "general-form" },
  notation = {
    { "m, n", "the positions of the query and of the key" },
    { "q, k", "the query and the key, before rotation" },
    { "R_m", "the rotation by position $m$" },
    { "xᵀ, Wᵀ", "transposed: rows and columns exchanged" },
    { "z^*", "the conjugate of a complex number: its angle changes sign" },
  },
  given = { q = "vector", k = "vector", x = "vector", y = "vector", Wq = "matrix", Wk = "matrix",
    m = "position", n = "position" },
  steps = {
    { title = "The goal",
      text = [[
        Attention compares the query of one word with the key of another. The result, a dot product,
        is their score. The score of a word and the word before it should be the same wherever they
        occur in the text. So the score of $x_m$ at position $m$ and $x_n$ at position $n$ may
        depend only on the two vectors and on the difference $m - n$
        ([Su et al. 2021](arXiv:2104.09864), eq. 11).

        The paper, known as RoFormer, looks for functions $f$ with this property. Its solution is to
        rotate each vector by its own position. The score then depends only on the difference of
        the positions. This lesson shows why, and `why-rotation` why nothing else would do.

        The second line below is the statement for one pair, in complex numbers (eq. 12). $e^{imθ}$
        is a rotation by $mθ$, and the star changes the sign of an angle: $nθ$ becomes $-nθ$. If you
        do not know complex numbers, skip this line. The check below says the same with real
        numbers, and the next step with arrows.]],
      formula = [[
        ⟨f(x_m, m), f(x_n, n)⟩ = g(x_m, x_n, m - n)
        Re[q e^{imθ} (k e^{inθ})^*] = Re[q k^* e^{i(m-n)θ}] ]],
      predict = {
        question = [[Two words are at $m = 7$ and $n = 5$. Copies of them are elsewhere in the text.
          Which copies must have the same score?]],
        choices = { "those at $m = 5$ and $n = 7$", "those at $m = 14$ and $n = 10$",
          "those at $m = 107$ and $n = 105$", "those at $m = 7$ and $n = 6$" },
        expect = 3,
        answer = [[$107 - 105 = 7 - 5$. For all the others $m - n$ differs, so the score may differ.
          The sign matters, too: $5 - 7 = -2$, so "before" and "after" are distinguished.]],
        hints = {
          { "it == 1", "5 - 7 is not 7 - 5: the order of the two words is reversed." },
          { "it == 2", "They are twice as far apart." },
          { "it == 4", "Their distance is 1, not 2." },
          "For which of them is $m - n$ the same?" } },
      identity = { "rotate(q, m)[1]*rotate(k, n)[1] + rotate(q, m)[2]*rotate(k, n)[2]"
          .. " == (q[1]*k[1] + q[2]*k[2])*cos(m - n) + (q[1]*k[2] - q[2]*k[1])*sin(m - n)",
        wrong = {
          "rotate(q, m)[1]*rotate(k, n)[1] + rotate(q, m)[2]*rotate(k, n)[2]"
            .. " == (q[1]*k[1] + q[2]*k[2])*cos(m + n) + (q[1]*k[2] - q[2]*k[1])*sin(m + n)" } } },
    { title = "The same with arrows",
      text = [[
        The query is rotated by its position $m$, the key by its position $n$. Their score is the
        dot product of the two rotated arrows. Now rotate both arrows back by $m$. The dot product
        does not change if both are rotated by the same angle. The query is then back where it was.
        The key has been rotated $n$ forward and $m$ back: by $n - m$.

        Relative positions in RoPE follow from this one line
        ([Su et al. 2021](arXiv:2104.09864), eq. 16, without the weight matrices). Note the order:
        the key is rotated by $n - m$, not by $m - n$.]],
      formula = "(R_m q) · (R_n k) = q · R_{n-m} k",
      predict = { {
        question = [[The frequency is 20 degrees per position. Query and key are both the arrow
          $(1, 0)$, the query at position 7 and the key at position 4. What is their score?]],
        expect = "math.cos(math.rad(60))",
        answer = [[$cos 60° = 0.5$. They are 3 positions apart, so the angle is 60 degrees. Their
          own angles, 140 and 80 degrees, matter only through the difference.]],
        hints = {
          { "math.abs(it - math.cos(3)) < 0.01 or math.abs(it - math.cos(60)) < 0.01",
            "`math.cos` takes radians: `math.cos(math.rad(60))` is the cosine of 60 degrees." },
          { "math.abs(it - math.cos(math.rad(220))) < 0.01",
            "That uses the sum of the positions. Rotate both arrows back by 7." },
          { "math.abs(it - math.cos(math.rad(140))) < 0.01", "The key is rotated as well." },
          { "math.abs(it - math.cos(math.rad(80))) < 0.01", "The query is rotated as well." },
          { "math.abs(it - math.sin(math.rad(60))) < 0.01", "That is the sine." },
          { "it == 60 or it == -60", "That is the angle between them. What is the score?" },
          { "it == 1", "That would be true at equal positions." },
          [[The arrows have length 1, so the score is the cosine of the angle between them. How many
            degrees is it?]] } }, {
        question = [[Now the frequency is 30 degrees per position. The query is $(1, 0)$ at position
          2, the key is $(0, 1)$ at position 1. What is their score?]],
        expect = "math.cos(math.rad(60))",
        answer = [[0.5 again. Relative to the query, the key is rotated by $n - m = -1$: from 90
          degrees to 60. If it were rotated by $m - n$, it would be at 120 degrees, and the score
          would be -0.5.]],
        hints = {
          { "math.abs(it + 0.5) < 0.01", "The key is rotated by $n - m$. You used $m - n$." },
          { "math.abs(it - math.cos(math.rad(30))) < 0.01",
            "The key starts at 90 degrees and is rotated by -30." },
          { "math.abs(it) < 1e-9",
            "That is the score before the rotation. The query is rotated further than the key." },
          "The query ends at 60 degrees. The key starts at 90: where does it end?" } } },
      identity = { "dot(rotate(q, m), rotate(k, n)) == dot(q, rotate(k, n - m))",
        wrong = { { "dot(rotate(q, m), rotate(k, n)) == dot(q, rotate(k, m - n))",
          source = "the order swapped" } } },
      code = [[
        theta = math.pi / 9                   -- 20 degrees per position
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
          Each is rotated by 100 degrees more. The angle between them, and so the score, is the
          same.]],
        draw = [[
          local list = {}
          between = {}
          for i, m in ipairs{2, 7} do
            local q, k = placed(m, m - 1)
            local x, y, x2, y2 = q[1]:item(), q[2]:item(), k[1]:item(), k[2]:item()
            between[i] = (math.atan(y2, x2) - math.atan(y, x)) % (2 * math.pi)
            local turned = i == 2 and math.rad(100) or nil
            list[#list + 1] = {x, y, dashed = i == 1, label = "query", quantity = "q",
              turned = turned}
            list[#list + 1] = {x2, y2, dashed = i == 1, label = "key", quantity = "k",
              turned = turned}
          end
          return plot.arrows(list, {format = format})]],
        claims = { { "math.abs(between[2] - between[1]) < 1e-12",
          instead = { "m - 1", "1" } } } },
      exercise = {
        question = "Rotate both arrows back by $n$ instead of $m$. What does the score become?",
        choices = { "$q · R_{m-n} k$", "$(R_{m-n} q) · k$", "$(R_{n-m} q) · k$" },
        expect = 2,
        answer = [[$(R_{m-n} q) · k$: the key is back where it was, and the query is rotated $m$
          forward and $n$ back. You can check it:

          `roper.identity{"dot(rotate(q, m), rotate(k, n)) == dot(rotate(q, m - n), k)", given = {q
          = "vector", k = "vector", m = "position", n = "position"}}`]],
        hints = { { "it == 1", "After rotating back by $n$, the key is not rotated at all." },
          { "it == 3", "The query is rotated $m$ forward and then $n$ back." },
          "Which of the two arrows is back where it was? By how much is the other rotated?" } } },
    { title = "With the weight matrices",
      text = [[
        Queries and keys are computed from the tokens with weight matrices, $q = W_q x_m$ and
        $k = W_k x_n$. With them, the line of the previous step reads as below. There the dot
        product $x · y$ is written $xᵀ y$, a row times a column.

        On the right side $W_q$ has moved away from $x$. A matrix that moves to the other side of a
        dot product is transposed: its rows become its columns. Does that matter?]],
      formula = "(R_m W_q x)ᵀ (R_n W_k y) = xᵀ W_qᵀ R_{n-m} W_k y",
      predict = {
        question = [[Let the rows of $W$ be $(1, 2)$ and $(0, 1)$. With $x = (1, 0)$ and
          $y = (0, 1)$ we get $W x · y = (1, 0) · (0, 1) = 0$. What is $x · W y$?]],
        expect = "2",
        answer = [[$W y = (2, 1)$, and $x · W y = 2$, not 0. With the transposed matrix,
          $Wᵀ y = (0, 1)$, it is 0, as it should be. The paper omits the transpose: it prints $W_q$
          in place of $W_qᵀ$ ([Su et al. 2021](arXiv:2104.09864), eq. 16).]],
        hints = { { "it == 0", "That is $W x · y$. Compute $W y$: each row times $y$." },
          { "it == 1", "That is the second number of $W y$. $x$ selects the first." },
          "$W y$ has two numbers: the first row times $y$, and the second row times $y$." } },
      identity = {
        "dot(rotate(Wq*x, m), rotate(Wk*y, n)) == transpose(x)*transpose(Wq)*rotation(n - m)*Wk*y",
        wrong = { { "dot(rotate(Wq*x, m), rotate(Wk*y, n))"
          .. " == transpose(x)*Wq*rotation(n - m)*Wk*y", source = "RoFormer, eq. 16" } } } },
    { title = "Shift the text",
      text = [[
        Now use the attention of real models, with 8 tokens of 16 features. Let the text begin at
        position 1000 instead of 0: each $m$ and each $n$ grows by 1000. How does this change the
        attention weights, which are computed from the scores?

        For comparison, the code also rotates only the queries (`rotate = "q"`) and leaves the keys
        unrotated.]],
      predict = {
        question = "When do the weights stay the same, up to rounding?",
        choices = { "if queries and keys are rotated", "if only the queries are rotated",
          "in both cases", "in neither case" },
        expect = 1,
        answer = [[If queries and keys are rotated, $(m + 1000) - (n + 1000) = m - n$. If only the
          queries are rotated, the 1000 does not cancel: rotating one side makes the score depend on
          the position itself.]],
        hints = {
          { "it == 2 or it == 3", "Then each query is rotated by 1000 more, and no key is." },
          { "it == 4", "If both are rotated by 1000 more, does the angle between them change?" },
          "When does the angle between a query and a key stay the same?" } },
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
      figure = {
        caption = [[The weight of token 7 for the query of token 8, by the position at which the
          text begins. If both are rotated, it is constant. If only the queries are rotated, it goes
          up and down.]],
        draw = [[
          starts, level, wave = {}, {}, {}
          for start = 0, 30 do
            starts[start + 1] = start
            level[start + 1] = weights("rope", start)[1][1][8][7]:item()
            wave[start + 1] = weights(one_sided, start)[1][1][8][7]:item()
          end
          return plot.line({{x = starts, y = level, label = "both rotated"},
            {x = starts, y = wave, label = "only queries"}},
            {xlabel = "position of the first token", ylabel = "weight", format = format})]],
        claims = {
          { "math.max(table.unpack(level)) - math.min(table.unpack(level)) < 1e-12",
            instead = { 'weights("rope", start)', "weights(one_sided, start)" } },
          { "math.max(table.unpack(wave)) - math.min(table.unpack(wave)) > 0.01",
            instead = { "weights(one_sided, start)", 'weights("rope", start)' } } },
        play = { kind = "attention", beside = true, has_output = false, turns = { "", "q", "qk" },
          caption = [[Drag a token: its key rotates, and its score changes. Move all tokens
            together: every arrow rotates, and no score changes. Rotate only the queries: now the
            scores change.]] } } },
    { title = "How a score decreases with distance",
      text = [[
        A score depends only on the distance $p$. But how? Let query and key be the same vector of
        $d = 64$ ones, written 1 below. Each pair of the query and of the key is then the arrow
        $(1, 1)$. At distance $p$ the angle between the two arrows of pair $t$ is $p θ_t$.
        (For any two vectors, the paper bounds the score by a number that decays with the distance:
        [Su et al. 2021](arXiv:2104.09864), section 3.4.3.)]],
      formula = "1 · R_p 1 = 2 Σ_t cos(p θ_t)",
      predict = {
        question = "What is the score at distance 0?",
        expect = "64",
        answer = [[64: all 32 pairs agree, and each contributes $2 cos 0 = 2$. As the distance
          grows, the fast pairs get out of phase first, then the slower ones, and the sum of their
          cosines decreases. So for these vectors near tokens match better. A model can learn other
          shapes by weighting the pairs.]],
        hints = { { "it == 32", "That is the number of pairs. Each contributes $2 cos 0$." },
          { "it == 0", "The angles are 0. What are their cosines?" },
          { "it == 1 or it == 2", "That is one pair. How many are there?" },
          { "it == 128", "64 features are 32 pairs." },
          "$cos 0 = 1$, and 64 features are 32 pairs." } },
      code = [[
        rope = roper.position.rope{dim = 64}
        ones = roper.ones({1, 64}, "float64")
        function score(p, of)
          return (ones * (of or rope):rotate(ones, p)):sum():item()
        end
        score(0), score(1), score(100)
        cosines = 2 * (rope:thetas() * 100):cos():sum():item()
        off = math.abs(score(100) - cosines)
        function mean(of)                     -- of the scores at distances 0 to 200
          local sum = 0
          for p = 0, 200 do sum = sum + score(p, of) end
          return sum / 201
        end
        mean(rope)]],
      claims = { { "off < 1e-10", instead = { "* 100", "* 99" } } },
      figure = { caption = "The score of two equal vectors of ones by distance, $d = 64$.",
        draw = [[
          distances, scores = {}, {}
          for p = 0, 200 do distances[p + 1], scores[p + 1] = p, score(p) end
          return plot.line({x = distances, y = scores},
            {xlabel = "distance", ylabel = "score", format = format})]],
        claims = {
          { "scores[1] == 64", instead = { "score(p)", "score(p + 1)" } },
          { "math.max(table.unpack(scores, 20)) < 0.65 * scores[1]",
            instead = { "score(p)", "score(p / 10)" } } },
        play = { kind = "clocks",
          caption = [[All 32 pairs of a head with 64 features, the fastest first. Line: the query.
            Arrow: the key. The bar is what a pair adds to the score. Increase the base:
            at which distance does the score drop? Reduce the fraction: pairs that are not rotated
            contribute the same at every distance.]] } },
      exercise = {
        question = [[`rope` has the base 10000. Set `slower` to a RoPE of 64 features whose scores
          at distances 0 to 200 have a greater `mean`. Construct it like `rope`, with another
          `base`.]],
        check = "mean(slower) > mean(rope) + 1e-6",
        sample = "slower = roper.position.rope{dim = 64, base = 500000}",
        form = { "slower = roper.position.rope{dim = ___, base = ___}", { "32", "64", "128" },
          { "100", "1000", "10000", "500000" } },
        answer = [[A larger base makes $θ_t = base^(-2t/d)$ smaller. All pairs but the first rotate
          more slowly, and on average the score drops later. (At a single distance it can be
          smaller, as with base 20000 at distance 100, because the cosines oscillate.) A larger base
          is one of the methods for texts longer than in training: see `long-context`.]],
        hints = {
          { "slower == nil", "Set the variable: `slower = roper.position.rope{...}`." },
          { "#slower:thetas() ~= 32", "It needs 64 features: `dim = 64`." },
          { "slower:thetas()[32]:item() > rope:thetas()[32]:item() * 1.001",
            "These pairs rotate faster. Is the base smaller than 10000?" },
          { "slower:thetas()[32]:item() > rope:thetas()[32]:item() * 0.999",
            "That is as slow as `rope`. Pass another base: `base = ...`." },
          "$θ_t$ is $base^(-2t/d)$. Which base makes it smaller?" } } },
    { title = "A trained head",
      text = [[
        In a trained head, queries and keys are not vectors of ones. The code trains a small model
        with a single head of 64 features. In rows of random letters, it has to repeat the letter
        that was 8 positions before. The letters themselves do not help: the head must find a
        distance.

        The query and the key below are the means over all letters. In pair $t$, the angle from the
        query to the key is $φ_t$. At distance $p$ the key has been rotated by $pθ_t$ less than the
        query, so the angle is $φ_t - pθ_t$. Training chooses the lengths and the angles, but not
        the speeds.]],
      formula = "q · R_{-p} k = Σ_t |q_t| |k_t| cos(φ_t - pθ_t)",
      predict = {
        question = "At which distance is the score of the trained head largest?",
        expect = "8",
        answer = [[At 8. The head uses a few of its fastest pairs: only their products of lengths
          are large. A slow pair hardly changes from one position to the next, so it cannot single
          one out. No fast pair knows the distance alone, because it points towards the query again
          a few positions later. But their sum has one highest peak.]],
        hints = { { "it == 0", "That is the score of the letter itself. Which letter is needed?" },
          { "it == 7 or it == 9", "Close. How far back is the letter that is to be repeated?" },
          { "it == 64 or it == 32", "That is a number of features. Which distance is needed?" },
          "Which distance does the task ask for?" } },
      code = [[
        lag = 8
        function letter_rows(count)
          local letters = roper.randint(0, 7, {count, 48})
          local answers = letters:roll(lag, 2)
          answers[{{}, {1, lag}}] = -1          -- none for the first ones
          return letters, answers
        end
        model = roper.nn.Transformer{vocabulary = 8, d_model = 64, layers = 1,
          heads = 1, position = "rope"}
        adam = roper.optim.Adam{rate = 0.01}
        for step = 1, 100 do
          local letters, answers = letter_rows(16)
          model:zero_gradients()
          loss = roper.cross_entropy(model(letters), answers)
          loss:backward()
          adam:step(model:parameters())
        end
        loss:item()
        layer = model.layers[1]
        all_letters = roper.arange(0, 8):to("int32")
        x = layer.attention_norm(model.embedding(all_letters))
        function mean_of(y) return y:mean(1, true):detach():to("float64") end
        q = mean_of(layer.attention.query(x))
        k = mean_of(layer.attention.key(x))
        hands = {}                    -- of pair t, features t and t + 32
        for t = 1, 32 do
          local a, b = q[1][t]:item(), q[1][t + 32]:item()
          local c, d = k[1][t]:item(), k[1][t + 32]:item()
          local length = math.sqrt(a * a + b * b) * math.sqrt(c * c + d * d)
          hands[t] = {length, math.atan(a * d - b * c, a * c + b * d)}
        end
        function trained_score(p) return (q * rope:rotate(k, -p)):sum():item() end
        speeds = rope:thetas():totable()
        sum = 0
        for t, hand in ipairs(hands) do
          sum = sum + hand[1] * math.cos(hand[2] - 8 * speeds[t])
        end
        off = math.abs(sum - trained_score(8))
        lengths = roper.tensor(hands, "float64"):narrow(2, 1, 1)
        fast = (lengths:narrow(1, 1, 8):sum() / lengths:sum()):item()]],
      claims = { { "off < 1e-9", instead = { "- 8 * speeds", "+ 8 * speeds" } },
        { "fast > 0.8", instead = { "narrow(1, 1, 8)", "narrow(1, 9, 24)" } },
        { "loss:item() < 0.1", instead = { "1, 100 do", "1, 5 do" } } },
      figure = {
        caption = [[The score of the trained head by distance. It is largest at 8. The other peaks
          are lower.]],
        draw = [[
          distances, trained = {}, {}
          for p = 0, 60 do distances[p + 1], trained[p + 1] = p, trained_score(p) end
          highest = roper.tensor(trained):argmax():item() - 1
          return plot.line({x = distances, y = trained},
            {xlabel = "distance", ylabel = "score", format = format})]],
        claims = { { "highest == 8", instead = { "trained_score(p)", "trained_score(p + 3)" } } },
        play = { kind = "clocks", farthest = 60, data = '{{"the trained head", hands}}',
          caption = [[The 32 pairs of the trained head. Move the query away: which pairs bring the
            score up at 8? Change the base, which changes all speeds: the head no longer finds its
            distance. If this page runs code, change `lag` and press Run.]] } } },
  },
}
