return roper.lesson {
  order = 17,
  title = "Angles that accumulate along the way",
  before = "You can derive RoPER's relative positions in the values (`relative-distance`).",
  after = [[You can replace RoPE's angle by one angle for each token, prove that scores and values
    remain relative, and say when far tokens cancel.]],
  summary = "Give every word its own angle and keep the scores relative.",
  minutes = 35,
  needs = { "relative-score", "relative-distance" },
  notation = {
    { "m, n", "the positions of the query and of a key; $m ≥ n$, and tokens count from 1" },
    { "p", "the distance $m - n$: the number of tokens after the key, up to the query" },
    { "α_t", "the angle of token $t$, for one pair of features" },
    { "Φ_t", "the accumulated angle, $α_1 + … + α_t$" },
    { "R(φ)", "the rotation by the angle $φ$, in radians" },
    { "G_t", "the rotation of token $t$, $R(-α_t)$" },
    { "G_{m←n}", "the product of the rotations after the key, up to the query" },
    { "E", "the mean over many random draws" },
    { "σ", "the standard deviation of random angles: their spread" },
    { "ρ", "the length of the mean of unit arrows with random angles" },
  },
  given = { q = "vector", k = "vector", v = "vectors", w = "numbers", f = "angle", a = "angle",
    b = "angle", c = "angles" },
  steps = {
    { title = "A rotation for each token",
      text = [[
        RoPE rotates a key by $n - m$ relative to the query (`relative-score`). Rotations add up.
        So this rotation is a product of small ones: the key is rotated back by one position for
        each token after it, up to the query.

        In RoPE all of these small rotations are the same. Recent schemes give each token its own
        angle $α_t$ and its own rotation $G_t = R(-α_t)$. The key is rotated by the product of the
        rotations of all tokens after it, including the query's own. (PaTH,
        [Yang et al. 2025](arXiv:2505.16381), has maps like reflections in place of rotations.)]],
      formula = [[
        R_{n-m} &= R_{-1} R_{-1} ⋯ R_{-1}
        G_{m←n} &= G_m G_{m-1} ⋯ G_{n+1}
        s_{m,n} &= q_m · G_{m←n} k_n]],
      predict = {
        question = [[The tokens 3, 4, 5 and 6 have the angles 30, 10, 50 and -20 degrees. The key is
          token 3, and the query is token 6. By how many degrees is the key rotated? Forward is
          positive.]],
        expect = "-40", within = 0,
        answer = [[$-(10 + 50 - 20) = -40$. The angle of token 6 counts, and that of token 3 does
          not.]],
        hints = {
          { "it == 40", "The size is right. The key is rotated back." },
          { "it == -70 or it == 70", "The product begins after the key: token 3 is not in it." },
          { "it == -60 or it == 60", "The product ends with the query: token 6 is in it." },
          { "it == -80 or it == 80", "The angle of token 6 is negative." },
          "Which tokens are after token 3, up to token 6? Add their angles." } },
      code = [[
        turn = roper.position.rope{dim = 2, frequencies = {1}}  -- by radians
        function product(angles, m, n)              -- G_m ... G_{n+1}
          local g = turn:matrix(0)
          for t = n + 1, m do
            g = turn:matrix(-math.rad(angles[t])):matmul(g)
          end
          return g
        end
        angles, fixed = {20, 40, 30, 10, 50, -20}, {25, 25, 25, 25, 25, 25}
        product(angles, 6, 3)
        forty = turn:matrix(math.rad(-40))
        off = (product(angles, 6, 3) - forty):abs():max():item()
        rope = roper.position.rope{dim = 2, frequencies = {math.rad(25)}}
        same = (product(fixed, 6, 3) - rope:matrix(3 - 6)):abs():max():item()]],
      claims = {
        { "off < 1e-12", instead = { "n + 1, m", "n, m - 1" } },
        { "same < 1e-12", instead = { "3 - 6", "6 - 3" } } },
      figure = {
        caption = [[The key of token 3 (dashed) on its way to token 6, with an angle for each token.
          As in RoPE, with 25 degrees for each token, it would end elsewhere.]],
        draw = [[
          local list = {}
          ends = {}
          for i, of in ipairs{angles, fixed} do
            for m = i == 2 and 6 or 3, 6 do
              local g = product(of, m, 3)
              local x, y = g[1][1]:item(), g[2][1]:item()
              local turned = m > 3 and math.rad(i == 2 and -75 or -of[m]) or nil
              list[#list + 1] = {x, y, label = i == 2 and "RoPE" or "token " .. m,
                dashed = m == 3, turned = turned, quantity = "k"}
              ends[i] = math.deg(math.atan(y, x))
            end
          end
          return plot.arrows(list, {format = format})]],
        claims = { { "math.abs(ends[1] + 40) + math.abs(ends[2] + 75) < 1e-9",
          instead = { "m, 3)", "m, 2)" } } } } },
    { title = "Accumulate once, rotate once",
      text = [[
        Each pair of a query and a key has its own product, but no product needs to be computed.
        Add up the angles from the first token on: this sum is $Φ_t$. Rotate each query and each key
        once, by the sum of its token. The angles up to the key are in both sums and cancel.

        The check below proves this for two tokens after the key, with the angles $a$ and $b$; $f$
        is the accumulated angle of the key. An angle is any number, separate for each pair of
        features: trained, computed or random. For more tokens, apply the line repeatedly.]],
      formula = [[
        Φ_t &= Σ_{s≤t} α_s
        G_{m←n} &= R(-Φ_m) R(-Φ_n)^{-1} = R(Φ_n - Φ_m)
        q_m · G_{m←n} k_n &= (R(Φ_m) q_m) · (R(Φ_n) k_n)]],
      predict = {
        question = [[1000 tokens with other angles are inserted before a text. What happens to the
          scores between the tokens of the text?]],
        choices = { "They stay the same.", "They stay the same only if the 1000 angles are equal.",
          "They change, because all accumulated angles change." },
        expect = 1,
        answer = [[All accumulated angles grow by the same amount, the sum of the 1000 angles.
          $Φ_n - Φ_m$ does not change.]],
        hints = {
          { "it == 2", "Only their sum is added to the accumulated angles. To which of them?" },
          { "it == 3", "They change. Does the difference of two of them change?" },
          "Which tokens does $G_{m←n}$ contain?" } },
      identity = {
        "dot(rotate(q, f + a + b), rotate(k, f)) == dot(q, unrotate(unrotate(k, a), b))",
        wrong = {
          { "dot(rotate(q, f + a), rotate(k, f)) == dot(q, unrotate(unrotate(k, a), b))",
            source = "the angle of the query's own token left out" },
          { "dot(rotate(q, a + b), rotate(k, f)) == dot(q, unrotate(unrotate(k, a), b))",
            source = "the sum of the query begun at the key" },
          { "dot(rotate(q, f + a + b), rotate(k, f)) == dot(q, rotate(rotate(k, a), b))",
            source = "the key rotated forward" } } },
      code = [[
        q = roper.randn({1, 1, 8, 6}, "float64")
        k = roper.randn({1, 1, 8, 6}, "float64")
        alpha = roper.randn({1, 1, 8, 3}, "float64")  -- 8 tokens, 3 pairs
        phi = alpha:cumsum(3)
        function scores(phi)
          local keys = roper.rotate(k, phi):transpose(3, 4)
          return roper.rotate(q, phi):matmul(keys)[1][1]
        end
        moving = k:narrow(3, 2, 1)                    -- the key of token 2
        for t = 3, 7 do
          moving = roper.rotate(moving, -alpha:narrow(3, t, 1))
        end
        by_hand = (q:narrow(3, 7, 1) * moving):sum():item()
        off = math.abs(scores(phi)[7][2]:item() - by_hand)
        earlier = roper.randn({1000, 3}, "float64"):sum(1)
        moved = (scores(phi) - scores(phi + earlier)):abs():max():item()]],
      claims = {
        { "off < 1e-12", instead = { "for t = 3, 7", "for t = 2, 7" } },
        { "moved < 1e-10", instead = { "scores(phi + earlier)", "scores(phi * 2)" } } } },
    { title = "The content chooses the angles",
      text = [[
        Now compute the angle of a token from its input $x_t$, the features with which it enters the
        layer. In a model the weights $w$ are trained, with other weights for each pair
        ([Movahedi et al. 2026](arXiv:2511.17388), [Godavarti 2026](arXiv:2606.24975)). The content
        then chooses what is counted as distance. (The code of the first paper,
        [selective-rope](https://github.com/timurcarstensen/selective-rope), divides $x_t$ by its
        length, and has two maps and a convolution over the last tokens in place of $w$.)

        As an example, take one pair and texts of letters and blanks. A blank has the angle
        20 degrees and a letter 0. The score then depends on the number of words between query and
        key, and no longer on the number of characters. RoPE cannot do this: with RoPE, equal gaps
        have equal angles.]],
      formula = "α_t = w · x_t",
      predict = {
        question = [[The text is `"to be or not"`, with 12 characters. The key is the first
          character, and the query is the last. Both are the arrow $(1, 0)$. What is their score?]],
        expect = "math.cos(math.rad(60))",
        answer = [[There are 3 blanks on the way, so the angle is 60 degrees: $cos 60° = 0.5$. In
          `"to behold it"`, which also has 12 characters, there are 2, and the score is
          $cos 40° = 0.77$.]],
        hints = {
          { "math.abs(it - math.cos(math.rad(220))) < 0.01",
            "That is RoPE, with 20 degrees for each character." },
          { "math.abs(it - math.cos(math.rad(80))) < 0.01", "Those are the words. Count blanks." },
          { "math.abs(it - math.cos(math.rad(40))) < 0.01", "Count the blanks again." },
          { "math.abs(it - math.cos(60)) < 0.01",
            "`math.cos` takes radians: `math.cos(math.rad(60))` is the cosine of 60 degrees." },
          { "it == 60 or it == -60", "That is the angle in degrees. What is the score?" },
          "Only blanks have an angle. How many are there, and what do their angles add up to?" } },
      code = [[
        w = roper.tensor({0, math.rad(20)}, "float64")  -- letter, blank
        function inputs(text)
          local x = {}
          for sign in text:gmatch"." do
            x[#x + 1] = sign == " " and {0, 1} or {1, 0}
          end
          return roper.tensor(x, "float64")
        end
        function path(text) return (inputs(text) * w):sum(2):cumsum(1) end
        function match(text)              -- the first arrow with the last
          local phi = path(text)
          return math.cos((phi[1] - phi[#text]):item())
        end
        one, other = match("to be or not"), match("to behold it")
        one, other]],
      claims = {
        { "math.abs(one - math.cos(math.rad(60))) < 1e-12",
          instead = { "to be or not", "to be or 2 B" } },
        { "math.abs(other - math.cos(math.rad(40))) < 1e-12",
          instead = { "{0, math.rad(20)}", "{math.rad(20), math.rad(20)}" } } },
      figure = {
        caption = "The accumulated angle along the two texts: it grows at each blank.",
        draw = [[
          first = path("to be or not") * 180 / math.pi
          second = path("to behold it") * 180 / math.pi
          return plot.line({{y = first, label = "to be or not"},
            {y = second, label = "to behold it"}},
            {xlabel = "token", ylabel = "degrees", format = format})]],
        claims = { { "math.abs(first[12]:item() - 60) + math.abs(second[12]:item() - 40) < 1e-9",
          instead = { "to be or not", "to be or 2 B" } } } } },
    { title = "Random angles cancel in the mean",
      text = [[
        Let the angles of all tokens be random: independent, with the same distribution. Query and
        key do not depend on them. What is the mean score at distance $p$?

        Begin with one token. It rotates a unit arrow by $α$. In complex numbers, the result is
        $e^{iα}$. The mean of many such arrows is an arrow again. Its length $ρ$ is less than 1,
        unless all of them have the same direction. So in the mean, one token multiplies the length
        of an arrow by $ρ$.

        The mean of a product of independent factors is the product of their means. So $p$ tokens
        multiply the length by $ρ^p$, and this bounds the mean score. If the angles have a normal
        distribution with spread $σ$, then $ρ = e^{-σ²/2}$.

        With a fixed angle, as in each pair of RoPE, all draws have the same direction. Then
        $ρ = 1$, and nothing cancels.]],
      formula = [[
        ρ &= |E e^{iα}|
        |E e^{i(Φ_m - Φ_n)}| &= |E e^{iα_{n+1}}| ⋯ |E e^{iα_m}| = ρ^p
        |E (q · G_{m←n} k)| &≤ ρ^p |q| |k|   "for one pair"]],
      predict = {
        question = "A coin decides each angle: 60 degrees or -60 degrees. What is $ρ$?",
        expect = "math.cos(math.rad(60))",
        answer = [[The arrows are $(1/2, √3/2)$ and $(1/2, -√3/2)$. Their mean is $(1/2, 0)$, of
          length 1/2. After 10 tokens, the mean arrow has the length $1/1024$.]],
        hints = {
          { "it == 0", "That is the mean of the angles. What is the mean of the two arrows?" },
          { "it == 1", "Each arrow has length 1. How long is the mean of the two?" },
          { "math.abs(it - math.sin(math.rad(60))) < 0.01",
            "The sines of the two cancel. What is left?" },
          "Draw the two arrows. The mean is the point in the middle between their tips." } },
      code = [[
        rho = math.exp(-0.3 ^ 2 / 2)             -- sigma = 0.3
        function mean_length(alpha)              -- [draws, tokens]
          local phi = alpha:cumsum(2)
          local x, y = phi:cos():mean(1), phi:sin():mean(1)
          return (x:square() + y:square()):sqrt()
        end
        p = roper.arange(1, 151, 1, "float64")
        bound = (p * math.log(rho)):exp()
        random = mean_length(0.3 * roper.randn({10000, 150}, "float64"))
        off = (random - bound):abs():max():item()
        fixed = mean_length(roper.full({10, 150}, 0.3, "float64"))
        least = fixed:min():item()]],
      claims = {
        { "off < 0.05", instead = { "0.3 * roper.randn", "0.2 * roper.randn" } },
        { "least > 1 - 1e-12", instead = { "roper.full({10, 150}, 0.3,",
          "roper.rand({10, 150}," } } },
      figure = {
        caption = [[The length of the mean arrow over 10000 draws, by distance. It follows $ρ^p$
          down to about $1/√{10000} = 0.01$, the length that remains by chance with 10000 draws.
          With a fixed angle, as in RoPE, it remains 1.]],
        draw = [[
          measured, line = random, bound
          return plot.line({{x = p, y = measured, label = "random angles"},
            {x = p, y = line, label = "bound", thin = true},
            {x = p, y = fixed, label = "fixed angle"}},
            {xlabel = "distance p", ylabel = "length of the mean", logy = true,
             format = format})]],
        claims = {
          { "(measured - line):abs():max():item() < 0.05",
            instead = { "random, bound", "random:sqrt(), bound" } },
          { "math.abs(line[22]:item() * math.exp(1) - 1) < 0.02",
            instead = { "random, bound", "random, bound:sqrt()" } } } } },
    { title = "In one text: many pairs, and a limit",
      text = [[
        A text is a single draw. But a head has many pairs, each with its own angles, and a score is
        their sum. Take a query and a key of $d = 128$ ones, as in `relative-score`. At distance 0
        the score, divided by $√d$, is $√d = 11.3$. Far away, each of the 64 pairs contributes
        $2 cos$ of a random angle. The mean of $cos²$ is 1/2. So far scores have the mean 0 and the
        standard deviation 1. With RoPE the slow pairs have hardly rotated, and far scores remain
        higher.

        [Godavarti 2026](arXiv:2606.24975) proves more: products of accumulated orthogonal
        transformations that satisfy certain conditions become incoherent after finitely many steps,
        which suppresses attention to distant tokens. (We have read only the abstract of this paper.
        The bounds in this lesson are derived here and are not the paper's.)

        There is a limit. A far score is about 0, not minus infinity. Its token still counts
        $e^0 = 1$ in the softmax. If there are enough far tokens, they outweigh a near one with
        the score $s$. According to the abstract, no rotations avoid this unless something controls
        the total weight of the far tokens. ALiBi does ([Press et al. 2021](arXiv:2108.12409)): it
        subtracts a penalty that grows with the distance.]],
      formula = [["weight of the near token" = {e^s}/{e^s + F}]],
      predict = {
        question = [[A near token has the score 5, and $F$ far tokens have the score 0. For which
          $F$ is the weight of the near token 1/2?]],
        expect = "math.exp(5)",
        answer = [[$e^5 = 148$. With more tokens its weight is less than 1/2, even though every
          single far token has a small weight.]],
        hints = {
          { "it == 5", "Scores are exponents: the near token counts $e^5$." },
          { "it == 32 or it == 10 or it == 25", "The softmax uses the exponential, $e^s$." },
          "The near token counts $e^5$, and each far token counts $e^0$." } },
      code = [[
        d = 128
        tokens = roper.arange(1, 401, 1, "float64")
        phi = (0.3 * roper.randn({20, 400, d / 2}, "float64")):cumsum(2)
        rope = tokens:outer(roper.position.rope{dim = d}:thetas())
        rope = rope:unsqueeze(1)
        function score(phi) return 2 * phi:cos():sum(3) / d ^ 0.5 end
        function far(scores) return scores:narrow(2, 101, 300) end
        spread = far(score(phi)):square():mean():item() ^ 0.5   -- 20 texts
        least_rope = far(score(rope)):min():item()
        spread, least_rope
        both = roper.cat({roper.full({1}, 5), roper.zeros{148}}, 1)
        near = both:softmax(1)[1]:item()]],
      claims = {
        { "math.abs(spread - 1) < 0.1", instead = { "0.3 *", "0.03 *" } },
        { "least_rope > 2", instead = { "far(score(rope))", "far(score(phi))" } },
        { "math.abs(near - 0.5) < 0.01", instead = { "zeros{148}", "zeros{1480}" } } },
      figure = {
        caption = "The scores of 400 equal keys with one query, in one text.",
        draw = [[
          of_random, of_rope = score(phi)[1], score(rope)[1]
          return plot.line({{x = tokens, y = of_random, label = "random angles"},
            {x = tokens, y = of_rope, label = "RoPE"}},
            {xlabel = "distance p", ylabel = "score", format = format})]],
        claims = { { "of_rope:min():item() > 2 and of_random:min():item() < 0",
          instead = { "score(phi)[1], score(rope)[1]", "score(rope)[1], score(phi)[1]" } } } } },
    { title = "Values should travel, too",
      text = [[
        Many small weights add up. Let $F$ far tokens have the weight $1/F$ each, and let their
        values have a common part $u$. (Parts that differ at random cancel anyway.) If values are
        not rotated, the output contains $u$, however many tokens there are.

        Now rotate the values like the keys. This is RoPER
        ([Harik and Jayasiri 2022](https://research.labml.ai/RoPER.html)) with accumulated angles:
        rotate each value by its $Φ_n$, take the weighted sum, and rotate the result back by $Φ_m$.
        The check below proves the formula. In it, $c$ are the accumulated angles of the values,
        and $f$ is that of the query.

        Let the angles be random. The square of the length of the sum is a sum over pairs of far
        tokens. Two of them at distance $r$ contribute $ρ^r$ at most in the mean, as derived above.
        For each token these add up to less than $1 + 2ρ + 2ρ² + … = (1 + ρ)/(1 - ρ)$. So the sum
        gets shorter as $F$ grows. With RoPER's fixed angles, a common part cancels only in pairs
        that complete a turn. The slowest do not.

        The abstract of [Godavarti 2026](arXiv:2606.24975) agrees: for rotations, if values are
        rotated as well, the remaining contributions of far tokens combine incoherently, which
        extends the range.]],
      formula = [[
        o_m = Σ_n a_{m,n} G_{m←n} v_n = R(-Φ_m) Σ_n a_{m,n} R(Φ_n) v_n
        E |{1}/{F} Σ_n G_{m←n} u|² ≤ {1 + ρ}/{(1 - ρ) F} |u|²]],
      predict = {
        question = [[$F$ becomes 4 times as large. By which factor does the bound on the length of
          the sum change?]],
        expect = "1 / 2",
        answer = [[The square of the length is divided by 4, so the length is divided by 2. Without
          rotation it does not change.]],
        hints = {
          { "it == 1 / 4", "That is the square of the length." },
          { "it == 1", "That is without rotation." },
          { "it == 2 or it == 4", "$F$ is in the denominator." },
          "The formula bounds the square of the length." } },
      identity = { "unrotate(sum(w*rotate(v, c)), f) == sum(w*rotate(v, c - f))",
        wrong = {
          { "unrotate(sum(w*rotate(v, c)), f) == sum(w*rotate(v, f - c))",
            source = "values rotated the wrong way" },
          { "sum(w*rotate(v, c)) == sum(w*rotate(v, c - f))",
            source = "the output not rotated back" } } },
      code = [[
        counts = roper.tensor({1, 4, 16, 64, 256, 1024}, "float64")
        function remaining(phi)          -- [draws, 1024]: root mean square
          local list = {}
          for i, F in ipairs(counts:totable()) do
            local first = phi:narrow(2, 1, math.tointeger(F))
            local x, y = first:cos():mean(2), first:sin():mean(2)
            list[i] = (x:square() + y:square()):mean():item() ^ 0.5
          end
          return roper.tensor(list, "float64")
        end
        phi = (0.3 * roper.randn({500, 1024}, "float64")):cumsum(2)
        without = remaining(0 * phi)
        rotated = remaining(phi)
        slowest = roper.position.rope{dim = 128}:thetas()[64]:item()
        steps = roper.arange(1, 1025, 1, "float64"):view{1, 1024}
        by_roper = remaining(slowest * steps)
        limit = ((1 + rho) / (1 - rho) / counts):sqrt()
        rotated
        over = (rotated - limit):max():item()
        left = rotated[6]:item()]],
      claims = {
        { "over < 0.01", instead = { "0.3 *", "0.1 *" } },
        { "left < 0.25", instead = { "rotated = remaining(phi)", "rotated = without" } },
        { "without:min():item() == 1", instead = { "0 * phi", "phi" } },
        { "by_roper:min():item() > 0.9", instead = { "[64]", "[1]" } } },
      figure = {
        caption = [[The length of the mean of $F$ equal values, for one pair: as they are, rotated
          by accumulated random angles ($σ = 0.3$), with the bound, and rotated by the slowest
          pair of RoPER ($d = 128$).]],
        draw = [[
          as_are, random = without, rotated
          return plot.line({{x = counts, y = as_are, label = "not rotated"},
            {x = counts, y = random, label = "accumulated"},
            {x = counts, y = limit, label = "bound", thin = true},
            {x = counts, y = by_roper, label = "RoPER, slow"}},
            {xlabel = "far tokens F", ylabel = "length", logx = true, logy = true,
             format = format})]],
        claims = { { "as_are[6]:item() == 1 and random[6]:item() < 0.25",
          instead = { "without, rotated", "rotated, without" } } } } },
    { title = "Try it: the window",
      text = [[
        $ρ^p$ is $1/e$ after $-1/ln ρ$ tokens. Call this number the window $W$ of a pair. For normal
        angles it is $2/σ²$. It does not depend on the length of the text.

        Smaller angles give a longer window. If a scheme multiplies the angles of pair $t$ by RoPE's
        $θ_t$, the window of that pair is $1/θ_t²$ times as long.

        The code measures windows over 2000 draws. At the prompt, try other spreads, such as
        `window(0.4)`.]],
      formula = "W = -1 / ln ρ = 2 / σ²",
      code = [[
        function window(sigma)
          local tokens = math.ceil(4 / sigma ^ 2)
          local alpha = sigma * roper.randn({2000, tokens}, "float64")
          local is_over = mean_length(alpha):gt(math.exp(-1))
          return math.tointeger(is_over:sum():item())
        end
        spreads = {0.1, 0.15, 0.2, 0.3, 0.5}
        windows = {}
        for i, sigma in ipairs(spreads) do windows[i] = window(sigma) end
        windows
        expected = 2 / roper.tensor(spreads, "float64"):square()
        ratio = roper.tensor(windows, "float64") / expected
        off = (ratio - 1):abs():max():item()]],
      claims = { { "off < 0.2", instead = { "2 / roper", "1 / roper" } } },
      figure = {
        caption = "The window by the spread of the angles: measured, and $2/σ²$.",
        draw = [[
          measured = windows
          return plot.line({{x = spreads, y = measured, label = "measured"},
            {x = spreads, y = expected, label = "2/σ²", thin = true}},
            {xlabel = "spread σ", ylabel = "window", logy = true, format = format})]],
        claims = { { "math.abs(measured[3] - 50) < 8",
          instead = { "measured = windows", "measured = spreads" } } } },
      exercise = {
        question = "Set `sigma` to the spread with a window of 800 tokens.",
        check = "math.abs(2 / sigma ^ 2 - 800) < 8",
        sample = "sigma = 0.05",
        form = { "sigma = ___", { "0.0025", "0.025", "0.05", "0.1", "0.2" } },
        answer = "$2/0.05² = 800$. Half the spread gives 4 times the window.",
        hints = {
          { "sigma == nil", "Set the variable: `sigma = ...`." },
          { "sigma == 0.0025", "That is $σ²$." },
          { "sigma == 0.025", "The window of 0.1 is 200. Half the spread is 4 times the window." },
          "Solve $2/σ² = 800$ for $σ$." } } },
    { title = "In the library",
      text = [[
        The library has several of these schemes, such as `accumulated` and `selective`. A scheme of
        your own needs one method, `turns`, which returns the accumulated angle of each token.
        `accumulate` computes these sums, also if a cache holds the earlier tokens. Attention
        rotates queries, keys and values by them, and the output back.

        The code compares the scheme with the definition: `travel` applies the rotations one after
        the other to a key or a value. The weights $w$ of the angles are random here. In a model
        they are trained. If all tokens have the same input and its angles are $θ_t$, the scheme is
        RoPER.]],
      code = [[
        q = roper.randn({1, 1, 8, 6}, "float64")
        k = roper.randn({1, 1, 8, 6}, "float64")
        v = roper.randn({1, 1, 8, 6}, "float64")
        x = roper.randn({1, 8, 4}, "float64")        -- input of the layer
        w = roper.randn({4, 3}, "float64")
        roper.position.register("along", {
          state = {"angle"},
          turns = function(self, part, positions, x)
            local phi = positions:accumulate(self, "angle", x, function()
              return x:matmul(w)
            end):unsqueeze(2)
            local is_key = part == "k" or part == "v"
            return is_key and phi or positions:of_queries(phi, 3)
          end})
        options = {position = "along", input = x, causal = true}
        out = roper.attention(q, k, v, options)
        function travel(y, n, m)                     -- G_m ... G_{n+1} y_n
          local y, alpha = y:narrow(3, n, 1), x:matmul(w):unsqueeze(2)
          for t = n + 1, m do
            y = roper.rotate(y, -alpha:narrow(3, t, 1))
          end
          return y
        end
        keys, values = {}, {}                        -- at the query, token 8
        for n = 1, 8 do
          keys[n], values[n] = travel(k, n, 8), travel(v, n, 8)
        end
        keys, values = roper.cat(keys, 3), roper.cat(values, 3)
        by_hand = roper.attention(q:narrow(3, 8, 1), keys, values)
        off = (out:narrow(3, 8, 1) - by_hand):abs():max():item()
        w = roper.position.rope{dim = 6}:thetas():view{1, 3}
        options.input = roper.ones({1, 8, 1}, "float64")
        fixed = roper.attention(q, k, v, options)
        roped = roper.attention(q, k, v, {position = "roper", causal = true})
        same = (fixed - roped):abs():max():item()]],
      claims = {
        { "off < 1e-12", instead = { "travel(v, n, 8)", "v:narrow(3, n, 1)" } },
        { "same < 1e-12", instead = { '"roper"', '"rope"' } } },
      exercise = {
        question = [[A program rotates queries, keys and values by $Φ$, but does not rotate the
          output back. By which angle is the value $v_n$ rotated in the output?]],
        choices = { "by $Φ_n - Φ_m$", "by $Φ_n$", "by $-Φ_m$" },
        expect = 2,
        answer = [[$Φ_n$ is a sum from the first token on. So the output depends on tokens that are
          not between the value and the query: it is no longer relative.]],
        hints = {
          { "it == 1", "That is the angle if the output is rotated back." },
          { "it == 3", "That is the rotation that the program omits." },
          "How is a value rotated before the sum? What happens to it after?" } } },
  },
}
