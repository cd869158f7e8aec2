return roper.lesson {
  order = 3,
  title = "Positions from a mask and from sine waves",
  before = [[You can explain why attention to all words of a text ignores their order
    (`why-position`). You know sine and cosine from school.]],
  after = [[You can say what a causal mask reveals about positions, how sine waves encode a
    distance, and which problem of added waves a rotation avoids.]],
  summary = "Read a position from a mask, and a distance from two waves.",
  minutes = 20,
  needs = { "why-position" },
  notation = {
    { "m, n", "two positions, counted from 0: those of a query and of a key" },
    { "x_m", "the vector of the token at position $m$" },
    { "p_m", "the pattern that is added to it" },
    { "d", "the number of features of a vector: $d/2$ pairs" },
    { "t", "the index of a pair, from 0" },
    { "θ_t", "the frequency of pair $t$, in radians per position" },
  },
  given = { m = "position", n = "position", k = "position" },
  steps = {
    { title = "A causal mask reveals something",
      text = [[
        A model that continues a text must not use later tokens. The causal mask hides them: the
        query of a token sees only that token and those before it. (In the code: `causal = true`.)

        The code below tries the mask twice. The first input is "Jane went to the movies, Jane went
        home", the sentence of `why-position`. The second is 6 tokens with the same query and the
        same key, so each query gives equal weights to all tokens that it sees. Only the values
        differ: the first token has the value 1, the others 0.]],
      formula = "o_m = {Σ_{n ≤ m} exp(q_m · k_n / √d) v_n}/{Σ_{j ≤ m} exp(q_m · k_j / √d)}",
      predict = {
        { question = "With the mask, do the two Janes still have the same output?",
          choices = { "Yes: the same word, the same query.",
            "No: the second Jane sees more tokens than the first." },
          expect = 2,
          answer = [[The first Jane sees only herself. The second also sees the five tokens before
            her.]],
          hints = { { "it == 1", "The query is the same. But which keys does each of them see?" },
            "Which keys does each of them see?" } },
        { question = [[Now take the second input, with equal weights, and count positions from 0.
            What is the output at position 3?]],
          expect = "1/4",
          answer = [[$1/4$. The token at position $m$ sees $m + 1$ tokens, and their mean is
            $1/(m + 1)$. So with the mask an output can reveal the position, and later parts of the
            model can learn to use it ([Haviv et al. 2022](arXiv:2203.16634)).]],
          hints = {
            { "math.abs(it - 1/3) < 0.01", "Position 0 counts as well: 0, 1, 2 and 3 are seen." },
            { "math.abs(it - 1/6) < 0.01", "That is without the mask. What does position 3 see?" },
            { "it == 1", "That is the sum of the values seen. The output is their mean." },
            { "it == 0", "That is its own value. It also sees the first token." },
            { "it == 4", "That is the number of tokens seen. Take the mean of their values." },
            "Which values does it see? Take their mean." } } },
      code = [[
        vectors = roper.randn{6, 8}       -- Jane, went, to, the, movies, home
        sentence = roper.tensor({{0, 1, 2, 3, 4, 0, 1, 5}}, "int32")
        x = vectors:embedding(sentence):view{1, 1, 8, 8}
        function janes(out)                        -- how far apart are they?
          return (out:narrow(3, 1, 1) - out:narrow(3, 6, 1)):abs():max():item()
        end
        apart = janes(roper.attention(x, x, x, {causal = true}))
        function first_of(count)                   -- the same query and key
          local same = roper.zeros{1, 1, count, 2}
          local first = roper.zeros{1, 1, count, 2}
          first[{1, 1, 1}] = 1
          return roper.attention(same, same, first, {causal = true})[1][1]
        end
        means = first_of(6):narrow(2, 1, 1):view{6}
        means
        off = (1 / means - roper.arange(1, 7)):abs():max():item()]],
      claims = {
        { "apart > 0.01", instead = { "(x, x, x, {causal = true})", "(x, x, x)" } },
        { "off < 1e-4", instead = { "first, {causal = true}", "first" } } },
      figure = {
        caption = [[The output at each of 50 positions. All tokens have the same query and key; the
          first has the value 1, the others 0. The curve falls steeply at the beginning and is
          nearly flat at the end: the mask distinguishes the first positions much better than later
          ones.]],
        draw = [[
          falling = first_of(50):narrow(2, 1, 1):view{50}
          return plot.line({x = roper.arange(0, 50), y = falling},
            {xlabel = "position m", ylabel = "output", format = format})]],
        claims = { { "math.abs(falling[50]:item() - 1 / 50) < 1e-6",
          instead = { "first_of(50):", "first_of(50):square():" } } } },
      exercise = {
        question = [[How useful is this clue at later positions? How much greater is the output at
          position 99 than at position 100? (Type a calculation, such as `1/2 - 1/3`.)]],
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
        The first transformer ([Vaswani et al. 2017](arXiv:1706.03762)) adds a pattern $p_m$ to the
        vector at position $m$. The numbers of a vector, its features, are taken in pairs. Pair $t$
        of the pattern is the sine and the cosine of an angle. From one position to the next this
        angle grows by $θ_t$, so the pairs are waves of different wavelengths. Together they
        identify the position.

        How similar are the patterns of $m$ and $n$? Compute their dot product. The second line
        below is the contribution of one pair: the addition formula of the cosine.

        The lessons check such a line, an identity, with random numbers and exactly
        (`checking-identities` shows how). In the check, `cos(m)` means $cos mθ$.]],
      formula = [[
        p_{m,2t} = sin(mθ_t)    p_{m,2t+1} = cos(mθ_t)    θ_t = 10000^(-2t/d)
        sin mθ sin nθ + cos mθ cos nθ = cos (m - n)θ]],
      predict = {
        question = [[The angle of a pair grows by 30 degrees per position. What does this pair
          contribute to the dot product of the patterns of positions 1005 and 1007?]],
        expect = "math.cos(math.rad(60))",
        answer = [[$cos 60° = 0.5$, the same as for positions 5 and 7. Only the distance matters.

          The paper of RoPE, RoFormer ([Su et al. 2021](arXiv:2104.09864), eq. 4), prints a $k$ on
          the right where the left has the position, its $i$. Taken literally, a pattern would not
          depend on its position, and the checked line would be false.]],
        hints = {
          { "math.abs(it - math.cos(2)) < 0.01 or math.abs(it - math.cos(60)) < 0.01",
            "`math.cos` takes radians: `math.cos(math.rad(60))` is the cosine of 60 degrees." },
          { "math.abs(it - math.cos(math.rad(30))) < 0.01",
            "That is the cosine of 30 degrees, but the positions are two apart." },
          { "it == 60 or it == -60", "That is the angle. What is its cosine?" },
          { "it == 1", "Only equal positions give 1." },
          "What is the angle $(m - n)θ$ here? What is its cosine?" } },
      code = [[
        wave = roper.position.sinusoidal{d_model = 64}
        function patterns(first, count)            -- p_m, a row for each m
          local m = roper.arange(first, first + count, 1, "float64")
          local nothing = roper.zeros({1, count, 64}, "float64")
          return wave:embed(nothing, m:view{1, count})[1]
        end
        near, far = patterns(0, 101), patterns(1000, 101)
        function similar(p) return (p * p[51]):sum(2) end   -- to the one inside
        off = (similar(near) - similar(far)):abs():max():item()]],
      claims = { { "off < 1e-10", instead = { "similar(far)", "similar(far * 2)" } } },
      identity = { "sin(m)*sin(n) + cos(m)*cos(n) == cos(m - n)",
        wrong = {
          { "sin(k)*sin(n) + cos(k)*cos(n) == cos(m - n)",
            source = "RoFormer, eq. 4: another letter" },
        } },
      figure = {
        caption = [[The dot product of the patterns of position 50 and of the positions 0 to 100,
          with 64 features. It is largest at position 50 itself, falls on both sides alike, and does
          not reach 0: the long waves are similar at all of these positions.]],
        draw = [[
          products = similar(near)
          return plot.line({x = roper.arange(0, 101), y = products},
            {xlabel = "position n", ylabel = "dot product", format = format})]],
        claims = {
          { "math.abs(products[51]:item() - 32) < 1e-9",
            instead = { "similar(near)", "similar(near) / 2" } },
          { "(products - products:flip(1)):abs():max():item() < 1e-9",
            instead = { "similar(near)", "similar(near:cumsum(1))" } },
          { "products:argmax():item() == 51 and products:min():item() > 0",
            instead = { "similar(near)", "-similar(near)" } } } } },
    { title = "Check a line yourself",
      text = [[
        You can copy each identity in these lessons, change it, and check it at the prompt of a
        lesson in a terminal. `roper.identity` takes the line as text, and `given`, a table with the
        kind of each name.

        The kinds are `"number"`, `"vector"`, `"matrix"`, `"position"` and `"angle"`. A plural, such
        as `"vectors"`, has one vector for each term of a sum. `notation` prints what the symbols of
        a lesson mean. `?roper.identity` lists all functions that a line can use.

        The code checks the line of the previous step, and then the same line with a wrong sign.
        `holds` is the result, and `counterexample` shows numbers for which the sides differ.]],
      predict = {
        question = [[The line with the wrong sign has the right side $cos(m + n)$. Which of these
          positions show that it is false?]],
        choices = { "$m = 0$, $n = 0$", "$m = 0$, $n = 1$", "$m = 1$, $n = 1$" },
        expect = 3,
        answer = [[For $m = n$ the left side is $sin² + cos² = 1$, and the right side is $cos 2θ$.
          If $m$ or $n$ is 0, both sides are the same, because $cos(-θ) = cos θ$.]],
        hints = {
          { "it == 1", "Both sides are $cos 0 = 1$ there." },
          { "it == 2", "The left side is $cos θ$ there. What is the right side?" },
          "Insert the two positions into both sides." } },
      code = [[
        given = {m = "position", n = "position"}
        right = roper.identity{"sin(m)*sin(n) + cos(m)*cos(n) == cos(m - n)",
          given = given}
        wrong = roper.identity{"sin(m)*sin(n) + cos(m)*cos(n) == cos(m + n)",
          given = given}
        right.holds, wrong.holds
        wrong.counterexample.values]],
      claims = {
        { "right.holds", instead = { "cos(m - n)", "cos(2*m - n)" } },
        { 'wrong.counterexample.values == "m = 1, n = 1"',
          instead = { "cos(m + n)", "cos(m + n + 1)" } } },
      exercise = {
        question = [[Complete this line with one sine, so that it holds:
          `roper.identity{"sin(m)*cos(n) - cos(m)*sin(n) == ...", given = given}`]],
        check = [[it.holds and it.sides[1].text == "sin(m)*cos(n) - cos(m)*sin(n)"
          and not it.sides[2].text:find("cos", 1, true)]],
        sample = [[
          roper.identity{"sin(m)*cos(n) - cos(m)*sin(n) == sin(m - n)", given = given}]],
        form = { [[roper.identity{"sin(m)*cos(n) - cos(m)*sin(n) == ___", given = given}]],
          { "sin(n - m)", "sin(m + n)", "sin(m - n)", "sin(m)*cos(n) - cos(m)*sin(n)" } },
        hints = {
          { "type(it) ~= 'table' or not it.sides", "Type the whole line, with `roper.identity`." },
          { "it.holds == false", [[The report shows a counterexample. Try $n = 0$: the left side is
            $sin m$. Then try $m = 0$.]] },
          { "it.holds", "That is true, but another line. Put a sine in place of the dots." },
          "Put the sine of a sum or a difference in place of the dots." },
        answer = [[`sin(m - n)`. For $m = 0$ both sides are $-sin nθ$, which excludes
          `sin(n - m)`.]] } },
    { title = "What added waves achieve, and what they do not",
      text = [[
        Add the pattern of its position to each token of the sentence. Now the two Janes are
        different vectors, so they have different outputs, also without a mask.

        Then let the same sentence begin at position 1000 instead of 0, as if other text came before
        it. All distances within the sentence stay the same. Does the output stay the same, too?

        As in `why-position`, query, key and value of a token are its vector, here $x_m + p_m$. The
        formula is the score of two tokens.]],
      formula = "(x_m + p_m) · (x_n + p_n) = x_m · x_n + x_m · p_n + p_m · x_n + p_m · p_n",
      predict = {
        question = "The sentence moves to position 1000. What happens to its outputs?",
        choices = { "They stay the same, because dot products of patterns depend on distances.",
          "They change." },
        expect = 2,
        answer = [[They change. The last term depends on the distance alone. But the two in the
          middle multiply a word with a pattern, and so depend on the position itself. The values
          also contain the pattern.

          So the same sentence has other outputs elsewhere in a text. The next lesson, `rotation`,
          rotates vectors instead. `relative-score` shows that their scores depend only on
          distances.]],
        hints = {
          { "it == 1", "That is true of $p_m · p_n$. What of $x_m · p_n$?" },
          "Which of the four terms contain only one position?" } },
      code = [[
        wave = roper.position.sinusoidal{d_model = 8}
        function output(first)                     -- the sentence from there on
          local m = roper.arange(first, first + 8, 1, "float64"):view{1, 8}
          local y = wave:embed(x:view{1, 8, 8}, m):view{1, 1, 8, 8}
          return roper.attention(y, y, y)
        end
        apart = janes(output(0))
        moved = (output(0) - output(1000)):abs():max():item()
        apart, moved]],
      claims = {
        { "apart > 0.01", instead = { "wave:embed(x:view{1, 8, 8}, m)", "x" } },
        { "moved > 0.01", instead = { "output(1000)", "output(0)" } } },
      figure = {
        caption = [[The first feature of the first Jane's output, by the position at which the
          sentence begins. With added waves it goes up and down. A method that depends only on
          distances would give a horizontal line.]],
        draw = [[
          starts, heights = {}, {}
          for s = 0, 60 do
            starts[s + 1], heights[s + 1] = s, output(s)[1][1][1][1]:item()
          end
          return plot.line({x = starts, y = heights},
            {xlabel = "position of the first token", ylabel = "output", format = format})]],
        claims = {
          { "math.max(table.unpack(heights)) - math.min(table.unpack(heights)) > 0.1",
            instead = { "output(s)", "output(0)" } } } } },
  },
}
