return roper.lesson {
  order = 1,
  title = "RoPE and RoPER in ten minutes",
  before = "You know sine and cosine from school, and have heard of attention.",
  after = [[You can say why RoPE rotates queries and keys and why RoPER also rotates values, and can
    write both in about ten lines.]],
  summary = "Drag a sentence, see what stays, and write both methods in ten lines.",
  minutes = 10,
  needs = {},
  notation = {
    { "m, n", "the positions of a query and of a key or value, counted from 0" },
    { "q, k, v", "the query, the key and the value of a token" },
    { "x · y", "the dot product, $x₁ y₁ + x₂ y₂ + …$" },
    { "R_m", "the rotation by the angle $mθ$; $θ$ is the angle per position" },
    { "a_{m,n}", "the weight of the value at $n$ in the output at $m$" },
  },
  given = { q = "vector", k = "vector", m = "position", n = "position" },
  steps = {
    { title = "The wish: scores that depend on distance",
      text = [[
        A language model splits a text into tokens, such as words. Attention gives each token two
        lists of numbers: a query, which describes what the token looks for, and a key, by which
        other tokens find it.

        Attention compares the query of one token with the key of another. Their score is a dot
        product: multiply number by number, and add up. It contains no positions, so "dog bites man"
        and "man bites dog" are the same to attention.

        A score should depend on how far apart two tokens are, wherever the text begins. RoPE
        achieves this by rotation.]],
      code = [[
        query = roper.tensor({2, 1}, "float64")
        key = roper.tensor({1.6, 0.4}, "float64")
        rope = roper.position.rope{dim = 2, frequencies = {0.15}}
        function dot(x, y) return (x * y):sum():item() end
        function score(m, n)  -- of the query at m and the key at n
          return dot(rope:rotate(query, m), rope:rotate(key, n))
        end
        score(6, 1), score(16, 11)  -- the same distance, the same score]],
      claims = { { "math.abs(score(6, 1) - score(16, 11)) < 1e-12",
        instead = { "rope:rotate(key, n)", "key" } } },
      figure = {
        caption = [[Dashed: a query at position 6 and a key at position 1, each rotated by 0.15
          radians (9 degrees) per position. Solid: both 10 positions later. The angle between them
          is the same, and so is their score.]],
        draw = [[
          local list = {}
          between = {}
          for i, s in ipairs{1, 11} do
            local q, k = rope:rotate(query, s + 5), rope:rotate(key, s)
            local x, y, x2, y2 = q[1]:item(), q[2]:item(), k[1]:item(), k[2]:item()
            between[i] = (math.atan(y, x) - math.atan(y2, x2)) % (2 * math.pi)
            local turned = i == 2 and 10 * 0.15 or nil
            list[#list + 1] = {x, y, dashed = i == 1, label = "query", quantity = "q",
              turned = turned}
            list[#list + 1] = {x2, y2, dashed = i == 1, label = "key", quantity = "k",
              turned = turned}
          end
          return plot.arrows(list, {format = format})]],
        claims = { { "math.abs(between[2] - between[1]) < 1e-12",
          instead = { "rope:rotate(key, s)", "key" } } },
        play = { kind = "sentence",
          vectors = { man = { q = { 2, 1 } }, dog = { k = { 1.6, 0.4 } } },
          caption = [[Two numbers per arrow. The query of "man" and the key of "dog" are those of
            the code; the others follow from the letters of a word, where a model would have
            learned them.]] } } },
    { title = "First try: the position as a number",
      text = [[
        Why rotate? Try something simpler first. Query and key describe the content of their tokens;
        append the position to each, as one more number. For a query $q$ at position $m$ and a key
        $k$ at position $n$, the dot product then also contains $m n$.

        Now move two tokens along the text, always 5 positions apart. Their score should stay the
        same.]],
      formula = "(q, m) · (k, n) = q · k + m n",
      predict = {
        question = [[At positions 6 and 1, the positions add $6 · 1 = 6$ to the score. How much do
          they add at positions 16 and 11, the same distance apart?]],
        expect = "16 * 11",
        answer = [[$16 · 11 = 176$. A product does not depend on the distance alone, and it grows
          without bound. Far into a text, it outweighs the content $q · k$.]],
        hints = { { "it == 6", "That would be right if only the distance mattered. Multiply." },
          { "it == 5", "That is the difference. A dot product multiplies." },
          { "it == 27", "That is the sum. A dot product multiplies." },
          { "it == 16 or it == 106", "Both positions grow by 10. Then multiply them." },
          "Multiply the two positions." } },
      code = [[
        function by_number(m, n) return m * n end
        by_number(6, 1), by_number(16, 11)
        growth = by_number(16, 11) - by_number(6, 1)]],
      claims = { { "growth == 170", instead = { "m * n", "m - n" } } },
      figure = {
        caption = [[What the positions add to the score of a query and a key, 5 positions apart,
          along the text. It should be flat.]],
        draw = [[
          starts, scores = {}, {}
          for n = 0, 24 do starts[n + 1], scores[n + 1] = n, by_number(n + 5, n) end
          return plot.line({x = starts, y = scores}, {xlabel = "position of the key",
            ylabel = "added", format = format})]],
        claims = { { "scores[25] == 29 * 24",
          instead = { "by_number(n + 5, n)", "by_number(n, n)" } } } } },
    { title = "Second try: binary digits",
      text = [[
        Write the position in binary, and append its digits: 7 is 0111, and 8 is 1000. Then nothing
        grows, because each digit is 0 or 1.

        How far apart are two positions? Count the digits that differ. (If 0 is written as $-1$,
        this count alone decides what the digits add to the score.) For neighbors, it should always
        be the same.]],
      predict = {
        question = "7 and 8 are neighbors. How many of their four digits differ?",
        expect = "differing(7, 8)",
        answer = [[All 4. But 6 and 7, also neighbors, differ in only 1 digit: 0110 and 0111. So do
          0 and 8, which are far apart. The digits jump, and do not show the distance.]],
        hints = { { "it == 1", "That is their distance. Compare 0111 and 1000 digit by digit." },
          { "it == 3", "The last three digits differ. Compare the first ones as well." },
          { "it == 0", "Then they would be equal. Compare 0111 and 1000 digit by digit." },
          "Write 0111 above 1000, and compare digit by digit." } },
      code = [[
        function differing(m, n)  -- how many binary digits differ
          local count, bits = 0, m ~ n  -- bits: a 1 for each that differs
          while bits > 0 do count, bits = count + bits % 2, bits // 2 end
          return count
        end
        differing(7, 8), differing(6, 7), differing(0, 8)]],
      claims = { { "differing(7, 8) == 4", instead = { "m ~ n", "m & n" } },
        { "differing(6, 7) == 1", instead = { "m ~ n", "m & n" } },
        { "differing(0, 8) == 1", instead = { "m ~ n", "m & n" } } },
      figure = {
        caption = [[The number of digits in which two neighbors differ, along the text. It should be
          flat.]],
        draw = [[
          starts, counts = {}, {}
          for n = 0, 24 do starts[n + 1], counts[n + 1] = n, differing(n + 1, n) end
          return plot.line({x = starts, y = counts}, {xlabel = "position of the first",
            ylabel = "digits", format = format})]],
        claims = { { "counts[1 + 6] == 1 and counts[1 + 7] == 4 and counts[1 + 15] == 5",
          instead = { "differing(n + 1, n)", "differing(n + 2, n)" } } } } },
    { title = "Third try: waves, added",
      text = [[
        The hand of a clock counts without jumps. Let it rotate by an angle $θ$ per position. Then
        its tip is at $p_m = (cos mθ, sin mθ)$. These two numbers are waves: smooth and bounded. By
        the addition formula of the cosine, $p_m · p_n$ depends only on the distance.

        The first transformer adds such waves to the vectors of its tokens
        ([Vaswani et al. 2017](arXiv:1706.03762)). Add them to query and key here. Then the score
        has four terms.]],
      formula = [[
        p_m · p_n = cos mθ cos nθ + sin mθ sin nθ = cos (m - n)θ
        (q + p_m) · (k + p_n) = q · k + q · p_n + p_m · k + p_m · p_n]],
      predict = {
        question = [[Both tokens move by 10 positions. Which terms on the right of the second line
          change?]],
        choices = { "none", "only $p_m · p_n$", "only $q · p_n$ and $p_m · k$",
          "all but $q · k$" },
        expect = 3,
        answer = [[$q · p_n$ contains $n$ alone, and $p_m · k$ contains $m$ alone: adding has mixed
          content and position. So the score of the same two tokens changes along the text.]],
        hints = { { "it == 1", "Does $q · p_n$ contain a distance, or a position?" },
          { "it == 2", "By the first line, that term depends on the distance, which stays." },
          { "it == 4", "By the first line, $p_m · p_n$ depends on the distance, which stays." },
          "A term stays if it contains no position, or only the distance $m - n$." } },
      code = [[
        function wave(m)
          return roper.tensor({math.cos(0.15 * m), math.sin(0.15 * m)}, "float64")
        end
        dot(wave(6), wave(1)), dot(wave(16), wave(11))
        function added(m, n) return dot(query + wave(m), key + wave(n)) end
        added(6, 1), added(16, 11)]],
      claims = {
        { "math.abs(dot(wave(6), wave(1)) - dot(wave(16), wave(11))) < 1e-12",
          instead = { "math.sin(0.15 * m)", "math.sin(0.3 * m)" } },
        { "math.abs(added(6, 1) - added(16, 11)) > 1", instead = {
          "dot(query + wave(m), key + wave(n))", "dot(query, key) + dot(wave(m), wave(n))" } } },
      figure = {
        caption = [[A query and a key, 5 positions apart, along the text. The product of the
          waves alone, $p_m · p_n$, is flat. The whole score is not.]],
        draw = [[
          starts, sums, waves = {}, {}, {}
          for n = 0, 50 do
            starts[n + 1], sums[n + 1] = n, added(n + 5, n)
            waves[n + 1] = dot(wave(n + 5), wave(n))
          end
          return plot.line({{x = starts, y = sums, label = "score"},
            {x = starts, y = waves, label = "waves alone"}},
            {xlabel = "position of the key", ylabel = "score", format = format})]],
        claims = {
          { "math.max(table.unpack(waves)) - math.min(table.unpack(waves)) < 1e-12",
            instead = { "wave(n + 5), wave(n)", "wave(n + 5), wave(0)" } },
          { "math.max(table.unpack(sums)) - math.min(table.unpack(sums)) > 2",
            instead = { "added(n + 5, n)", "dot(query, key)" } } } } },
    { title = "Rotation: nothing is added",
      text = [[
        So do not add the hand. Rotate the content as the hand rotates: the query by $mθ$, the key
        by $nθ$. This is RoPE ([Su et al. 2021](arXiv:2104.09864), eq. 13).

        A pair of numbers is an arrow. The dot product of two arrows is the product of their
        lengths, times the cosine of the angle between them. Rotations change no length. If both
        tokens move along the text, both arrows rotate alike: the angle between them stays.

        The formula rotates one pair by $mθ$ (`rotation` derives it). Longer vectors are split into
        pairs, each with its own $θ$. The score is the sum over all pairs.]],
      formula = "R_m [x; y] = [x cos mθ - y sin mθ; y cos mθ + x sin mθ]",
      code = [[
        long = roper.position.rope{dim = 8}  -- 8 numbers, 4 pairs
        q, k = roper.randn({8}, "float64"), roper.randn({8}, "float64")
        function long_score(m, n) return dot(long:rotate(q, m), long:rotate(k, n)) end
        long_score(6, 1), long_score(16, 11)]],
      claims = { { "math.abs(long_score(6, 1) - long_score(16, 11)) < 1e-12",
        instead = { "long:rotate(k, n)", "k" } } },
      figure = {
        caption = [[The query and the key of the step before, 5 positions apart, along the text.
          Their score goes up and down if waves are added, and is flat if they are rotated.]],
        draw = [[
          starts, rotated, sums = {}, {}, {}
          for n = 0, 50 do
            starts[n + 1], rotated[n + 1], sums[n + 1] = n, score(n + 5, n), added(n + 5, n)
          end
          return plot.line({{x = starts, y = rotated, label = "rotated"},
            {x = starts, y = sums, label = "waves added"}},
            {xlabel = "position of the key", ylabel = "score", format = format})]],
        claims = { { "math.max(table.unpack(rotated)) - math.min(table.unpack(rotated)) < 1e-12",
          instead = { "score(n + 5, n)", "score(n + 5, 0)" } } } } },
    { title = "The one line of algebra",
      text = [[
        Rotate both arrows back by $mθ$. The angle between them stays, and so does their score. The
        query is then back where it was. The key has been rotated $nθ$ forward and $mθ$ back: by
        $(n - m)θ$ in total. So only the difference of the positions is left.

        This line is checked below, with random numbers and exactly. The same line with $m - n$ is
        refuted.]],
      formula = "(R_m q) · (R_n k) = q · R_{n-m} k",
      identity = { "dot(rotate(q, m), rotate(k, n)) == dot(q, rotate(k, n - m))",
        wrong = { { "dot(rotate(q, m), rotate(k, n)) == dot(q, rotate(k, m - n))",
          source = "rotated the other way" } } },
      figure = {
        caption = [[The scores of a query and a key, each at positions 0 to 9. Along each diagonal
          stripe the distance is the same, and so is the score.]],
        draw = [[
          scores = {}
          for m = 0, 9 do
            scores[m + 1] = {}
            for n = 0, 9 do scores[m + 1][n + 1] = score(m, n) end
          end
          return plot.heatmap(scores, {first_row = 0, first_column = 0,
            xlabel = "position of the key", ylabel = "position of the query", format = format})]],
        claims = { { "math.abs(scores[1 + 9][1 + 4] - scores[1 + 5][1 + 0]) < 1e-12",
          instead = { "score(m, n)", "score(m, 2 * n)" } } },
        play = { kind = "attention", beside = true, has_output = false, turns = { "", "q", "qk" },
          positions = { 4, 9 }, query = { 2, 1 }, keys = { { 1.6, 0.4 }, { 0.4, 1.6 } },
          values = { { 1, 0 }, { 0, 1 } },
          caption = [[Two tokens; b is the query. Drag a: its score changes with the distance. Move
            both together: the scores stay. Choose "only queries" and move both again: now the
            scores change.]] } },
      exercise = {
        question = [[Let $θ$ be 20 degrees. Query and key are both the arrow $(1, 0)$, the query at
          position 41 and the key at position 44. What is their score?]],
        expect = "math.cos(math.rad(60))",
        answer = [[0.5. They are 3 positions apart, so the angle between them is 60 degrees, and
          $cos 60° = 0.5$.]],
        hints = {
          { "math.abs(it - math.cos(3)) < 0.01 or math.abs(it - math.cos(60)) < 0.01",
            "`math.cos` takes radians: `math.cos(math.rad(60))` is the cosine of 60 degrees." },
          { "math.abs(it - math.cos(math.rad(20))) < 0.01",
            "That is the cosine of 20 degrees, but they are 3 positions apart." },
          { "math.abs(it - math.cos(math.rad(100))) < 0.01"
            .. " or math.abs(it - math.cos(math.rad(160))) < 0.01",
            "Both arrows are rotated. How large is the angle between them?" },
          { "math.abs(it - math.sin(math.rad(60))) < 0.01", "That is the sine." },
          { "it == 60 or it == -60", "That is the angle between them. What is its cosine?" },
          { "it == 1", "That would be right at equal positions." },
          "By how many degrees more is the key rotated than the query?" } } },
    { title = "RoPER: the values, too",
      text = [[
        Each token also has a third list of numbers, its value $v_n$: what it passes on. Attention
        turns the scores of a query into weights $a_{m,n}$ between 0 and 1 with the sum 1, by the
        softmax (`why-position`). The output is the sum of the values, each multiplied by its
        weight.

        RoPE leaves the values as they are. RoPER
        ([Harik and Jayasiri 2022](https://research.labml.ai/RoPER.html)) rotates each value by its
        position $n$, and rotates their sum back by the position $m$ of the query. Rotating a sum
        rotates each of its terms. So each value enters the output rotated by its distance, $n - m$.

        What is that good for? Let two words with the same weight change places. The sum of their
        values stays, so RoPE's output cannot tell the two orders apart. Rotated by their distances,
        the same values have another sum: `told` is the difference. (`why-values` has whole
        sentences of this kind. In RoPER's study and in this project's comparison, rotated values
        helped on some algorithmic tasks; the project's README.md has the results.)]],
      formula = "o_m = R_{-m} Σ_n a_{m,n} R_n v_n = Σ_n a_{m,n} R_{n-m} v_n",
      code = [[
        plane = roper.position.rope{dim = 2, frequencies = {math.pi / 4}}
        values = roper.tensor({{3, 2}, {1, 3}, {-1, 4}}, "float64")
        weights = roper.tensor({{0.5}, {0.3}, {0.2}}, "float64")
        forward = weights * plane:rotate(values, {0, 1, 2})
        output = plane:unrotate(forward:sum(1), 2)  -- the query is at 2
        by_distance = weights * plane:rotate(values, {-2, -1, 0})
        off = (by_distance:sum(1) - output):abs():max():item()
        function both(x, y)  -- at the distances -2 and -1, with the same weight
          return (plane:rotate(x, -2) + plane:rotate(y, -1)) / 2
        end
        told = (both(values[1], values[2]) - both(values[2], values[1])):abs():max():item()]],
      claims = { { "off < 1e-12", instead = { "forward:sum(1), 2", "forward:sum(1), 1" } },
        { "told > 0.5", instead = { "plane:rotate(x, -2) + plane:rotate(y, -1)", "x + y" } } },
      identity = { "unrotate(sum(a*rotate(v, n)), m) == sum(a*rotate(v, n - m))",
        given = { a = "numbers", v = "vectors", m = "position", n = "positions" },
        wrong = { { "sum(a*rotate(v, n)) == sum(a*rotate(v, n - m))",
          source = "not rotated back" } } },
      figure = {
        caption = [[Three values, multiplied by their weights and added up, tip to tail; $θ$ is 45
          degrees, and the query is at 2. Dashed: rotated by their positions. Solid: rotated by
          their distances. The dashed sum, rotated back along the thin line, is the solid sum.]],
        draw = [[
          local list = {}
          local function chain(links, is_dashed)
            local x, y = 0, 0
            for i, link in ipairs(links:totable()) do
              list[#list + 1] = {link[1], link[2], from = {x, y}, dashed = is_dashed,
                label = "token " .. i - 1, quantity = "v", turned = not is_dashed and -math.pi / 2
                or nil, about = {0, 0}}
              x, y = x + link[1], y + link[2]
            end
            return {x, y}
          end
          first, second = chain(forward, true), chain(by_distance, false)
          sum, out = forward:sum(1):totable(), output:totable()
          list[#list + 1] = {sum[1], sum[2], dashed = true, label = "sum", quantity = "o"}
          list[#list + 1] = {out[1], out[2], turned = -math.pi / 2, label = "output",
            quantity = "o"}
          return plot.arrows(list, {format = format})]],
        claims = {
          { "math.abs(first[1] - sum[1]) + math.abs(first[2] - sum[2]) < 1e-12",
            instead = { "chain(forward", "chain(by_distance" } },
          { "math.abs(second[1] - out[1]) + math.abs(second[2] - out[2]) < 1e-12",
            instead = { "chain(by_distance", "chain(forward" } } },
        play = { kind = "attention", beside = true, turns = { "qk", "qkv", "qkvo" },
          caption = [[Second circle: the values, rotated (thin), and multiplied by their weights
            (thick, tip to tail). Their sum is ô. Third circle: the same, rotated back, which gives
            the output o. Move all tokens together: o stays. Choose "output not rotated back" and
            move them again: o changes.]] } },
      exercise = {
        question = [[Leave out the last rotation, $R_{-m}$, and move the whole text by 100
          positions. What happens to the output?]],
        choices = { "Nothing: the weights depend only on distances.",
          "It is rotated by 100 positions more.",
          "It becomes the output of RoPE." },
        expect = 2,
        answer = [[The weights stay, but each value is rotated by 100 positions more, and so is
          their sum. $R_{-m}$ removes this, because $m$ has grown by 100, too.]],
        hints = {
          { "it == 1", "The weights stay. What about $R_n v_n$?" },
          { "it == 3", "In RoPE the values are not rotated. Here they still are, by $R_n$." },
          "By how much does each $n$ grow?" } } },
    { title = "All of it in about ten lines",
      text = [[
        `scores` is RoPE, and `output` is RoPER. The lines after them try both on three tokens, at
        positions 0 to 2 and then at 100 to 102: the results are the same. Each token has four
        numbers; the first and the third are a pair, the second and the fourth another. `theta`
        contains the angle per position of each pair (`general-form`), and `m:outer(theta)` all
        products of a position and such an angle. The scores are divided by 2, the square root of 4
        (`why-position`).

        To go on, `rotation` begins with one arrow on paper, and `why-position` with attention
        itself. `relative-distance` derives RoPER line by line. `families` compares other methods.
        ]],
      code = [[
        theta = 10000 ^ (-roper.arange(0, 2, 1, "float64") / 2)
        function rotate(x, m)  -- row i of x by position m[i]
          local a, b = x:narrow(2, 1, 2), x:narrow(2, 3, 2)
          local cos, sin = m:outer(theta):cos(), m:outer(theta):sin()
          return roper.cat({a * cos - b * sin, b * cos + a * sin}, 2)
        end
        function scores(m)  -- RoPE
          return rotate(q, m):matmul(rotate(k, m):transpose(1, 2)) / 2
        end
        function output(m)  -- RoPER
          return rotate(scores(m):softmax(2):matmul(rotate(v, m)), -m)
        end
        x = roper.arange(0, 12, 1, "float64"):view{3, 4}
        q, k, v = x:sin(), x:cos(), (2 * x):sin()
        m = roper.arange(0, 3, 1, "float64")
        scores(m)[3], scores(m + 100)[3]
        output(m)[3], output(m + 100)[3]
        moved = (output(m) - output(m + 100)):abs():max():item()
        function heads(x) return x:view{1, 1, 3, 4} end
        library = roper.attention(heads(q), heads(k), heads(v), {position = "roper"})
        off = (heads(output(m)) - library):abs():max():item()]],
      claims = { { "moved < 1e-12", instead = { "rotate(v, m)), -m)", "rotate(v, m)), m)" } },
        { "off < 1e-12", instead = { "rotate(v, m)", "v" } } },
      python = [[
        import torch
        torch.set_default_dtype(torch.float64)

        theta = 10000 ** (-torch.arange(2) / 2)
        def rotate(x, m):  # row i of x by position m[i]
            a, b = x.chunk(2, dim=1)
            cos, sin = torch.outer(m, theta).cos(), torch.outer(m, theta).sin()
            return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=1)
        def scores(m):  # RoPE
            return rotate(q, m) @ rotate(k, m).T / 2
        def output(m):  # RoPER
            return rotate(scores(m).softmax(1) @ rotate(v, m), -m)

        x = torch.arange(12.0).view(3, 4)
        q, k, v = x.sin(), x.cos(), (2 * x).sin()
        m = torch.arange(3.0)
        print(scores(m)[2])  # 0.4147, -0.3813, -0.0337
        print(scores(m + 100)[2])  # the same
        print(output(m)[2])  # -0.3994, 0.0876, 0.1874, 0.0699
        print(output(m + 100)[2])  # the same]] },
  },
}
