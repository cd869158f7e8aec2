return roper.lesson {
  order = 6,
  title = "Mistakes in turning, and how a shift of the text finds them",
  before = "You know what RoPER should compute (`relative-distance`).",
  after = "You can find seven mistakes by two numbers, before anything is trained.",
  minutes = 30,
  needs = { "relative-distance" },
  notation = {
    { "R_n", "the turn by position $n$; $R_{-n}$ turns back" },
    { "n, i", "the positions of the query and of the values" },
    { "m, n", "the positions of query and key, where there are no values" },
    { "a_{n,i}", "the weight of value $i$ for the query at $n$; short: $a$" },
    { "v_i, o_n", "the value at $i$, the output at $n$" },
  },
  given = { v = "vectors", q = "vector", k = "vector", x = "vector", i = "positions",
    m = "position", n = "position", s = "position" },
  steps = {
    { title = "The test: shift the text",
      text = [[
        RoPER is a few lines of code. Each of them can be wrong, and a model that has such a mistake
        in it may still train. Real programs had most of the mistakes below. One test finds nearly
        all of them.

        What is relative does not change when the whole text moves. So compute with positions 0 to
        5, compute with 1000 to 1005, and compare. The largest difference is the residual of the
        shift. No known result is needed for that, and no trained model.

        Here is RoPER written out, as one finds it in programs. There are 6 tokens of 8 features;
        feature $t$ and feature $t + 4$ are a pair. `turn` takes the cosines and sines of the
        angles. To turn back, only the sines change their sign. `a` are RoPE's weights. `shift` is
        the test. The mistakes that follow are small changes to this code.]],
      formula = "o_n = R_{-n} Σ_i a_{n,i} R_i v_i",
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
        function places(first) return roper.arange(first, first + 6, 1, "float64") end
        function shift(f, by) return apart(f(places(0)), f(places(by))) end
        function scores(p) return weights(rotate(q, p), rotate(k, p)) end
        a = scores(places(0))
        function right(p) return unrotate(a:matmul(rotate(v, p)), p) end
        moved = shift(right, 1000)]],
      claims = { { "moved < 1e-12", instead = { "c - two * s", "c + two * s" } } } },
    { title = "Values turned twice",
      text = [[
        labml's implementation of RoPER turned the values twice until 2024. One line turned them,
        and the sum, some lines later, turned them again. A reader asked whether that was meant
        (issue 251). The output was turned back once, as it should be.]],
      formula = "o_n = R_{-n} Σ_i a_{n,i} R_i R_i v_i",
      predict = { question = "By how many positions in all is the value of $i$ turned in $o_n$?",
        choices = { "$i - n$", "$2i - n$", "$2(i - n)$" }, expect = 2,
        hints = { { "it == 1", "That is RoPER: turned once, and back once." },
          { "it == 3", "The values are turned twice, but the output is turned back only once." },
          "Turns add up. Count those by $i$ and those by $-n$." },
        answer = [[By $2i - n$. That is no distance: shift the text by 1000, and it grows by
          1000.]] },
      code = [[
        function twice(p) return unrotate(a:matmul(rotate(rotate(v, p), p)), p) end
        moved = shift(twice, 1000)]],
      claims = { { "moved > 0.1", instead = { "rotate(rotate(v, p), p)", "rotate(v, p)" } } },
      identity = { "unrotate(sum(a*rotate(rotate(v, i), i)), n) == sum(a*rotate(v, 2*i - n))",
        given = { a = "numbers", v = "vectors", i = "positions", n = "position" },
        wrong = { { "unrotate(sum(a*rotate(rotate(v, i), i)), n) == sum(a*rotate(v, i - n))",
          source = "as if it were relative" } } } },
    { title = "The output not turned back",
      text = [[
        Without the turn at the end each value arrives turned by its own position $i$. That is a
        place in the text, not a distance. This is easy to miss in a program that had RoPE before,
        where the output is left alone. It was missed in 2026 in two programs for DeepSeek-V4, a
        model that turns its values. (Pull requests 928 of Primus and 186 of Atlas tell of it.)]],
      formula = "o_n = Σ_i a_{n,i} R_i v_i",
      predict = { question = [[The first pair has the speed $θ = 1$. Shift the text by 3 positions.
          By how many radians does that turn the first pair of the output, with this mistake?]],
        expect = "3",
        hints = { { "it == 0", "So it is with RoPER. But here nothing takes the position out." },
          "All positions grow by 3, and each value turns by its own position." },
        answer = "By 3, as all values do. With RoPER it would stay." },
      code = [[
        function forgotten(p) return a:matmul(rotate(v, p)) end
        moved = shift(forgotten, 1000)]],
      claims = { { "moved > 0.1", instead = { "a:matmul(rotate(v, p))", "a:matmul(v)" } } },
      figure = { caption = [[The first pair of the last output, the text shifted by 0, 1, 2, 3: not
          turned back it goes round, by one radian for each position. Dashed: turned back, it stays
          in all four.]],
        draw = [[
          local function pair_of(f, first)
            local o = f(places(first))[6]
            return {o[1]:item(), o[5]:item()}
          end
          tips = {}
          for by = 0, 3 do
            tips[by + 1] = pair_of(forgotten, by)
            tips[by + 1].label = "by " .. by
          end
          tips[5] = pair_of(right, 3)
          tips[5].label, tips[5].dashed = "turned back", true
          return plot.arrows(tips, {format = format})]],
        claims = {
          { "math.abs(tips[2][1] - tips[1][1] * math.cos(1) + tips[1][2] * math.sin(1)) < 1e-12",
            instead = { "pair_of(forgotten, by)", "pair_of(right, by)" } },
          { "math.abs(tips[5][1] - right(places(0))[6][1]:item()) < 1e-12",
            instead = { "pair_of(right, 3)", "pair_of(forgotten, 3)" } } } } },
    { title = "The cosine negated too",
      text = [[
        To turn back is to turn by $-n$. The cosine stays, $cos(-nθ) = cos nθ$, and the sine changes
        its sign, $sin(-nθ) = -sin nθ$. It is easy to put a minus before both.]],
      formula = [[
        "right:"  R_{-n} = [cos nθ, sin nθ; -sin nθ, cos nθ]
        "wrong:"  [-cos nθ, sin nθ; -sin nθ, -cos nθ] ]],
      predict = { question = "What is the wrong matrix?",
        choices = { "$R_{-n}$ with a minus before it, $-R_{-n}$",
          "$R_n$ with a minus before it, $-R_n$", "no turn at all: it changes lengths" },
        expect = 2,
        hints = { { "it == 1", "$-R_{-n}$ would have $-sin nθ$ at the top right." },
          "Take the minus out of all four numbers. Which way do the sines turn then?" },
        answer = [[It is $-R_n$: a turn forward, and a minus before all. The two turns do not
          cancel. They add up: $-R_n Σ_i a R_i v_i = -Σ_i a R_{i+n} v_i$. No length changes, so
          nothing looks odd.]] },
      code = [[
        function negated(x, p) return turn(x, -angles(p):cos(), -angles(p):sin()) end
        function no_inverse(p) return negated(a:matmul(rotate(v, p)), p) end
        moved = shift(no_inverse, 1000)
        kept = apart(negated(v, places(0)):square():sum(2), v:square():sum(2))]],
      claims = {
        { "moved > 0.1", instead = { "-angles(p):cos()", "angles(p):cos()" } },
        { "kept < 1e-12", instead = { "-angles(p):cos(), ", "-angles(p):cos() / 2, " } } },
      identity = { "pair(x[2]*sin(m) - x[1]*cos(m), -x[2]*cos(m) - x[1]*sin(m)) == -rotate(x, m)",
        wrong = { { "pair(x[2]*sin(m) - x[1]*cos(m), -x[2]*cos(m) - x[1]*sin(m)) == rotate(x, -m)",
          source = "as if it were the inverse" } } } },
    { title = "Cached keys turned twice",
      text = [[
        A model that writes keeps the keys of the tokens before in a cache. They were turned when
        they came in. So they are used as they are. A program that turns the whole cache with each
        new token turns a key again and again. After the second time the score depends on $2n - m$,
        which is no distance. It is the mistake of the values once more, in the keys. (In 2026 it
        was found in the review of pull request 110 of Shainet.)]],
      formula = "(R_m q) · (R_n R_n k) = q · R_{2n-m} k",
      code = [[
        function cached(p) return weights(rotate(q, p), rotate(rotate(k, p), p)) end
        moved = shift(cached, 1000)]],
      claims = { { "moved > 0.1", instead = { "rotate(rotate(k, p), p)", "rotate(k, p)" } } },
      figure = {
        caption = [[The weight that token 5 gives to token 4, by where the text begins. With keys
          turned once it stays; with keys turned twice it does not.]],
        draw = [[
          starts, kept, wave = {}, {}, {}
          for s = 0, 60 do
            starts[s + 1] = s / 2
            kept[s + 1] = scores(places(s / 2))[6][5]:item()
            wave[s + 1] = cached(places(s / 2))[6][5]:item()
          end
          return plot.line({{x = starts, y = kept, label = "right"},
            {x = starts, y = wave, label = "twice"}}, {xlabel = "position of the first token",
            ylabel = "weight", format = format})]],
        claims = {
          { "math.max(table.unpack(kept)) - math.min(table.unpack(kept)) < 1e-12",
            instead = { "scores(", "cached(" } },
          { "math.max(table.unpack(wave)) - math.min(table.unpack(wave)) > 0.01",
            instead = { "cached(", "scores(" } } },
        play = { kind = "attention", turns = { "qkvvo", "qkv", "qkvO", "qkkvo", "qkvo" },
          caption = [[The shift by hand: choose a mistake and move all together. Do the weights
            stay? Does the output $o$? (The output turned forward is what negated cosines give, but
            for the minus.)]] } },
      identity = { "dot(rotate(q, m), rotate(rotate(k, n), n)) == dot(q, rotate(k, 2*n - m))",
        wrong = { { "dot(rotate(q, m), rotate(rotate(k, n), n)) == dot(q, rotate(k, n - m))",
          source = "as if it were relative" } } } },
    { title = "Turned the other way: no mistake, until weights are shared",
      text = [[
        Turn both queries and keys the other way. Then all is relative still, only mirrored. A model
        trained so can learn the same. nanochat turns that way, and a comment on its pull request
        489 says why that stays. But its weights are of no use to code that turns forward.

        Turn only one side the other way, and the score depends on the sum of the positions.]],
      formula = "(R_{-m} q) · (R_{-n} k) = q · R_{m-n} k",
      code = [[
        function mirrored(p) return weights(unrotate(q, p), unrotate(k, p)) end
        moved = shift(mirrored, 1000)
        changed = apart(mirrored(places(0)), scores(places(0)))
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
    { title = "Pairings mixed",
      text = [[
        There are two ways to pair features (`general-form`). So there are two ways to go wrong.

        First: weights that were trained with the one pairing are run by code for the other. Second:
        queries and keys do not agree, say because only the keys have the other pairing. In 2023 the
        converter of llama.cpp put the queries of TinyLlama into the right order, but not the keys.
        What the model wrote was gibberish (pull request 3364).]],
      predict = { question = "Which of the two does the shift find?",
        choices = { "both", "only the first: other pairs in queries and keys alike",
          "only the second: other pairs in the keys alone", "neither" }, expect = 3,
        hints = {
          { "it == 4", "Think of one pair of the queries. What turns with it in the keys?" },
          "What is turned alike on both sides knows the distance alone, whatever the pairs are." },
        answer = [[Only the second. In the first, scores are as relative as before; they are not
          those that the model was trained with. So a second test is needed: known outputs for known
          weights. They are kept from the program that trained them, or come from an oracle: a
          program, slow and plain, that is written from the definition.]] },
      code = [[
        rope = roper.position.rope{dim = 8}
        other = roper.position.rope{dim = 8, pairing = "interleaved"}
        function swapped(p) return weights(other:rotate(q, p), other:rotate(k, p)) end
        moved = shift(swapped, 1000)
        changed = apart(swapped(places(0)), scores(places(0)))
        function mixed(p) return weights(rotate(q, p), other:rotate(k, p)) end
        broken = shift(mixed, 1000)]],
      claims = {
        { "moved < 1e-12", instead = { "other:rotate(q, p), ", "rotate(q, p), " } },
        { "changed > 0.01", instead = { "scores(places(0))", "swapped(places(0))" } },
        { "broken > 0.1",
          instead = { "(rotate(q, p), other:", "(rotate(q, p), rope:" } } } },
    { title = "Angles in half precision",
      text = [[
        Models often calculate with short numbers. float16 has 11 significant bits, bfloat16 has 8.
        Where a whole model is put into one of them, the angles easily go along. In 2023 somebody
        looked at an angle in GPT-NeoX (issue 1003): that of the second of 16 pairs, at position
        1857. It should be 1044.27 and was 1045. Between 1024 and 2048 float16 knows whole numbers
        only.

        Shift the text by a little, and there is little to be seen. Shift it far, and there is much.
        So this mistake needs a test at large positions. The remedy is in `precision`: angles in
        float64, and only their cosines and sines rounded.]],
      predict = { question = [[From 512 to 1024 bfloat16 knows every fourth number. To how many
          different numbers does it round the positions 1000, 1001, ... 1005?]],
        expect = "2",
        hints = { { "it == 6", "1001 is not among the numbers that it knows." },
          { "it == 1", "1003 is nearer to 1004 than to 1000." },
          "Round each to the nearest multiple of 4." },
        answer = [[To two, 1000 and 1004. (1002 is as near to both, and goes to 1000.) Three of the
          six positions look alike, and so do the other three.]] },
      code = [[
        exact = 1857 * 10000 ^ (-2 / 32)
        function as(number, format)
          return roper.tensor({number}, "float64"):round_to(format)[1]:item()
        end
        in_16 = as(1857 * as(10000 ^ (-2 / 32), "float16"), "float16")
        exact, in_16
        places(1000):round_to("bfloat16")
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
        caption = [[The residual, by how far the text is shifted. With bfloat16 scores are wrong
          from 256 on, with float16 from 2048 on.]],
        draw = [[
          series = {}
          for n, form in ipairs{"float64", "float16", "bfloat16"} do
            local f = n == 1 and scores or halved(form)
            series[n] = {x = {}, y = {}, label = form}
            for e = 0, 15 do
              series[n].x[e + 1] = 1 << e
              series[n].y[e + 1] = math.max(shift(f, 1 << e), 1e-17)
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
    { title = "All of them, at one glance",
      text = [[
        Count the digits that stay when the text is shifted by 1000. A residual of 1e-3 leaves 3.

        What is right keeps nearly all digits of float64. So do the mirrored turns and the other
        pairing, which no shift finds. What is not relative keeps not one. Angles in bfloat16 keep
        none either. With float16 two are left, for at 1000 its angles only begin to fail.]],
      code = [[
        tests = {
          {"right", right}, {"mirrored", mirrored}, {"other pairing", swapped},
          {"float16 angles", halved "float16"},
          {"bfloat16 angles", halved "bfloat16"},
          {"values twice", twice}, {"not turned back", forgotten},
          {"cosine negated", no_inverse}, {"cached keys twice", cached},
          {"pairings mixed", mixed}}
        function digits(f) return math.max(0, -math.log(shift(f, 1000), 10)) end
        digits(right), digits(halved "float16"), digits(twice)
        most = 0
        for n = 5, 10 do most = math.max(most, digits(tests[n][2])) end]],
      claims = {
        { "digits(right) > 12", instead = { "shift(f, 1000)", "shift(f, 1000) + 1" } },
        { "most < 1", instead = { "for n = 5", "for n = 4" } } },
      figure = { caption = "Digits that stay when the text is shifted by 1000.",
        draw = [[
          names, bars = {}, {}
          for n, test in ipairs(tests) do names[n], bars[n] = test[1], digits(test[2]) end
          return plot.bar(bars, {names = names, format = format})]],
        claims = { { "math.min(table.unpack(bars, 1, 3)) > 12 and bars[4] < 3",
          instead = { "digits(test[2])", "digits(right)" } } } } },
    { title = "Why a model trains all the same",
      text = [[
        A turn too many loses nothing of a vector. Training goes through a wrong turn as well as
        through the right one. At the positions that it was trained on, a model can learn to live
        with it.

        Below are two small models of the same seed: RoPER, and RoPER with the way back forgotten.
        After 40 steps their losses are alike. (The loss tells how wrong a model's guesses are.)
        They have learned little more than that there are four letters: who guesses among four has
        the loss ln 4 = 1.386. Nothing in these two numbers would make anybody look for a mistake.

        Longer runs can differ. In the experiment `substring_index` values turned twice solve fewer
        tasks than RoPER after 650 steps. But who has no right program beside the wrong one sees
        only a method that learns slowly. The residual of the shift tells.]],
      code = [[
        function loss_after(rotate, steps)
          local task = roper.tasks.substring_prefix{length = 33, seed = 1}
          local model = roper.nn.Transformer{
            vocabulary = task:vocabulary(), d_model = 32, layers = 1, heads = 2,
            position = {type = "rope", rotate = rotate}}
          return roper.train{model = model, task = task, steps = steps, batch = 8,
            optimizer = roper.optim.Adam{rate = 1e-2}, progress = false}.loss
        end
        before = loss_after("qkvo", 1)
        loss, wrong = loss_after("qkvo", 40), loss_after("qkv", 40)
        loss, wrong]],
      claims = {
        { "before - wrong > 0.1", instead = { '("qkv", 40)', '("qkv", 1)' } },
        { "math.abs(loss - wrong) < 0.02", instead = { '("qkv", 40)', '("qkv", 1)' } } },
      exercise = {
        question = "Which two numbers would you put into a test so that no such mistake can hide?",
        answer = [[The residual of the shift, also at large positions. And the difference from code
          that is slow and plain, and builds each $R_{i-n}$: here that is `roper.oracle.attention`.
          The first finds what is not relative, the second the rest.]] } },
  },
}
