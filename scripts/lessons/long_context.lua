return roper.lesson {
  order = 11,
  title = "A text longer than any in training",
  before = "You know that each pair of features turns at a speed of its own (`general-form`).",
  after = "You can say why a model fails on longer texts, and what three remedies do about it.",
  minutes = 30,
  needs = { "general-form", "relative-score" },
  notation = { { "L", "tokens of a text in training" },
    { "f", "how many times longer a text is now" },
    { "m", "a distance: how many places back" },
    { "t", "a pair of features, from 0 on" },
    { "r", "features that turn: $r/2$ pairs" },
    { "θ_t", "the speed of pair $t$: its angle at distance 1" },
    { "θ'_t", "the same, changed for the longer text" },
    { "g_t", "how much YaRN slows pair $t$: 0 is not at all, 1 is by $f$" },
    { "M", "what YaRN makes queries and keys longer by" },
    { "b, B", "the base, with $θ_t = b^(-2t/r)$, and a larger one" },
    { "s(m)", "a score at distance $m$" },
    { "A_t", "how much of pair $t$ is in it" },
    { "φ_t", "where the wave of pair $t$ begins" } },
  steps = {
    { title = "Which angles has a model seen?",
      text = [[
        A model is trained on texts of one length, and later gets longer ones. Often it fails there.
        This lesson shows why, on a model small enough to be trained here, and tries three remedies.

        Scores know a distance only as angles. At distance $m$, pair $t$ is turned by $mθ_t$. A text
        of $L$ tokens has distances from 0 to $L - 1$. A pair that goes round within them meets
        angles all round its circle. What comes later are new turns, but old angles. A pair that
        does not get round leaves a part of its circle unseen. A longer text leads it there.

        Take heads of 128 features and texts of 4096 tokens, as in Llama 2. Of the 64 pairs, the
        first turns by 1 radian a token. Each next one is slower than the one before.]],
      formula = [["turns of pair" t "within" L "tokens" = {L θ_t}/{2π}]],
      predict = {
        { question = [[How many times does the first pair go round within these 4096 tokens? (Three
            digits will do.)]],
          expect = "turns[1]:item()",
          answer = [[It goes round 652 times: $4096 / 2π$. The last pair is slow. It does a
            thirteenth of a circle in the same time.]],
          hints = {
            { "it == 4096", "That is the angle, in radians. How many circles is it?" },
            { "math.abs(it * 360 / 4096 - 1) < 0.01",
              "One radian, not one degree, for each token: a circle has 2π of them." },
            "A circle is 2π = 6.283 radians.", "4096 / 6.283." } },
        { question = "Now a text of 16384 tokens. Which pairs come to angles that are new?",
          choices = { "the fast ones", "the slow ones", "all of them alike" }, expect = 2,
          answer = [[The slow ones. 18 of the 64 do not get round within 4096 tokens. A text four
            times as long leads each of them on. 9 get round then, 9 still do not.]],
          hints = {
            { "it == 1", "They have been at every place of their circle, hundreds of times." },
            { "it == 3", "The first pair has been round 652 times. What could be new to it?" },
            "A pair that has been round knows all angles." } } },
      code = [[
        theta = roper.position.rope{dim = 128}:thetas()
        turns = 4096 * theta / (2 * math.pi)
        turns[1]:item(), turns[64]:item()
        unseen = turns:lt(1):sum():item()]],
      claims = { { "unseen == 18", instead = { "4096", "8192" } } },
      figure = {
        caption = [[The share of its circle that each pair meets, within 4096 tokens and within four
          times as many. Between the lines are angles that only the longer text shows.]],
        draw = [[
          short, long = turns:minimum(1), (4 * turns):minimum(1)
          return plot.line({{y = short, label = "4096 tokens"}, {y = long, label = "16384"}},
            {xlabel = "pair", ylabel = "share of the circle", format = format})]],
        claims = {
          { "short[46]:item() == 1 and short[47]:item() < 1",
            instead = { "turns:minimum(1)", "(2 * turns):minimum(1)" } },
          { "long:lt(1):sum():item() == 9", instead = { "4 * turns", "3 * turns" } } } } },
    { title = "A game with two questions",
      text = [[
        No lesson can train a model of that size. But the same happens to a small one, on rows of 32
        tokens.

        Each row begins with a capital. Then come small letters, and two kinds of question. After
        `?` the capital is to be said, however far back it is. After `<` it is what stands two
        places before that sign. The first question looks far, the second near. A language model
        needs both: to find a name from long ago, and to know which words came just before.

        `rows` makes rows of the game: their tokens, and for each token what is to be said after it,
        or -1 where nothing is asked. There are 18 kinds of token: 8 letters, 8 capitals, `?` and
        `<`. The code shows one row, and below each sign the right answer.]],
      code = [[
        FAR, NEAR = 16, 17
        function rows(count, length)
          local letters = roper.randint(0, 7, {count, length})
          local questions = roper.randint(FAR, NEAR, {count, length})
          local is_question = roper.rand{count, length}:lt(0.5)
          local tokens = roper.where(is_question, questions, letters)
          tokens[{{}, 1}] = roper.randint(8, 15, {count})
          tokens[{{}, 2}] = letters[{{}, 2}]
          local answers = roper.where(tokens:eq(NEAR), tokens:roll(2, 2), -1)
          return tokens, roper.where(tokens:eq(FAR), tokens[{{}, {1, 1}}], answers)
        end
        function text(row)
          return (table.concat(row:totable(), " "):gsub("%-?%d+ ?", function(id)
            return (".abcdefghABCDEFGH?<"):sub(id + 2, id + 2)
          end))
        end
        tokens, answers = rows(1, 40)
        text(tokens[1])
        text(answers[1])
        capital = tokens[1][1]:item()
        right = answers[tokens:eq(FAR)]:eq(capital):all()]],
      claims = { { "right", instead = { "tokens:eq(FAR)", "tokens:eq(NEAR)" } } } },
    { title = "A small model, to be broken",
      text = [[
        The model has one layer and one head of 32 features. The base is 100, not 10000. Then the
        last of the 16 pairs does a fifteenth of a circle within 32 tokens, much as in the large
        model. 10 of the pairs do not get round.

        The model sees 6400 rows of 32 tokens, in 200 steps. That takes about a second. Then it is
        asked about 256 fresh rows of the same length. `shares` tells which share of its answers is
        right, for the far questions and for the near ones.]],
      code = [[
        rope = roper.position.rope{dim = 32, base = 100}
        function trained(seed)
          roper.seed(seed)
          local model = roper.nn.Transformer{vocabulary = 18, d_model = 32,
            layers = 1, heads = 1, position = rope}
          local adam = roper.optim.Adam{rate = 5e-3}
          for step = 1, 200 do
            local tokens, answers = rows(32, 32)
            model:zero_gradients()
            roper.cross_entropy(model(tokens), answers):backward()
            adam:step(model:parameters())
          end
          return model
        end
        function shares(model, position, length, parts)   -- of right answers
          model.layers[1].attention.position = position
          roper.seed(1000)                                -- for all the same
          local tokens, answers = rows(256, length)
          local best = roper.no_grad(model, tokens):argmax(3) - 1
          local function count(mask)                      -- in each part of the row
            return mask:to("float64"):view{256, parts, length // parts}:sum{1, 3}
          end
          local function share(question)
            local asked = tokens:eq(question)
            return count(asked & best:eq(answers)) / count(asked)
          end
          return share(FAR), share(NEAR)
        end
        model = trained(1)
        far, near = shares(model, rope, 32, 1)
        far:item(), near:item()]],
      claims = {
        { "far:item() > 0.9", instead = { "1, 200", "1, 2" } },
        { "near:item() > 0.9", instead = { "1, 200", "1, 2" } } } },
    { title = "Four times as long",
      text = [[
        Now rows of 128 tokens, with the same weights. The far question can have its answer 127
        places back. In training it was never more than 31. The near question asks for what is two
        places back, as ever.

        The shares are counted in each quarter of the row: tokens 1 to 32, 33 to 64, and so on.]],
      predict = {
        question = "What will become of the near questions after token 32?",
        choices = { "they are answered: two places back is an old distance",
          "the model fails at them, too" }, expect = 2,
        answer = [[It fails at both. The distance of the answer is old. But other tokens are at new
          distances now, and they compete with it. In the last quarter few answers are right. (Who
          always says the same thing is right one time in eight at `?`, and one time in four at
          `<`.)]],
        hints = { "The answer must get a higher score than every other token. Where are they?" } },
      code = [[
        far, near = shares(model, rope, 128, 4)
        far
        near]],
      claims = {
        { "far[1]:item() > 0.8 and far[4]:item() < 0.5", instead = { "128, 4", "32, 4" } },
        { "near[1]:item() > 0.8 and near[4]:item() < 0.5", instead = { "128, 4", "32, 4" } } },
      figure = {
        caption = "Right answers along the row. Training ended at token 32.",
        draw = [[
          fars, nears = shares(model, rope, 128, 16)
          ends = roper.arange(8, 129, 8)
          return plot.line({{x = ends, y = fars, label = "far ?"},
            {x = ends, y = nears, label = "near <"}},
            {xlabel = "token", ylabel = "share right", format = format})]],
        claims = {
          { "fars[4]:item() > 0.8 and fars[16]:item() < 0.5", instead = { "128, 16", "32, 16" } },
          { "nears[4]:item() > 0.8 and nears[16]:item() < 0.5",
            instead = { "128, 16", "32, 16" } } } } },
    { title = "Why: waves that part",
      text = [[
        With the distance, a pair's part of a score goes up and down as a wave. The score is the sum
        of 16 waves. Training cares for that sum at distances from 0 to 31, and nowhere else. Of a
        slow wave it sees a short piece, nearly straight. Some such pieces can cancel each other.
        Further on the waves part, and nothing in training says what their sum does there
        ([Chen et al. 2023](arXiv:2306.15595), section 2).

        Look into the model. At `?`, the capital needs a higher score than the letters. Take the
        mean of all capitals' keys, and the mean of all letters'. Up to 31 places back the capital
        leads at every distance. Further on, letters overtake it. At `<`, the letter two places back
        should win. But some distance beyond 31 has a higher score.]],
      formula = "s(m) = Σ_t A_t cos (mθ_t + φ_t)",
      code = [[
        layer = model.layers[1]
        function mean_of(linear, first, last)        -- of what it makes of tokens
          local tokens = roper.arange(first, last + 1):to("int32")
          local x = layer.attention_norm(model.embedding(tokens))
          return linear(x):mean(1, true)
        end
        letter = mean_of(layer.attention.key, 0, 7)
        capital = mean_of(layer.attention.key, 8, 15)
        function scores(question, key, position)     -- at distances from 0 to 127
          local q = mean_of(layer.attention.query, question, question)
          local back = roper.arange(0, -128, -1)
          return (q * position:rotate(key:expand{128, 32}, back)):sum(2) / 32 ^ 0.5
        end
        lead = scores(FAR, capital, rope) - scores(FAR, letter, rope)
        least_within = lead:narrow(1, 2, 31):min():item()
        least_beyond = lead:narrow(1, 33, 96):min():item()
        least_within, least_beyond
        asked = scores(NEAR, letter, rope)
        two_back, best_beyond = asked[3]:item(), asked:narrow(1, 33, 96):max():item()
        two_back, best_beyond]],
      claims = {
        { "least_within > 0", instead = { "(1, 2, 31)", "(1, 2, 127)" } },
        { "least_beyond < 0", instead = { "lead:narrow(1, 33, 96)", "lead:narrow(1, 2, 31)" } },
        { "best_beyond > two_back",
          instead = { "asked:narrow(1, 33, 96)", "asked:narrow(1, 4, 29)" } } },
      figure = {
        caption = "At `?`: up to 31 the capital leads at every distance, further on it does not.",
        draw = [[
          distance = roper.arange(0, 128)
          of_capital, of_letter = scores(FAR, capital, rope), scores(FAR, letter, rope)
          gap = of_capital - of_letter
          return plot.line({{x = distance, y = of_capital, label = "capital"},
            {x = distance, y = of_letter, label = "letter"}},
            {xlabel = "distance", ylabel = "score", format = format})]],
        claims = {
          { "gap:narrow(1, 2, 31):min():item() > 0",
            instead = { "scores(FAR, capital, rope)", "scores(FAR, letter, rope) - 1" } },
          { "gap:narrow(1, 33, 96):min():item() < 0",
            instead = { "scores(FAR, letter, rope)", "scores(FAR, letter, rope) - 100" } } } } },
    { title = "Remedy one: squeeze the positions",
      text = [[
        A text $f$ times as long fits into the trained range if each position is divided by $f$.
        That is to divide all speeds by $f$ (position interpolation,
        [Chen et al. 2023](arXiv:2306.15595)). No pair turns farther than it did in training. The
        score at distance $fm$ is, to rounding, the one that distance $m$ had.

        (The paper then trains its models a little more, with squeezed positions. Here nothing is
        trained any more.)]],
      predict = {
        question = "Positions are divided by 4. Which questions will be answered?",
        choices = { "both", "the far ones alone", "the near ones alone" }, expect = 2,
        answer = [[The far ones, all along the row. The price: the fast pairs, too, are 4 times
          slower. What stands two places back comes at the angles of half a place. In training
          nothing stood between 0 and 1. The near question fails from the first quarter on.]],
        hints = {
          { "it == 1", "What stands two places back comes at which angles? Were they seen?" },
          { "it == 3", "The far ones failed for angles that were new. Which are new now?" },
          "Two places back is half a place now." } },
      formula = "θ'_t = θ_t / f",
      code = [[
        linear = roper.position.linear{dim = 32, base = 100, factor = 4}
        stretched = scores(FAR, capital, linear)
        plain = scores(FAR, capital, rope)
        stretched = stretched[roper.arange(1, 129, 4):to("int32")]
        off = (stretched - plain:narrow(1, 1, 32)):abs():max():item()
        far_linear, near_linear = shares(model, linear, 128, 4)
        far_linear
        near_linear]],
      exercise = {
        question = [[A row of 32 tokens needs no squeezing. Squeeze it all the same, by 4: which
          share of the near questions on it is right? Set `short` to that number.]],
        check = [[
          math.abs(short - select(2, shares(model, linear, 32, 1)):item()) < 1e-6]],
        sample = "short = select(2, shares(model, linear, 32, 1)):item()",
        answer = [[It is a small share. A fixed factor takes something from short texts. So
          some programs let the factor follow the length of the text.]],
        hints = { { "math.abs(short - 1) < 1e-6",
            "That is the share for the model as it was trained, or that of the far questions." },
          "`shares` gives two shares, that of the far questions and that of the near ones.",
          "shares(model, linear, 32, 1)" } },
      claims = {
        { "off < 1e-3", instead = { "factor = 4", "factor = 3" } },
        { "far_linear:min():item() > 0.9", instead = { "factor = 4", "factor = 1" } },
        { "near_linear:max():item() < 0.5", instead = { "factor = 4", "factor = 1" } } } },
    { title = "Remedy two: a larger base",
      text = [[
        Fast pairs tell neighbours apart, and have been all round their circles. Slow ones have not,
        and only they need to be slowed. So ask for a base $B$ with which the first pair keeps its
        speed and the last is $f$ times slower. The first turns by 1 radian a token with any base.
        The last of the $r/2$ pairs has the exponent $-(r-2)/r$. That fixes $B$.

        This comes from a post by bloc97 in 2023, who called it NTK-aware. It is described in
        [Peng et al. 2023](arXiv:2309.00071), section 3.1. The pairs between are slowed by less than
        $f$. So of those that did not get round, all but the last still meet new angles, though
        fewer.]],
      formula = [[
        B^(-(r-2)/r) &= b^(-(r-2)/r) / f
        B &= b f^(r/(r-2))]],
      predict = {
        question = [[The model has $b = 100$ and $r = 32$, and $f$ is 4. What is $B$? (Three
          digits.)]],
        expect = "100 * 4 ^ (32 / 30)",
        answer = [[It is 439, a bit more than 4 times as much. Below, both questions are
          answered more often than by RoPE as it was.]],
        hints = {
          { "it == 400", "Nearly. What is the exponent of $f$?" },
          { "it < 100", "A larger base makes slower pairs." },
          "At the prompt: > 100 * 4 ^ (32 / 30)" } },
      code = [[
        ntk = roper.position.ntk{dim = 32, base = 100, factor = 4}
        by_hand = roper.position.rope{dim = 32, base = 100 * 4 ^ (32 / 30)}
        off = (ntk:thetas() - by_hand:thetas()):abs():max():item()
        slowed = ntk:thetas() / rope:thetas()
        slowed[1]:item(), slowed[2]:item(), slowed[15]:item(), slowed[16]:item()
        far_ntk, near_ntk = shares(model, ntk, 128, 4)
        far_ntk
        near_ntk]],
      claims = {
        { "off < 1e-12", instead = { "32 / 30", "1" } },
        { "math.abs(slowed[16]:item() - 1 / 4) < 1e-12", instead = { "factor = 4", "factor = 3" } },
        { "far_ntk[4]:item() > far[4]:item() + 0.2",
          instead = { "factor = 4", "factor = 1" } },
        { "near_ntk[4]:item() > near[4]:item()",
          instead = { "shares(model, ntk", "shares(model, rope" } },
        { "near_ntk[3]:item() > near_linear[3]:item() + 0.1",
          instead = { "shares(model, ntk", "shares(model, linear" } } } },
    { title = "Remedy three: pair by pair",
      text = [[
        YaRN ([Peng et al. 2023](arXiv:2309.00071)) asks of each pair how many times it went round
        within the $L$ tokens of training. Less than once: divide its speed by $f$. More than 32
        times: leave it. A ramp leads from the ones to the others. Its $g_t$ grows from 0 for fast
        pairs to 1 for slow ones. (Within 32 tokens nothing goes round 32 times. So here the ramp
        begins at the first pair.)

        And one thing more. Among $f$ times as many tokens the weights spread out. So queries and
        keys are made longer by $M$. That multiplies all scores by $M²$, here 1.3, and sharpens the
        weights again. The number was fitted to what large models do. It is not derived.]],
      formula = [[
        θ'_t &= (1 - g_t) θ_t + g_t θ_t / f
        M &= 0.1 ln f + 1]],
      predict = {
        question = [[A pair did 0.4 of a circle in training. With YaRN, how many circles does it do
          within a text 4 times as long?]],
        expect = "0.4",
        answer = [[Still 0.4: four times the tokens at a fourth of the speed. So no pair that had
          not been round meets new angles. And the fastest pairs still tell neighbours apart.]],
        hints = { { "it == 1.6", "At its old speed. But it turned less than once." },
          { "it == 0.1", "That is its speed. The text is longer, too." },
          "It turned less than once: what becomes of its speed?" } },
      code = [[
        yarn = roper.position.yarn{dim = 32, base = 100, factor = 4,
          trained_length = 32}
        slowed = yarn:thetas() / rope:thetas()
        round = (32 * rope:thetas() / (2 * math.pi)):ge(1)
        off = (slowed[~round] - 1 / 4):abs():max():item()
        far_yarn, near_yarn = shares(model, yarn, 128, 4)
        far_yarn
        near_yarn]],
      claims = {
        { "off < 1e-12", instead = { "trained_length = 32", "trained_length = 64" } },
        { "slowed[1]:item() == 1", instead = { "yarn:thetas() / rope", "linear:thetas() / rope" } },
        { "far_yarn[4]:item() > 0.9", instead = { "model, yarn", "model, rope" } },
        { "near_yarn[3]:item() > near_linear[3]:item() + 0.1",
          instead = { "model, yarn", "model, linear" } } },
      figure = {
        caption = "Each pair's speed, as a share of what it was in training. 1 is RoPE as it was.",
        draw = [[
          by_linear, by_ntk = linear:thetas() / rope:thetas(), ntk:thetas() / rope:thetas()
          by_yarn = yarn:thetas() / rope:thetas()
          return plot.line({{y = by_linear, label = "linear"}, {y = by_ntk, label = "NTK"},
            {y = by_yarn, label = "YaRN"}},
            {xlabel = "pair", ylabel = "new speed / old", format = format})]],
        claims = {
          { "by_linear:max():item() < 0.26", instead = { "linear:thetas()", "rope:thetas()" } },
          { "by_ntk[1]:item() == 1 and by_ntk[15]:item() > 0.26",
            instead = { "ntk:thetas()", "linear:thetas()" } },
          { "by_yarn[1]:item() == 1 and by_yarn[7]:item() < 0.26",
            instead = { "yarn:thetas()", "ntk:thetas()" } } } } },
    { title = "What can be told",
      text = [[
        Below are the last quarters of all four, for three models that differ by their seed. In each
        of the three, RoPE as it was loses both questions. Squeezing keeps the far one and loses the
        near one. That is what the steps before lead one to expect.

        They do not say whether NTK or YaRN answers more near questions. The 256 rows make the share
        of each model known to a few hundredths. They say nothing of the next model.

        And all of this is one task, made so that both kinds of distance matter, for one layer,
        without training at the new length. The papers measure large models on text, many of them
        after some further training.]],
      code = [[
        models = {model, trained(2), trained(3)}
        last = roper.zeros({2, 3, 4}, "float64")     -- questions, models, schemes
        for i, position in ipairs{rope, linear, ntk, yarn} do
          for seed = 1, 3 do
            far, near = shares(models[seed], position, 128, 4)
            last[{1, seed, i}] = far[4]:item()
            last[{2, seed, i}] = near[4]:item()
          end
        end
        last
        best_of_rope = last[{{}, {}, 1}]:max():item()]],
      predict = {
        question = [[Say neither of two methods is better. Then it is chance which of them is ahead
          in a model. How probable is it that the same one is ahead in all three models?]],
        expect = "1 / 4",
        answer = [[It is 1/4: three coins fall alike one time in four. So three models cannot
          tell NTK and YaRN apart, even if the same one is ahead in all of them.]],
        hints = { { "it == 1 / 8", "That is the chance for the one. And for the other?" },
          "As with three coins: heads three times, or tails three times." } },
      claims = { { "best_of_rope < 0.5", instead = { "{rope, linear,", "{linear, rope," } } },
      figure = {
        caption = "Shares right in the last quarter: the mean of three models, and their range.",
        draw = [[
          names = {"rope", "linear", "ntk", "yarn"}
          middle, least, most = last:mean(2), last:min(2), last:max(2)
          return plot.bar({
            {y = middle[1], low = least[1], high = most[1], label = "far ?"},
            {y = middle[2], low = least[2], high = most[2], label = "near <"}},
            {names = names, format = format})]],
        claims = {
          { "most[1][1]:item() < 0.5 and least[1][2]:item() > 0.9",
            instead = { "last:max(2)", "last:max(2) + 1" } },
          { "most[2][1]:item() < 0.5 and most[2][2]:item() < 0.5",
            instead = { "last:max(2)", "last:max(2) + 1" } } } } },
  },
}
