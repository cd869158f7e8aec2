return roper.lesson {
  order = 16,
  title = "Texts longer than in training",
  before = "You know that each pair of features has its own frequency (`general-form`).",
  after = "You can explain why a model fails on longer texts, and how three methods extend it.",
  summary = "Break a model with a long text, then mend it in three ways.",
  minutes = 40,
  needs = { "general-form", "relative-score" },
  notation = { { "L", "the length of a training text in tokens" },
    { "f", "the ratio of the new length to the length in training" },
    { "p", "a distance in positions" },
    { "t", "the index of a pair of features, from 0" },
    { "r", "the number of rotated features: $r/2$ pairs" },
    { "θ_t", "the frequency of pair $t$: its angle at distance 1" },
    { "θ'_t", "the same, changed for the longer text" },
    { "N_t", "the number of turns of pair $t$ within $L$ tokens" },
    { "g_t", "how much YaRN slows pair $t$: 0 is not at all, 1 is by $f$" },
    { "c(N)", "the index at which a pair makes $N$ turns within $L$ tokens" },
    { "clip(x, a, b)", "$x$, limited to the range from $a$ to $b$" },
    { "⌊x⌋, ⌈x⌉", "$x$, rounded down and up" },
    { "M", "the factor by which YaRN scales queries and keys" },
    { "b, B", "the base, with $θ_t = b^(-2t/r)$, and a larger one" },
    { "s(p)", "a score at distance $p$" },
    { "A_t", "the amplitude of pair $t$ in it" },
    { "φ_t", "the phase of pair $t$" } },
  steps = {
    { title = "Which angles has a model seen?",
      text = [[
        A model is trained on texts of one length and later gets longer ones. Often it fails. This
        lesson shows why, with a model small enough to train here, and tries three methods to fix
        it.

        Scores depend on a distance only through angles. At distance $p$, pair $t$ is rotated by
        $pθ_t$. A text of $L$ tokens has distances from 0 to $L - 1$. A pair that makes a full turn
        within them has all angles in training, and greater distances only repeat them. A slower
        pair has only a part of its circle in training, and a longer text adds new angles.

        Take heads of 128 features and texts of 4096 tokens, as in Llama 2. Of the 64 pairs, the
        first rotates by 1 radian per token, and each following pair is slower.]],
      formula = [["turns of pair" t "within" L "tokens" = {L θ_t}/{2π}]],
      predict = {
        { question = [[How many full turns does the first pair make within these 4096 tokens? (Three
            digits are enough.)]],
          expect = "turns[1]:item()",
          answer = [[652: $4096 / 2π$. The last pair is slow: it makes a thirteenth of a turn.]],
          hints = {
            { "it == 4096", "That is the angle, in radians. How many full turns is it?" },
            { "math.abs(it * 360 / 4096 - 1) < 0.01",
              "It is one radian, not one degree, per token: a full turn is 2π radians." },
            "A full turn is 2π = 6.283 radians.", "4096 / 6.283." } },
        { question = "Now take a text of 16384 tokens. Which pairs have angles that are new?",
          choices = { "the fast ones", "the slow ones", "all of them alike" }, expect = 2,
          answer = [[The slow ones. 18 of the 64 do not make a full turn within 4096 tokens, and a
            text four times as long brings new angles to all of them. 9 then make a full turn, 9
            still do not.]],
          hints = {
            { "it == 1", "They have had every angle of the circle, hundreds of times." },
            { "it == 3", "The first pair has made 652 turns. Which angle could be new to it?" },
            "After a full turn a pair has had all angles." } } },
      code = [[
        theta = roper.position.rope{dim = 128}:thetas()
        turns = 4096 * theta / (2 * math.pi)
        turns[1]:item(), turns[64]:item()
        unseen = turns:lt(1):sum():item()]],
      claims = { { "unseen == 18", instead = { "4096", "8192" } } },
      figure = {
        caption = [[The share of the circle of each pair, within 4096 tokens and within four times
          as many. Between the lines are the angles that occur only in the longer text.]],
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
        A model of that size cannot be trained in a lesson. But the same happens to a small one, on
        rows of 32 tokens.

        Each row begins with a capital letter. Small letters follow, and two kinds of questions. The
        answer to `?` is the capital, however far back it is. The answer to `<` is the token two
        positions before it. The first question needs a long distance, the second a short one. A
        language model needs both: a name from long ago, and the words just before.

        `rows` generates rows of the game: their tokens, and for each token the expected answer, or
        -1 if it is not a question. There are 18 different tokens: 8 letters, 8 capitals, `?` and
        `<`. The code shows one row and, below each question, its answer.]],
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
    { title = "A small model that will fail",
      text = [[
        The model has one layer and one head of 32 features. The base is 100, not 10000. Then the
        last of the 16 pairs makes a fifteenth of a turn within 32 tokens, much as in the large
        model. 10 of the pairs do not make a full turn.

        The model is trained on 6400 rows of 32 tokens, in 200 steps. This takes about a second.
        Then it answers the questions of 256 new rows of the same length. `accuracy` returns the
        share of right answers, for the far questions and for the near ones.]],
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
        function accuracy(model, position, length, parts)
          model.layers[1].attention.position = position
          roper.seed(1000)                                -- the same rows for all
          local tokens, answers = rows(256, length)
          local best = roper.no_grad(model, tokens):argmax(3) - 1
          local function count(mask)                      -- in each part of the row
            return mask:to("float64"):view{256, parts, length // parts}:sum{1, 3}
          end
          local function ratio(question)
            local asked = tokens:eq(question)
            return count(asked & best:eq(answers)) / count(asked)
          end
          return ratio(FAR), ratio(NEAR)
        end
        model = trained(1)
        far, near = accuracy(model, rope, 32, 1)
        far:item(), near:item()]],
      claims = {
        { "far:item() > 0.9", instead = { "1, 200", "1, 2" } },
        { "near:item() > 0.9", instead = { "1, 200", "1, 2" } } } },
    { title = "Four times as long",
      text = [[
        Now take rows of 128 tokens, with the same weights. The answer to a far question can be 127
        positions back. In training it was never more than 31. The answer to a near question is two
        positions back, as before.

        The accuracy is computed for each quarter of the row: 1 to 32, 33 to 64, and so on.]],
      predict = {
        question = "Can the model answer the near questions after token 32?",
        choices = { "yes: a distance of two occurred in training",
          "no: it fails at them, too" }, expect = 2,
        answer = [[It fails at both. The distance of the answer is not new. But other tokens are now
          at new distances, and their scores compete with it. In the last quarter few answers are
          right. (Guessing is right one time in eight at `?`, and one time in four at `<`.)]],
        hints = {
          { "it == 1", "It needs a higher score than every other token. Where are the others?" },
          "The answer needs a higher score than every other token. Where are they?" } },
      code = [[
        far, near = accuracy(model, rope, 128, 4)
        far
        near]],
      claims = {
        { "far[1]:item() > 0.8 and far[4]:item() < 0.5", instead = { "128, 4", "32, 4" } },
        { "near[1]:item() > 0.8 and near[4]:item() < 0.5", instead = { "128, 4", "32, 4" } } },
      figure = {
        caption = [[The share of right answers along the row. Training rows ended at token 32: up
          to there both kinds of questions are answered, in the second half of the row few.]],
        draw = [[
          fars, nears = accuracy(model, rope, 128, 16)
          ends = roper.arange(8, 129, 8)
          return plot.line({{x = ends, y = fars, label = "far ?"},
            {x = ends, y = nears, label = "near <"}},
            {xlabel = "token", ylabel = "accuracy", format = format})]],
        claims = {
          { "fars[4]:item() > 0.8 and fars[16]:item() < 0.5", instead = { "128, 16", "32, 16" } },
          { "nears[4]:item() > 0.8 and nears[16]:item() < 0.5",
            instead = { "128, 16", "32, 16" } } } } },
    { title = "Why: slow waves beyond the training range",
      text = [[
        The contribution of a pair to a score is a wave in the distance. The score is the sum of 16
        waves. Training shapes this sum only at distances from 0 to 31. There a slow wave is a short
        piece that is nearly straight, and such pieces can cancel each other. At greater distances
        the waves diverge, and training has not determined their sum
        ([Chen et al. 2023](arXiv:2306.15595), section 2).

        Look into the model. At `?`, the capital needs a higher score than the letters. Take the
        mean of the keys of all capitals, and the mean of the keys of all letters. Up to distance 31
        the capital has the higher score at every distance. Beyond, letters have higher scores. At
        `<`, the letter two positions back should have the highest score. But some distance beyond
        31 has a higher one.]],
      formula = "s(p) = Σ_t A_t cos (pθ_t + φ_t)",
      code = [[
        layer = model.layers[1]
        function mean_of(linear, first, last)        -- of the results for tokens
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
        caption = [[The scores at `?` by distance. The capital has the higher score up to distance
          31, but not at all distances beyond.]],
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
    { title = "Method one: interpolate the positions",
      text = [[
        A text $f$ times as long fits into the trained range if each position is divided by $f$.
        This is the same as dividing all frequencies by $f$ (position interpolation,
        [Chen et al. 2023](arXiv:2306.15595)). No pair rotates further than in training. Up to
        rounding, the score at distance $fp$ is the previous score at distance $p$.

        (The paper then continues training with the interpolated positions. Here there is no
        further training.)]],
      predict = {
        question = "Positions are divided by 4. Which questions will be answered?",
        choices = { "both", "only the far ones", "only the near ones" }, expect = 2,
        answer = [[The far ones, along the whole row. The disadvantage: the fast pairs are 4 times
          slower, too. A token two positions back has the angles of half a position. In training no
          distance was between 0 and 1. The near questions fail from the first quarter on.]],
        hints = {
          { "it == 1", "At which angles is a token two positions back? Were they in training?" },
          { "it == 3", "The far ones failed because of new angles. Which angles are new now?" },
          "A distance of two is now half a position." } },
      formula = "θ'_t = θ_t / f",
      code = [[
        linear = roper.position.linear{dim = 32, base = 100, factor = 4}
        stretched = scores(FAR, capital, linear)
        plain = scores(FAR, capital, rope)
        stretched = stretched[roper.arange(1, 129, 4):to("int32")]
        off = (stretched - plain:narrow(1, 1, 32)):abs():max():item()
        far_linear, near_linear = accuracy(model, linear, 128, 4)
        far_linear
        near_linear]],
      exercise = {
        question = [[A row of 32 tokens needs no interpolation. Use a factor of 4 all the same: what
          is the accuracy for the near questions? Set `short` to that number.]],
        check = [[
          math.abs(short - select(2, accuracy(model, linear, 32, 1)):item()) < 1e-6]],
        sample = "short = select(2, accuracy(model, linear, 32, 1)):item()",
        form = { "short = select(___, accuracy(model, ___, 32, 1)):item()", { "1", "2" },
          { "linear", "rope" } },
        answer = [[It is low. A fixed factor makes short texts worse. So some programs adapt the
          factor to the length of the text.]],
        hints = { { "math.abs(short - 1) < 1e-6",
            "That is the accuracy of the original model, or for the far questions." },
          "`accuracy` returns two numbers, for the far questions and for the near ones.",
          "accuracy(model, linear, 32, 1)" } },
      claims = {
        { "off < 1e-3", instead = { "factor = 4", "factor = 3" } },
        { "far_linear:min():item() > 0.9", instead = { "factor = 4", "factor = 1" } },
        { "near_linear:max():item() < 0.5", instead = { "factor = 4", "factor = 1" } } } },
    { title = "Method two: a larger base",
      text = [[
        Fast pairs distinguish neighboring tokens, and have had all angles in training. Slow pairs
        have not, so only they need to be slowed. Choose a base $B$ such that the first pair keeps
        its frequency and the last is $f$ times slower. The first rotates by 1 radian per token with
        any base. The last of the $r/2$ pairs has the exponent $-(r-2)/r$. This determines $B$.

        This method was published in a
        [post by bloc97](https://www.reddit.com/r/LocalLLaMA/comments/14lz7j5/) in 2023 as
        "NTK-aware". It is described in [Peng et al. 2023](arXiv:2309.00071), section 3.1. The pairs
        in between are slowed by less than $f$. So of the pairs that did not make a full turn, all
        but the last still have new angles, though fewer.]],
      formula = [[
        B^(-(r-2)/r) &= b^(-(r-2)/r) / f
        B &= b f^(r/(r-2))]],
      predict = {
        question = [[The model has $b = 100$ and $r = 32$, and $f$ is 4. What is $B$? (Three
          digits.)]],
        expect = "100 * 4 ^ (32 / 30)",
        answer = [[439, a little more than 4 times $b$. Below, the model answers more questions of
          both kinds than with the original RoPE.]],
        hints = {
          { "it == 400", "Almost. What is the exponent of $f$?" },
          { "it < 100", "A larger base makes slower pairs." },
          "At the prompt: > 100 * 4 ^ (32 / 30)" } },
      code = [[
        ntk = roper.position.ntk{dim = 32, base = 100, factor = 4}
        by_hand = roper.position.rope{dim = 32, base = 100 * 4 ^ (32 / 30)}
        off = (ntk:thetas() - by_hand:thetas()):abs():max():item()
        slowed = ntk:thetas() / rope:thetas()
        slowed[1]:item(), slowed[2]:item(), slowed[15]:item(), slowed[16]:item()
        far_ntk, near_ntk = accuracy(model, ntk, 128, 4)
        far_ntk
        near_ntk]],
      claims = {
        { "off < 1e-12", instead = { "32 / 30", "1" } },
        { "math.abs(slowed[16]:item() - 1 / 4) < 1e-12", instead = { "factor = 4", "factor = 3" } },
        { "far_ntk[4]:item() > far[4]:item() + 0.2",
          instead = { "factor = 4", "factor = 1" } },
        { "near_ntk[4]:item() > near[4]:item()",
          instead = { "accuracy(model, ntk", "accuracy(model, rope" } },
        { "near_ntk[3]:item() > near_linear[3]:item() + 0.1",
          instead = { "accuracy(model, ntk", "accuracy(model, linear" } } } },
    { title = "Method three: pair by pair",
      text = [[
        YaRN ([Peng et al. 2023](arXiv:2309.00071)) counts the turns $N_t$ of each pair within the
        $L$ tokens of training. If a pair makes less than one turn, its frequency is divided by $f$.
        If it makes more than 32 turns, its frequency does not change. In between there is a ramp,
        whose $g_t$ grows from 0 for fast pairs to 1 for slow ones. Its shape is the subject of the
        next step.

        YaRN also changes the scale. Over $f$ times as many tokens, the attention weights spread
        out. So queries and keys are multiplied by $M$. This multiplies all scores by $M²$, here
        1.3, and makes the weights sharper again. The formula for $M$ was fitted to large models,
        not derived.]],
      formula = [[
        N_t &= {L θ_t}/{2π}
        θ'_t &= (1 - g_t) θ_t + g_t θ_t / f
        M &= 0.1 ln f + 1]],
      predict = {
        question = [[A pair made 0.4 of a turn in training. With YaRN, how many turns does it make
          within a text 4 times as long?]],
        expect = "0.4",
        answer = [[0.4, as before: four times the tokens at a quarter of the frequency. So no pair
          with less than one turn gets new angles. And the fastest pairs still distinguish
          neighboring tokens.]],
        hints = { { "it == 1.6", "That is without YaRN. But the pair makes less than one turn." },
          { "it == 0.1", "The frequency is divided by 4, but the text is 4 times as long." },
          "The pair makes less than one turn. How does its frequency change?" } },
      code = [[
        yarn = roper.position.yarn{dim = 32, base = 100, factor = 4,
          trained_length = 32}
        slowed = yarn:thetas() / rope:thetas()
        round = (32 * rope:thetas() / (2 * math.pi)):ge(1)
        off = (slowed[~round] - 1 / 4):abs():max():item()
        far_yarn, near_yarn = accuracy(model, yarn, 128, 4)
        far_yarn
        near_yarn]],
      claims = {
        { "off < 1e-12", instead = { "trained_length = 32", "trained_length = 64" } },
        { "slowed[1]:item() == 1", instead = { "yarn:thetas() / rope", "linear:thetas() / rope" } },
        { "far_yarn[4]:item() > 0.9", instead = { "model, yarn", "model, rope" } },
        { "near_yarn[3]:item() > near_linear[3]:item() + 0.1",
          instead = { "model, yarn", "model, linear" } } },
      figure = {
        caption = [[The new frequency of each pair, relative to training. RoPE without change is 1.
          Linear interpolation slows all pairs alike, NTK the fast pairs least, and YaRN slows all
          pairs from the seventh on by the full factor.]],
        draw = [[
          by_linear, by_ntk = linear:thetas() / rope:thetas(), ntk:thetas() / rope:thetas()
          by_yarn = yarn:thetas() / rope:thetas()
          return plot.line({{y = by_linear, label = "linear"}, {y = by_ntk, label = "NTK"},
            {y = by_yarn, label = "YaRN"}},
            {xlabel = "pair", ylabel = "new frequency / old", format = format})]],
        claims = {
          { "by_linear:max():item() < 0.26", instead = { "linear:thetas()", "rope:thetas()" } },
          { "by_ntk[1]:item() == 1 and by_ntk[15]:item() > 0.26",
            instead = { "ntk:thetas()", "linear:thetas()" } },
          { "by_yarn[1]:item() == 1 and by_yarn[7]:item() < 0.26",
            instead = { "yarn:thetas()", "ntk:thetas()" } } } } },
    { title = "Two ramps under one name",
      text = [[
        The ramp of the paper (section 3.2, where $γ$ is $1 - g$) is linear in the number of turns
        $N_t$. The [code of the authors](https://github.com/jquesnelle/yarn) and Transformers use
        another one. It is linear in the index $t$ of the pair. $c(N)$ is the index at which a pair
        makes $N$ turns. The ramp goes from $c(32)$, rounded down but at least 0, to $c(1)$, rounded
        up.

        Both ramps agree on pairs with less than 1 and with more than 32 turns. In between they
        differ. `roper.position.yarn` follows the released code. With `ramp = "turns"` it follows
        the paper.

        For this model the choice matters. The fastest pair makes only 5 turns within 32 tokens. The
        ramp of the code begins at the first pair all the same. The paper's ramp begins at 32 turns,
        so all pairs are slowed. The option `fast` sets the 32. The third scheme below is the
        paper's ramp, beginning at the turns of the first pair.]],
      formula = [[
        "paper:" g_t &= clip({32 - N_t}/{32 - 1}, 0, 1)
        "code:" g_t &= clip({t - ⌊c(32)⌋}/{⌈c(1)⌉ - ⌊c(32)⌋}, 0, 1)
        c(N) &= {r ln(L / (2πN))}/{2 ln b}]],
      predict = {
        { question = [[The first pair makes $32 / 2π = 5.09$ turns within the 32 tokens. What is its
            $g$ on the paper's ramp?]],
          expect = "(32 - 32 / (2 * math.pi)) / 31",
          answer = [[0.87. Its frequency is multiplied by $1 - 0.87 · 3/4 = 0.35$. On the ramp of
            the code its $g$ is 0, and its frequency does not change.]],
          hints = {
            { "it == 0", "That is on the ramp of the code. Use the first line." },
            { "it == 1", "$g$ is 1 for pairs of at most one turn." },
            { "math.abs(it - 4.09 / 31) < 0.002", "That is $1 - g$: it grows with the turns." },
            "$g = (32 - N)/31$ with $N = 5.09$." } },
        { question = [[Which questions will the model fail to answer with the paper's ramp and its
            limit of 32 turns?]],
          choices = { "the far ones", "the near ones", "both", "neither" }, expect = 2,
          answer = [[The near ones. All pairs are slowed to less than half their frequency, almost
            as by interpolation. So a distance of two has angles that did not occur in training. The
            rows of numbers below are the accuracies for the near questions in each quarter. In the
            last, it is about 0.2 with the paper's ramp and about 0.8 with that of the code. If the
            paper's ramp begins at the turns of the first pair, it is about 0.85. So here the limit
            matters more than the shape.]],
          hints = {
            { "it == 1", "Slow pairs are divided by 4 on both ramps. What happens to fast ones?" },
            { "it == 3 or it == 4", "Compare with linear interpolation, which slows all pairs." },
            "All pairs are slowed. Which method was that before?" } } },
      code = [[
        of_paper = roper.position.yarn{dim = 32, base = 100, factor = 4,
          trained_length = 32, ramp = "turns"}
        N = 32 * rope:thetas() / (2 * math.pi)
        g = ((32 - N) / 31):maximum(0):minimum(1)
        function apart(scheme, g)                    -- from its g
          local ratio = scheme:thetas() / rope:thetas()
          return (ratio - (1 - g) - g / 4):abs():max():item()
        end
        off_paper = apart(of_paper, g)
        function c(N)
          return 32 * math.log(32 / (2 * math.pi * N)) / (2 * math.log(100))
        end
        low, high = math.max(math.floor(c(32)), 0), math.ceil(c(1))
        t = roper.arange(0, 16, 1, "float64")
        g_code = ((t - low) / (high - low)):maximum(0):minimum(1)
        off_code = apart(yarn, g_code)
        fitted = roper.position.yarn{dim = 32, base = 100, factor = 4,
          trained_length = 32, ramp = "turns", fast = N[1]:item()}
        far_paper, near_paper = accuracy(model, of_paper, 128, 4)
        far_fitted, near_fitted = accuracy(model, fitted, 128, 4)
        g[1]:item(), low, high
        near_paper
        near_yarn
        near_fitted]],
      claims = {
        { "off_paper < 1e-12", instead = { '"turns"}', '"pairs"}' } },
        { "off_code < 1e-12", instead = { "math.ceil(c(1))", "math.floor(c(1))" } },
        { "math.abs(near_paper[4]:item() - 0.2) < 0.1",
          instead = { "accuracy(model, of_paper", "accuracy(model, yarn" } },
        { "math.abs(near_yarn[4]:item() - 0.8) < 0.1",
          instead = { "far_paper, near_paper", "far_paper, near_yarn" } },
        { "math.abs(near_fitted[4]:item() - 0.85) < 0.05",
          instead = { "accuracy(model, fitted", "accuracy(model, of_paper" } },
        { "far_paper[4]:item() > 0.9", instead = { "accuracy(model, of_paper",
          "accuracy(model, rope" } } },
      figure = {
        caption = [[The new frequency of each pair, relative to training, for both ramps. That of
          the code falls from the first pair on in equal steps. That of the paper begins far below
          1, and is near 1 for the first pair only if the limit of 32 turns is lowered.]],
        draw = [[
          old = rope:thetas()
          by_code, by_paper, by_fit = yarn:thetas() / old, of_paper:thetas() / old,
            fitted:thetas() / old
          return plot.line({{y = by_code, label = "code"}, {y = by_paper, label = "paper"},
            {y = by_fit, label = "paper, from 5.09 turns"}},
            {xlabel = "pair", ylabel = "new frequency / old", format = format})]],
        claims = {
          { "by_code[1]:item() == 1 and by_paper[1]:item() < 0.4",
            instead = { "of_paper:thetas()", "yarn:thetas()" } },
          { "math.abs(by_fit[1]:item() - 1) < 1e-12 and by_fit[2]:item() < by_code[2]:item()",
            instead = { "fitted:thetas()", "yarn:thetas()" } } } } },
    { title = "What the results show",
      text = [[
        Below is the accuracy in the last quarter for RoPE and the three methods (YaRN with the ramp
        of the code), with three models of different seeds. With all three models, the original RoPE
        fails at both questions. Interpolation answers the far one and fails at the near one. This
        is what the previous steps suggest.

        The results do not show whether NTK or YaRN answers more near questions. With 256 rows, the
        accuracy of each model is known to within a few hundredths. But another model may differ
        more.

        All of this is a single task, made so that both kinds of distance matter, with one layer and
        without training at the new length. The papers measure large models on text, often after
        further training.]],
      code = [[
        models = {model, trained(2), trained(3)}
        last = roper.zeros({2, 3, 4}, "float64")     -- questions, models, schemes
        for i, position in ipairs{rope, linear, ntk, yarn} do
          for seed = 1, 3 do
            far, near = accuracy(models[seed], position, 128, 4)
            last[{1, seed, i}] = far[4]:item()
            last[{2, seed, i}] = near[4]:item()
          end
        end
        last
        best_of_rope = last[{{}, {}, 1}]:max():item()]],
      predict = {
        question = [[Assume that neither of two methods is better, and chance decides which of them
          is ahead in a model. What is the probability that the same one is ahead in all three
          models?]],
        expect = "1 / 4",
        answer = [[1/4: three coins show the same side one time in four. So three models cannot show
          a difference between NTK and YaRN, even if the same one is ahead in all of them.]],
        hints = { { "it == 1 / 8", "That is the probability for one of the two. Add the other." },
          { "it == 1 / 2", "That is one coin. How many others must show the same side?" },
          { "it == 1 / 3", "Three models are three coins, with 8 outcomes. How many of them fit?" },
          "Think of three coins: heads three times, or tails three times." } },
      claims = { { "best_of_rope < 0.5", instead = { "{rope, linear,", "{linear, rope," } } },
      figure = {
        caption = [[Accuracy in the last quarter: the mean of three models, and their range.
          Interpolation solves only the far questions, RoPE neither kind. The ranges of NTK and YaRN
          show how much models of different seeds differ.]],
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
