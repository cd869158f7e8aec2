return roper.lesson {
  order = 11,
  title = "Common mistakes, and how shifting the text finds them",
  before = "You know what RoPER should compute (`relative-distance`).",
  after = "You can find seven mistakes with two numbers, before you train anything.",
  summary = "Find seven mistakes with two numbers, before any training.",
  minutes = 30,
  needs = { "general-form", "relative-distance" },
  notation = {
    { "R_m", "the rotation by position $m$; $R_{-m}$ rotates back" },
    { "m, n", "the positions of the query and of a key or value" },
    { "a_{m,n}", "the weight of value $n$ for the query at $m$; short: $a$" },
    { "v_n, o_m", "the value at $n$, the output at $m$" },
  },
  given = { v = "vectors", q = "vector", k = "vector", x = "vector",
    m = "position", n = "position", s = "position" },
  steps = {
    { title = "The test: shift the text",
      text = [[
        RoPER ([Harik and Jayasiri 2022](https://research.labml.ai/RoPER.html)) is a few lines of
        code. Each of them can contain a mistake, and the model may train all the same. Most of the
        mistakes below occurred in real programs. One test finds nearly all of them.

        An output that depends only on relative positions does not change if the whole text moves.
        So compute it with positions 0 to 5 and with positions 1000 to 1005, and compare. The
        largest difference is the residual of the shift. The test needs no known result and no
        trained model.

        Here is RoPER written out as programs do it. There are 6 tokens of 8 features; feature $t$
        and feature $t + 4$ are a pair. `turn` takes the cosines and sines of the angles. Rotating
        back changes only the sign of the sines. `a` contains RoPE's attention weights, and `shift`
        is the test. The mistakes that follow are small changes to this code.]],
      formula = "o_m = R_{-m} Σ_n a_{m,n} R_n v_n",
      code = [[
        q = roper.randn({6, 8}, "float64")
        k = roper.randn({6, 8}, "float64")
        v = roper.randn({6, 8}, "float64")
        theta = roper.position.rope{dim = 8}:thetas()
        function turn(x, c, s)
          local one, two = x:narrow(2, 1, 4), x:narrow(2, 5, 4)
          return roper.cat({one * c - two * s, two * c + one * s}, 2)
        end
        function angles(p) return p:outer(theta) end
        function rotate(x, p) return turn(x, angles(p):cos(), angles(p):sin()) end
        function unrotate(x, p) return turn(x, angles(p):cos(), -angles(p):sin()) end
        function weights(q, k)
          return (q:matmul(k:transpose(1, 2)) / math.sqrt(8)):softmax(2)
        end
        function apart(x, y) return (x - y):abs():max():item() end
        function positions(first) return roper.arange(first, first + 6, 1, "float64") end
        function shift(f, by) return apart(f(positions(0)), f(positions(by))) end
        function scores(p) return weights(rotate(q, p), rotate(k, p)) end
        a = scores(positions(0))
        function right(p) return unrotate(a:matmul(rotate(v, p)), p) end
        moved = shift(right, 1000)]],
      claims = { { "moved < 1e-12", instead = { "c - two * s", "c + two * s" } } } },
    { title = "Values rotated twice",
      text = [[
        Until 2024, labml's annotated implementation of RoPER
        ([Jayasiri 2022](https://nn.labml.ai/transformers/rope/value_pe/index.html)) rotated the
        values twice. One line rotated them, and the weighted sum a few lines later rotated them
        again. A reader asked whether this was intended ([issue
        251](https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/251)).
        The output was rotated back once, as it should be.]],
      formula = "o_m = R_{-m} Σ_n a_{m,n} R_n R_n v_n",
      predict = { question = "By how many positions in total is the value of $n$ rotated in $o_m$?",
        choices = { "$n - m$", "$2n - m$", "$2(n - m)$" }, expect = 2,
        hints = { { "it == 1", "That is RoPER: rotated once, and back once." },
          { "it == 3", "The values are rotated twice, but the output is rotated back only once." },
          "Rotations add up. Count those by $n$ and those by $-m$." },
        answer = [[By $2n - m$. That is not a distance: if the text is shifted by 1000, it grows by
          1000.]] },
      code = [[
        function twice(p) return unrotate(a:matmul(rotate(rotate(v, p), p)), p) end
        moved = shift(twice, 1000)]],
      claims = { { "moved > 0.1", instead = { "rotate(rotate(v, p), p)", "rotate(v, p)" } } },
      identity = { "unrotate(sum(a*rotate(rotate(v, n), n)), m) == sum(a*rotate(v, 2*n - m))",
        given = { a = "numbers", v = "vectors", m = "position", n = "positions" },
        wrong = { { "unrotate(sum(a*rotate(rotate(v, n), n)), m) == sum(a*rotate(v, n - m))",
          source = "as if it were relative" } } } },
    { title = "The output not rotated back",
      text = [[
        Without the last rotation, each value in the output is rotated by its own position $n$,
        which is not a distance. This mistake is easy to make in a program written for RoPE, which
        does not rotate the output. In 2026 it occurred in two programs for DeepSeek-V4, a model
        that rotates its values ([pull request 928 of
        Primus](https://github.com/AMD-AGI/Primus/pull/928), [pull request 186 of
        Atlas](https://github.com/Avarok-Cybersecurity/atlas/pull/186)). A reviewer of llama.cpp
        asked what the last rotation is for ([pull request
        24162](https://github.com/ggml-org/llama.cpp/pull/24162)).]],
      formula = "o_m = Σ_n a_{m,n} R_n v_n",
      predict = { question = [[The first pair has the frequency $θ = 1$. Shift the text by 3
          positions. By how many radians does this mistake rotate the first pair of the output?]],
        expect = "3",
        hints = { { "it == 0", "That is RoPER. Here nothing removes the position." },
          { "it == 6", "Values are rotated once, by their own position. How much does it grow?" },
          { "it == -3", "That is the rotation back, which this mistake leaves out." },
          "All positions grow by 3, and each value is rotated by its own position." },
        answer = "By 3, as all values are. With RoPER it would not change." },
      code = [[
        function forgotten(p) return a:matmul(rotate(v, p)) end
        moved = shift(forgotten, 1000)]],
      claims = { { "moved > 0.1", instead = { "a:matmul(rotate(v, p))", "a:matmul(v)" } } },
      figure = { caption = [[The first pair of the last output, with the text shifted by 0, 1, 2 and
          3. Not rotated back, it rotates by one radian per position. Rotated back, it is the same
          for all four.]],
        draw = [[
          local function pair_of(f, first)
            local o = f(positions(first))[6]
            return {o[1]:item(), o[5]:item()}
          end
          tips = {}
          for by = 0, 3 do
            tips[by + 1] = pair_of(forgotten, by)
            tips[by + 1].label, tips[by + 1].quantity = "by " .. by, "o"
          end
          tips[5] = pair_of(right, 3)
          tips[5].label, tips[5].quantity = "rotated back", "o"
          return plot.arrows(tips, {format = format})]],
        claims = {
          { "math.abs(tips[2][1] - tips[1][1] * math.cos(1) + tips[1][2] * math.sin(1)) < 1e-12",
            instead = { "pair_of(forgotten, by)", "pair_of(right, by)" } },
          { "math.abs(tips[5][1] - right(positions(0))[6][1]:item()) < 1e-12",
            instead = { "pair_of(right, 3)", "pair_of(forgotten, 3)" } } } } },
    { title = "The cosine negated too",
      text = [[
        Rotating back is rotating by $-m$. The cosine stays, $cos(-mθ) = cos mθ$, and the sine
        changes sign, $sin(-mθ) = -sin mθ$. It is an easy mistake to put a minus before both.]],
      formula = [[
        "right:"  R_{-m} = [cos mθ, sin mθ; -sin mθ, cos mθ]
        "wrong:"  [-cos mθ, sin mθ; -sin mθ, -cos mθ] ]],
      predict = { question = "What is the wrong matrix?",
        choices = { "$R_{-m}$ with a minus before it, $-R_{-m}$",
          "$R_m$ with a minus before it, $-R_m$", "not a rotation at all: it changes lengths" },
        expect = 2,
        hints = { { "it == 1", "$-R_{-m}$ would have $-sin mθ$ at the top right." },
          { "it == 3", "Square the two numbers of a column and add. Is the sum 1?" },
          "Take the minus out of all four numbers. Which sign do the two sines have then?" },
        answer = [[It is $-R_m$: a rotation forward, with a minus before it. The two rotations do
          not cancel but add up: $-R_m Σ_n a R_n v_n = -Σ_n a R_{n+m} v_n$. Lengths do not change,
          so the output looks normal.]] },
      code = [[
        function negated(x, p) return turn(x, -angles(p):cos(), -angles(p):sin()) end
        function no_inverse(p) return negated(a:matmul(rotate(v, p)), p) end
        moved = shift(no_inverse, 1000)
        kept = apart(negated(v, positions(0)):square():sum(2), v:square():sum(2))]],
      claims = {
        { "moved > 0.1", instead = { "-angles(p):cos()", "angles(p):cos()" } },
        { "kept < 1e-12", instead = { "-angles(p):cos(), ", "-angles(p):cos() / 2, " } } },
      identity = { "pair(x[2]*sin(m) - x[1]*cos(m), -x[2]*cos(m) - x[1]*sin(m)) == -rotate(x, m)",
        wrong = { { "pair(x[2]*sin(m) - x[1]*cos(m), -x[2]*cos(m) - x[1]*sin(m)) == rotate(x, -m)",
          source = "as if it were the inverse" } } } },
    { title = "Cached keys rotated twice",
      text = [[
        A model that generates text keeps the keys of earlier tokens in a cache. They were rotated
        before they were stored, so they are used as they are. A program that rotates the whole
        cache with each new token rotates a key again and again. After the second time the score
        depends on $2n - m$, which is not a distance. It is the same mistake as for the values, now
        in the keys. (In 2026 it was found in a review: [pull request 110 of
        Shainet](https://github.com/NeuraLegion/shainet/pull/110).)]],
      formula = "(R_m q) · (R_n R_n k) = q · R_{2n-m} k",
      code = [[
        function cached(p) return weights(rotate(q, p), rotate(rotate(k, p), p)) end
        moved = shift(cached, 1000)]],
      claims = { { "moved > 0.1", instead = { "rotate(rotate(k, p), p)", "rotate(k, p)" } } },
      figure = {
        caption = [[The weight of token 4 for the query of token 5, by the position of the first
          token. With keys rotated once it is constant; with keys rotated twice it is not.]],
        draw = [[
          starts, kept, wave = {}, {}, {}
          for s = 0, 60 do
            starts[s + 1] = s / 2
            kept[s + 1] = scores(positions(s / 2))[6][5]:item()
            wave[s + 1] = cached(positions(s / 2))[6][5]:item()
          end
          return plot.line({{x = starts, y = kept, label = "right"},
            {x = starts, y = wave, label = "twice"}}, {xlabel = "position of the first token",
            ylabel = "weight", format = format})]],
        claims = {
          { "math.max(table.unpack(kept)) - math.min(table.unpack(kept)) < 1e-12",
            instead = { "scores(", "cached(" } },
          { "math.max(table.unpack(wave)) - math.min(table.unpack(wave)) > 0.01",
            instead = { "cached(", "scores(" } } },
        play = { kind = "attention", beside = true,
          turns = { "qkvvo", "qkv", "qkvO", "qkkvo", "qkvo" },
          caption = [[The shift by hand: choose a mistake and move all tokens together. Do the
            weights stay the same? Does the output $o$? (Rotating the output forward gives the same
            as negated cosines, except for the minus.)]] } },
      identity = { "dot(rotate(q, m), rotate(rotate(k, n), n)) == dot(q, rotate(k, 2*n - m))",
        wrong = { { "dot(rotate(q, m), rotate(rotate(k, n), n)) == dot(q, rotate(k, n - m))",
          source = "as if it were relative" } } } },
    { title = "The opposite direction: harmless until weights are shared",
      text = [[
        Rotate both queries and keys in the opposite direction. Everything is still relative, only
        mirrored, and a model trained this way can learn the same. nanochat rotates this way, and a
        comment explains why it stays ([pull request
        489](https://github.com/karpathy/nanochat/pull/489)). But its weights cannot be used with
        code that rotates forward.

        If only one side is rotated in the opposite direction, the score depends on the sum of the
        positions.]],
      formula = "(R_{-m} q) · (R_{-n} k) = q · R_{m-n} k",
      code = [[
        function mirrored(p) return weights(unrotate(q, p), unrotate(k, p)) end
        moved = shift(mirrored, 1000)
        changed = apart(mirrored(positions(0)), scores(positions(0)))
        function one_side(p) return weights(unrotate(q, p), rotate(k, p)) end
        broken = shift(one_side, 1000)]],
      claims = {
        { "moved < 1e-12", instead = { "unrotate(k, p)", "rotate(k, p)" } },
        { "changed > 0.01", instead = { "unrotate(q, p), unrotate(k", "rotate(q, p), rotate(k" } },
        { "broken > 0.1", instead = { "unrotate(q, p), rotate(k", "rotate(q, p), rotate(k" } } },
      identity = { "dot(rotate(q, -m), rotate(k, -n)) == dot(q, rotate(k, m - n))",
        wrong = {
          { "dot(rotate(q, m), rotate(k, -n)) == dot(q, rotate(k, n - m))",
            source = "one side flipped" },
          { "dot(rotate(q, -m), rotate(k, -n)) == dot(q, rotate(k, n - m))",
            source = "as if not mirrored" } } } },
    { title = "Mixed pairings",
      text = [[
        There are two ways to pair features (`general-form`), and two ways to mix them up.

        First, weights that were trained with one pairing are run with code for the other. Second,
        queries and keys use different pairings. In 2023 the converter of llama.cpp reordered the
        queries of TinyLlama correctly, but not the keys ([pull request
        3364](https://github.com/ggml-org/llama.cpp/pull/3364)). The model wrote gibberish
        ([issue 24 of TinyLlama](https://github.com/jzhang38/TinyLlama/issues/24)).]],
      predict = { question = "Which of the two does the shift find?",
        choices = { "both", "only the first: other pairs in queries and keys alike",
          "only the second: other pairs in the keys alone", "neither" }, expect = 3,
        hints = {
          { "it == 4", "Take one pair of the query. Which pair of the key has the same angle?" },
          { "it == 1", [[With the same other pairs in both, is each pair of the query still compared
            with a pair of the key that has its frequency?]] },
          { "it == 2", "That is the one whose scores stay relative. Which one's do not?" },
          [[If both sides rotate the same pairs, the score depends only on distance, whatever the
            pairs are.]] },
        answer = [[Only the second. In the first case the scores are still relative, but they are
          not those that the model was trained with. So a second test is needed: known outputs for
          known weights. Take them from the program that trained the model, or from an oracle, a
          slow and simple program written directly from the definition.]] },
      code = [[
        rope = roper.position.rope{dim = 8}
        other = roper.position.rope{dim = 8, pairing = "interleaved"}
        function swapped(p) return weights(other:rotate(q, p), other:rotate(k, p)) end
        moved = shift(swapped, 1000)
        changed = apart(swapped(positions(0)), scores(positions(0)))
        function mixed(p) return weights(rotate(q, p), other:rotate(k, p)) end
        broken = shift(mixed, 1000)]],
      claims = {
        { "moved < 1e-12", instead = { "other:rotate(q, p), ", "rotate(q, p), " } },
        { "changed > 0.01", instead = { "scores(positions(0))", "swapped(positions(0))" } },
        { "broken > 0.1",
          instead = { "(rotate(q, p), other:", "(rotate(q, p), rope:" } } } },
    { title = "Angles in half precision",
      text = [[
        Models often use short number formats. float16 has 11 significant bits, bfloat16 has 8. If a
        whole model is converted to one of them, the angles are often converted, too. In 2023 a
        report on GPT-NeoX ([issue 1003](https://github.com/EleutherAI/gpt-neox/issues/1003)) looked
        at the angle of the second of 16 pairs at position 1857. It should be 1044.27 and was 1045.
        Between 1024 and 2048, float16 has only whole numbers.

        A small shift of the text changes little. A large shift changes a lot. So finding this
        mistake requires large positions. `precision` shows how to avoid it: compute the angles in
        float64 and round only their cosines and sines.]],
      predict = { question = [[From 512 to 1024, bfloat16 has only multiples of 4. To how many
          different numbers does it round the positions 1000, 1001, ... 1005?]],
        expect = "2",
        hints = { { "it == 6", "1001 is not a multiple of 4." },
          { "it == 1", "1003 is nearer to 1004 than to 1000." },
          "Round each to the nearest multiple of 4." },
        answer = [[To two, 1000 and 1004. (1002 is equally near to both, and is rounded to 1000.)
          Three of the six positions become equal, and so do the other three.]] },
      code = [[
        exact = 1857 * 10000 ^ (-2 / 32)
        function as(number, format)
          return roper.tensor({number}, "float64"):round_to(format)[1]:item()
        end
        in_16 = as(1857 * as(10000 ^ (-2 / 32), "float16"), "float16")
        exact, in_16
        positions(1000):round_to("bfloat16")
        function halved(format)
          return function(p)
            local w = p:round_to(format):outer(theta:round_to(format))
            w = w:round_to(format)
            local c, s = w:cos(), w:sin()
            return weights(turn(q, c, s), turn(k, c, s))
          end
        end
        near = shift(halved("float16"), 8)
        far = shift(halved("float16"), 2048)]],
      claims = {
        { "in_16 == 1045", instead = { '"float16"), "float16")', '"float16"), "bfloat16")' } },
        { "near < 1e-3", instead = { '"float16"), 8)', '"float16"), 4096)' } },
        { "far > 0.1", instead = { '"float16"), 2048)', '"float16"), 16)' } } },
      figure = {
        caption = [[The residual by the size of the shift. With bfloat16 the weights are wrong from
          256 on, with float16 from 2048 on.]],
        draw = [[
          series = {}
          for i, form in ipairs{"float64", "float16", "bfloat16"} do
            local f = i == 1 and scores or halved(form)
            series[i] = {x = {}, y = {}, label = form}
            for e = 0, 15 do
              series[i].x[e + 1] = 1 << e
              series[i].y[e + 1] = math.max(shift(f, 1 << e), 1e-17)
            end
          end
          return plot.line(series, {logx = true, logy = true, xlabel = "shifted by",
            ylabel = "residual", format = format})]],
        claims = {
          { "series[1].y[16] < 1e-9", instead = { "scores or", "twice or" } },
          { "series[2].y[1] < 1e-3 and series[2].y[12] > 0.1",
            instead = { "halved(form)", "scores" } },
          { "series[3].y[9] > 0.1 and series[2].y[9] < 0.01",
            instead = { '"float16", "bfloat16"', '"bfloat16", "float16"' } } } } },
    { title = "All mistakes compared",
      text = [[
        Count the digits that stay the same if the text is shifted by 1000. A residual of 1e-3
        leaves 3 digits.

        The correct code keeps nearly all digits of float64. So do the mirrored rotations and the
        other pairing, which no shift finds. Code that is not relative keeps no digit, and neither
        do angles in bfloat16. With angles in float16 two digits are left, because at position 1000
        their errors are still small.]],
      code = [[
        tests = {
          {"right", right}, {"mirrored", mirrored}, {"other pairing", swapped},
          {"float16 angles", halved "float16"},
          {"bfloat16 angles", halved "bfloat16"},
          {"values twice", twice}, {"not rotated back", forgotten},
          {"cosine negated", no_inverse}, {"cached keys twice", cached},
          {"pairings mixed", mixed}}
        function digits(f) return math.max(0, -math.log(shift(f, 1000), 10)) end
        digits(right), digits(halved "float16"), digits(twice)
        most = 0
        for i = 5, 10 do most = math.max(most, digits(tests[i][2])) end]],
      claims = {
        { "digits(right) > 12", instead = { "shift(f, 1000)", "shift(f, 1000) + 1" } },
        { "most < 1", instead = { "for i = 5", "for i = 4" } } },
      figure = { caption = "Digits that stay the same if the text is shifted by 1000.",
        draw = [[
          names, bars = {}, {}
          for i, test in ipairs(tests) do names[i], bars[i] = test[1], digits(test[2]) end
          return plot.bar(bars, {names = names, format = format})]],
        claims = { { "math.min(table.unpack(bars, 1, 3)) > 12 and bars[4] < 3",
          instead = { "digits(test[2])", "digits(right)" } } } } },
    { title = "A model learns despite a mistake",
      text = [[
        An additional rotation loses no information about a vector. So a model can learn to
        compensate for it at the positions that it is trained on.

        Below are two small models with the same seed: RoPER, and RoPER without rotating back. Both
        learn to repeat the letter two positions before, in rows of 32 random letters, in 100 steps.
        `loss` and `wrong` are their losses, which measure how wrong their predictions are. Guessing
        among four letters has the loss $ln 4 = 1.386$.

        Then both models answer 64 new rows, first at the positions 0 to 31 of the training and then
        at the positions 1000 to 1031. `accuracy` returns the share of right answers.

        This is one easy task and one seed. On a harder task the mistake can also make learning
        slower, as in the experiment `substring_index`. But without a correct program to compare
        with, that looks like a method that learns slowly.]],
      predict = {
        question = "Which of the two models can repeat the letters at the positions 0 to 31?",
        choices = { "both", "only RoPER", "neither" }, expect = 1,
        answer = [[Both answer all questions right, and their losses are nearly 0. Nothing in
          training suggests a mistake. At the positions from 1000 on, RoPER still answers all
          questions right, and the other model gives mostly wrong answers: in training, no value was
          rotated that far. The residual of the shift finds the mistake without training.]],
        hints = {
          { "it == 2", "Does an additional rotation lose information? Both train there." },
          { "it == 3", "RoPER can learn this. What could keep the other one from it?" },
          "Both are trained at these positions. Is any information lost?" } },
      code = [[
        function rows(count)                       -- and the letter two before
          local letters = roper.randint(0, 3, {count, 32})
          local answers = letters:roll(2, 2)
          answers[{{}, {1, 2}}] = -1               -- none for the first two
          return letters, answers
        end
        function trained(rotate)
          roper.seed(1)
          local model = roper.nn.Transformer{vocabulary = 4, d_model = 32,
            layers = 1, heads = 2, position = {type = "rope", rotate = rotate}}
          local adam, loss = roper.optim.Adam{rate = 1e-2}, nil
          for step = 1, 100 do
            local letters, answers = rows(16)
            model:zero_gradients()
            loss = roper.cross_entropy(model(letters), answers)
            loss:backward()
            adam:step(model:parameters())
          end
          return model, loss:item()
        end
        function accuracy(model, first)            -- the text begins at `first`
          roper.seed(2)
          local letters, answers = rows(64)
          local places = roper.arange(first, first + 32, 1, "float64"):expand{64, 32}
          local best = roper.no_grad(model, letters, nil, places):argmax(3) - 1
          return best:eq(answers):sum():item() / (64 * 30)
        end
        by_roper, loss = trained("qkvo")
        by_mistake, wrong = trained("qkv")
        loss, wrong
        accuracy(by_roper, 0), accuracy(by_mistake, 0)
        accuracy(by_roper, 1000), accuracy(by_mistake, 1000)]],
      claims = {
        { "wrong < 0.01", instead = { "1, 100", "1, 2" } },
        { "math.abs(loss - wrong) < 0.01", instead = { "loss:item()", "#rotate" } },
        { "accuracy(by_mistake, 0) > 0.99", instead = { "1, 100", "1, 2" } },
        { "accuracy(by_roper, 1000) > 0.99", instead = { '"qkvo"', '"qkv"' } },
        { "accuracy(by_mistake, 1000) < 0.5", instead = { '"qkv")', '"qkvo")' } } },
      figure = {
        caption = [[The accuracy of the two models, by the position at which the rows begin. Both
          were trained from position 0. RoPER answers all questions wherever the text begins; the
          model with the mistake fails after a large shift.]],
        draw = [[
          starts, of_roper, of_mistake = {}, {}, {}
          for e = 0, 10 do
            starts[e + 1] = 1 << e
            of_roper[e + 1] = accuracy(by_roper, 1 << e)
            of_mistake[e + 1] = accuracy(by_mistake, 1 << e)
          end
          return plot.line({{x = starts, y = of_roper, label = "RoPER"},
            {x = starts, y = of_mistake, label = "not rotated back"}},
            {logx = true, xlabel = "position of the first token", ylabel = "accuracy",
             yrange = {0, 1}, format = format})]],
        claims = {
          { "math.min(table.unpack(of_roper)) > 0.99",
            instead = { "accuracy(by_roper,", "accuracy(by_mistake," } },
          { "of_mistake[1] > 0.99 and of_mistake[11] < 0.5",
            instead = { "accuracy(by_mistake,", "accuracy(by_roper," } } } },
      exercise = {
        question = "Which two numbers would you put into a test to detect all such mistakes?",
        answer = [[The residual of the shift, also at large positions. And the difference from a
          slow and simple program that computes each $R_{n-m}$: here that is
          `roper.oracle.attention`. The first detects code that is not relative, the second the
          rest.]] } },
  },
}
