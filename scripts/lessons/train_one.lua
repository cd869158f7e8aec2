return roper.lesson {
  order = 18,
  title = "A complete language model",
  before = "You know what attention with RoPER computes (`relative-distance`).",
  after = "You can compute a model and a training step by hand, and train a whole model.",
  summary = "Compute a training step by hand, then train the whole model.",
  minutes = 35,
  needs = { "why-position", "relative-distance" },
  notation = { { "x_m", "the vector of the model at position $m$: 64 numbers" },
    { "u_m", "the same, normalized" },
    { "q_m, k_m, v_m", "query, key and value of position $m$" },
    { "W, b", "weights and biases, which are trained" },
    { "R_m", "the rotation by position $m$" },
    { "a_{m,n}", "the weight of value $n$ for the query at $m$" },
    { "d", "the number of features of a head: 16" },
    { "z", "logits: one number for each character" },
    { "p", "the probability of each character" },
    { "y", "1 for the character that comes next, 0 for all others" },
    { "ℓ", "the loss" },
    { "T", "the number of characters in a row: 29" },
    { "g", "the gradient of the loss with respect to a weight $w$" },
    { "μ, s", "running means of $g$ and of $g²$" } },
  steps = {
    { title = "A text with a rule",
      text = [[
        This lesson builds a small language model and computes every part of it, from the
        characters that it reads to those that it writes. The model is trained here, in a second.

        First we need a text. Each line describes a thing and then says what it does. There are 8
        adjectives, 8 nouns and 4 verbs, all chosen at random. There is one rule: the second noun
        equals the first.

        Of the 64 pairs of adjective and noun, 16 are held out: they occur in no line of the text.
        At the end they show whether the model has learned the rule or only memorized lines.]],
      code = [[
        adjectives = {"thin", "warm", "loud", "slow", "cold", "dark", "soft", "fast"}
        nouns = {"door", "boat", "moon", "hand", "fish", "tree", "bell", "lamp"}
        verbs = {"turns", "stops", "falls", "waits"}
        function line(i, j, k)
          return ("a %s %s. the %s %s.\n"):format(adjectives[i], nouns[j],
            nouns[j], verbs[k])
        end
        function is_held_out(i, j) return (i + j) % 4 == 0 end
        lines = {}
        for _, draw in ipairs(roper.randint(1, 8, {600, 3}):totable()) do
          local i, j, k = draw[1], draw[2], draw[3]
          if not is_held_out(i, j) then
            lines[#lines + 1] = line(i, j, (k + 1) // 2)
          end
        end
        text = table.concat(lines)
        text:sub(1, 58)
        has_thin_moon = text:find("thin moon", 1, true) ~= nil]],
      claims = { { "not has_thin_moon", instead = { "% 4 == 0", "% 4 == 1" } } } },
    { title = "Characters become numbers",
      text = [[
        A model calculates with numbers, so each character gets a number, its token. A character is
        stored as one of 256 bytes, but only 22 of them occur in this text. So we number these from
        0 to 21. (Large models use pieces of words, tens of thousands of them. The rest is the
        same.)]],
      code = [[
        characters, ids = {}, {}
        for byte = 0, 255 do
          local character = string.char(byte)
          if text:find(character, 1, true) then
            ids[character] = #characters
            characters[#characters + 1] = character
          end
        end
        function encode(s)
          local list = {}
          for i = 1, #s do list[i] = ids[s:sub(i, i)] end
          return roper.tensor(list, "int32")
        end
        function decode(tokens)
          local list = {}
          for i, id in ipairs(tokens:totable()) do list[i] = characters[id + 1] end
          return table.concat(list)
        end
        tokens = encode(text)
        #characters, tokens:count()
        encode("a door")
        same = decode(tokens) == text]],
      claims = { { "same", instead = { "[id + 1]", "[1]" } } } },
    { title = "Numbers become vectors",
      text = [[
        The number of a token is only an index. The embedding is a table with a vector of 64 numbers
        for each character. They start as random numbers. Training changes them, as it changes all
        52,950 numbers of this model.

        `model:trace` runs the model and keeps the result of each part, so that each step by hand
        can be compared with the library. Take the first line of the text, 29 characters.
        `following` contains the next character of each.]],
      code = [[
        function fresh()
          roper.seed(1)
          return roper.nn.Transformer{vocabulary = #characters, d_model = 64,
            layers = 1, heads = 4, position = "roper"}
        end
        model = fresh()
        model:count()
        row, following = tokens:narrow(1, 1, 29), tokens:narrow(1, 2, 29)
        trace = model:trace(row:unsqueeze(1))
        x = model.embedding.weight[row + 1]      -- tokens count from 0, rows from 1
        x:shape()
        off = (x - trace.embedding[1]):abs():max():item()]],
      claims = { { "off < 1e-6", instead = { "row + 1]", "row * 0 + 1]" } } } },
    { title = "Queries, keys and values",
      text = [[
        A layer first normalizes each vector: it subtracts the mean of its numbers and divides by
        their standard deviation. Then no vector is much longer than another. (A gain and a bias
        follow, which are 1 and 0 before training. The tiny $ε$ avoids a division by 0.)

        Then three linear maps compute the query, the key and the value. In a linear map each number
        of the result is a weighted sum of the inputs, plus a bias.]],
      formula = [[
        u_m &= {x_m - mean(x_m)}/{√{mean((x_m - mean(x_m))^2) + ε}}
        q_m &= W_q u_m + b_q
        k_m &= W_k u_m + b_k
        v_m &= W_v u_m + b_v]],
      code = [[
        function norm(of, x)
          local y = x - x:mean(2, true)
          y = y / (y:square():mean(2, true) + 1e-5):sqrt()
          return y * of.gain + of.bias
        end
        function linear(of, x)
          return x:matmul(of.weight:transpose(1, 2)) + of.bias
        end
        layer = model.layers[1]
        u = norm(layer.attention_norm, x)
        q = linear(layer.attention.query, u)
        k = linear(layer.attention.key, u)
        v = linear(layer.attention.value, u)
        off = (v - trace["layers.1.attention.value"][1]):abs():max():item()]],
      claims = { { "off < 1e-5", instead = { "attention.value, u", "attention.value, x" } } } },
    { title = "Rotate, compare, average, rotate back",
      text = [[
        Now RoPER ([Harik and Jayasiri 2022](https://research.labml.ai/RoPER.html)). The 64 numbers
        are split among four heads of 16 features, that is, 8 pairs. Each query and each key is
        rotated by its position. Their dot products are the scores. The model must not look ahead,
        so later characters get the weight 0. $exp$ makes the scores of the others positive, and
        dividing by their sum gives weights that sum to 1. The values are rotated by their positions
        and averaged with these weights, and the mean is rotated back.

        Both the code and the library calculate in float64 here, so they agree to all digits but the
        last.]],
      predict = {
        question = [[Leave out the rotation back at the end. For one of the 29 characters this
          changes nothing. What is its position?]],
        expect = "0",
        answer = [[0: the first character is rotated back by 0. For all others the rotation back
          matters (`wrong-inverse`).]],
        hints = { { "it == 1", "Positions count from 0. Position 1 is rotated back by 1." },
          { "it == 28 or it == 29", "The last one is rotated back the most." },
          "At which position is the angle of the rotation back 0?" } },
      formula = [[
        a_{m,n} &= {exp((R_m q_m) · (R_n k_n) / √d)}/{Σ_{j ≤ m} exp((R_m q_m) · (R_j k_j) / √d)}
        o_m &= R_{-m} Σ_{n ≤ m} a_{m,n} R_n v_n]],
      code = [[
        function split(y) return y:view{29, 4, 16}:transpose(1, 2):to("float64") end
        q, k, v = split(q), split(k), split(v)
        rope = roper.position.rope{dim = 16}
        scores = rope:rotate(q):matmul(rope:rotate(k):transpose(2, 3)) / 16 ^ 0.5
        weights = scores:exp() * roper.ones{29, 29}:tril():to("float64")
        weights = weights / weights:sum(3, true)
        o = rope:unrotate(weights:matmul(rope:rotate(v)))
        function batch(y) return y:unsqueeze(1) end      -- a batch of one row
        how = {position = "roper", causal = true}
        by_library = roper.attention(batch(q), batch(k), batch(v), how)
        off = (o - by_library[1]):abs():max():item()]],
      claims = { { "off < 1e-12", instead = { "rope:unrotate(", "(" } } } },
    { title = "Back to characters",
      text = [[
        The heads are joined again, and a linear map mixes them. The result is added to $x$.
        Then each character goes through two more linear maps. Between them negative numbers are set
        to 0. The result is added as well. A last linear map computes one number for each of the 22
        characters, the logits.

        That is the whole model. The logits by hand and from the library are the same, up to
        rounding in float32.]],
      predict = {
        question = "How many trained numbers, weights and biases, does the last map have?",
        expect = "model.logits:count()",
        answer = "1430: for each of the 22 characters 64 weights and a bias.",
        hints = { { "it == 1408", "These are the weights. There are also biases." },
          { "it == 64", "That is for one character, without its bias." },
          "64 numbers go in, 22 come out." } },
      formula = [[
        x_m &← x_m + W_o o_m + b_o
        x_m &← x_m + W₂ max(W₁ norm(x_m) + b₁, 0) + b₂
        z_m &= W norm(x_m) + b]],
      code = [[
        joined = o:to("float32"):transpose(1, 2):contiguous():view{29, 64}
        x = x + linear(layer.attention.output, joined)
        hidden = linear(layer.feed_forward.inner, norm(layer.feed_forward_norm, x))
        x = x + linear(layer.feed_forward.outer, hidden:maximum(0))
        features = norm(model.norm, x)
        logits = linear(model.logits, features)
        off = (logits - model(row:unsqueeze(1))[1]):abs():max():item()]],
      claims = { { "off < 1e-4", instead = { "hidden:maximum(0)", "hidden" } } } },
    { title = "How wrong is it?",
      text = [[
        The exponentials of the logits, divided by their sum, are probabilities. At each position,
        only the probability of the actual next character matters. Take minus its logarithm. The
        mean over all positions is the loss. A certain and correct prediction has the loss 0.]],
      predict = {
        question = [[A model without any knowledge gives each of the 22 characters the same
          probability. What is its loss? (Three digits.)]],
        expect = "math.log(22)",
        answer = [[$ln 22 = 3.09$. A new model has an even higher loss: its random weights prefer
          some characters without a reason.]],
        hints = { { "math.abs(it - 1 / 22) < 0.01", "That is the probability. Take minus its ln." },
          { "it < 0", "The logarithm is negative. The loss is minus the logarithm." },
          "Each has the probability 1/22.", "At the prompt: > math.log(22)" } },
      formula = [[
        p_c &= {e^{z_c}}/{Σ_j e^{z_j}}
        ℓ &= - {1}/{T} Σ_m ln p_m("character" m + 1)]],
      code = [[
        p = logits:exp() / logits:exp():sum(2, true)
        y = roper.eye(#characters)[following + 1]      -- 1 for the next character
        loss = -(p * y):sum(2):log():mean()
        loss:item(), math.log(22)
        by_library = roper.cross_entropy(logits, following)
        off = (loss - by_library):abs():item()]],
      claims = { { "off < 1e-5", instead = { "(p * y)", "(p * (1 - y))" } } } },
    { title = "The gradient",
      text = [[
        The gradient of a weight $w$ is a slope. It says how fast the loss $ℓ$ grows if this weight
        grows and all others stay as they are. It is written $∂ℓ/∂w$, the partial derivative of $ℓ$
        with respect to $w$. Training moves the weight in the opposite direction.

        For the logits the gradient is simple. It is the probability, minus 1 for the right
        character, divided by the number of positions. So a step raises the logit of the right
        character and lowers all others, the likely ones most.

        The chain rule says that slopes multiply. If a weight grows by 1, a logit by 2, and the loss
        by 3 for each 1 of that logit, the loss grows by 6. (If the weight changes several logits,
        their products are added.) In this way `backward` goes back from the logits through all of
        the formulas above, in reverse order.

        We check two gradients. The first is that of the weights of the last map, computed by hand
        from that of the logits. For the second, increase and decrease one weight a little, and
        compare the losses.]],
      formula = [[
        {∂ℓ}/{∂z_{m,c}} &= {p_{m,c} - y_{m,c}}/{T}
        {∂ℓ}/{∂w} &≈ {ℓ(w + h) - ℓ(w - h)}/{2h}]],
      code = [[
        function loss_of_row()
          local logits = model(row:unsqueeze(1))
          return roper.cross_entropy(logits, following:unsqueeze(1))
        end
        model:zero_gradients()
        loss_of_row():backward()
        by_hand = ((p - y) / 29):transpose(1, 2):matmul(features)
        off = (by_hand - model.logits.weight.grad):abs():max():item()
        w = layer.attention.value.weight
        slope = w.grad[1][1]:item()
        was, h = w[1][1]:item(), 0.02
        w[{1, 1}] = was + h
        above = loss_of_row():item()
        w[{1, 1}] = was - h
        below = loss_of_row():item()
        w[{1, 1}] = was
        measured = (above - below) / (2 * h)
        slope, measured]],
      claims = {
        { "off < 1e-5", instead = { "p - y", "p + y" } },
        { "math.abs(slope - measured) < 1e-4", instead = { "was - h", "was" } } } },
    { title = "A step of Adam",
      text = [[
        Plain gradient descent moves each weight by a multiple of its gradient. Adam
        ([Kingma and Ba 2015](arXiv:1412.6980)) keeps two running means: $μ$ of the gradients and
        $s$ of their squares. It divides the first by the square root of the second. So the size of
        the gradient does not matter, only how steadily it points in one direction. The steps are
        numbered $t$, starting from 1. $μ$ and $s$ begin at 0, so they are too small at first.
        Dividing by $1 - 0.9^t$ and $1 - 0.999^t$ makes up for that.]],
      predict = {
        question = [[The learning rate is 0.01. One weight has the gradient 0.5, another 0.0005. How
          far does the first step move the second weight?]],
        expect = "0.01",
        answer = [[By 0.01, as far as the first. There has been only one gradient, and it is divided
          by its own size. Every weight moves by the learning rate, unless its gradient is nearly
          0.]],
        hints = { { "math.abs(it - 5e-6) < 1e-6", "That is plain gradient descent." },
          { "it == -0.01", "Give the distance, without a sign." },
          "With $t = 1$: $μ = 0.1 g$ is divided by 0.1, and $s = 0.001 g²$ by 0.001." } },
      formula = [[
        μ &← 0.9 μ + 0.1 g
        s &← 0.999 s + 0.001 g²
        w &← w - rate · {μ / (1 - 0.9^t)}/{√{s / (1 - 0.999^t)} + 10^(-8)}]],
      code = [[
        adam = roper.optim.Adam{rate = 0.01}
        weight = model.logits.weight
        before, g = weight:clone(), weight.grad:clone()
        adam:step(model:parameters())
        mu, s = 0.1 * g, 0.001 * g * g
        adjusted = (mu / (1 - 0.9)) / ((s / (1 - 0.999)):sqrt() + 1e-8)
        off = (before - 0.01 * adjusted - weight):abs():max():item()
        moved = (weight - before):abs()
        moved:min():item(), moved:max():item()]],
      claims = {
        { "off < 1e-6", instead = { "0.1 * g, 0.001", "-0.1 * g, 0.001" } },
        { "moved:max():item() < 0.0101", instead = { "rate = 0.01}", "rate = 0.02}" } } } },
    { title = "Two hundred steps",
      text = [[
        So far we have used one line and one step. Now a new model is trained for 200 steps, each
        with 16 pieces of two lines. This takes about a second.

        How low can the loss get? Each line contains one of 48 pairs of adjective and noun and one
        of 4 verbs, chosen at random. These cannot be predicted. Guessing one of $n$ costs $ln n$,
        as in the question on 22 characters. Everything else follows and can cost nothing. A line
        has 29 characters.]],
      predict = {
        question = [[What is the lowest loss, as a mean over all characters, that a model can reach?
          (Three digits.)]],
        expect = "floor",
        answer = [[$ln (48 · 4) / 29 = 0.181$. (Only a model that memorizes the 456 lines gets
          below.) A model that does not find the rule must guess the noun a second time, among the 6
          that occur with this adjective. That costs another $ln 6$ per line, in total 0.243 per
          character.]],
        hints = { { "math.abs(it - math.log(192)) < 0.1", "That is per line. And per character?" },
          { "it == 0", "The random choices cannot be predicted by any model." },
          "Each line is one of 192.", "At the prompt: > math.log(192) / 29." } },
      code = [[
        model, adam = fresh(), roper.optim.Adam{rate = 0.01}
        losses = {}
        for step = 1, 200 do
          local first = roper.randint(0, #lines - 3, {16, 1}) * 29 + 1
          local rows = tokens[(first + roper.arange(0, 59)):to("int32")]
          local logits = model(rows:narrow(2, 1, 58))
          local loss = roper.cross_entropy(logits, rows:narrow(2, 2, 58))
          model:zero_gradients()
          loss:backward()
          adam:step(model:parameters())
          losses[step] = loss:item()
        end
        floor = math.log(48 * 4) / 29
        without_rule = floor + math.log(6) / 29
        ending = roper.tensor(losses):narrow(1, #losses - 9, 10):mean():item()
        losses[1], ending]],
      claims = { { "ending < 0.24", instead = { "1, 200", "1, 20" } } },
      figure = {
        caption = [[The loss during training. It ends between the two thin lines: below the best
          loss without the rule, and close to the minimum.]],
        draw = [[
          steps = roper.arange(1, #losses + 1)
          shown = roper.tensor(losses):minimum(1)
          ends = {1, #losses}
          return plot.line({{x = steps, y = shown, label = "loss"},
            {x = ends, y = {without_rule, without_rule}, label = "without the rule",
              thin = true},
            {x = ends, y = {floor, floor}, label = "minimum", thin = true}},
            {xlabel = "step", ylabel = "loss, cut off at 1", format = format})]],
        claims = { { "shown:narrow(1, 181, 20):mean():item() < without_rule",
          instead = { "minimum(1)", "maximum(1)" } } } } },
    { title = "The model writes",
      text = [[
        To write, compute the probabilities of the next character, draw a character from them,
        append it, and repeat. The code writes two lines.

        Has the model only memorized lines? Give it the 16 pairs that occur in no line of the text,
        up to the second "the", and take the most likely character four times.]],
      predict = {
        question = [[No line of the text contains "thin moon". Given `a thin moon. the`, which word
          does the model write next?]],
        choices = { "moon", "a noun that occurred after \"thin\"", "letters that are not a noun" },
        expect = 1,
        answer = [["moon": it copies the noun. Memorized lines could not give that. The last numbers
          below show for how many of the 16 pairs it finds the right noun.]],
        hints = { { "it == 2", "A model that memorized lines would. How low was this one's loss?" },
          { "it == 3", "Its loss is low. Could it be, with other letters in the place of nouns?" },
          "The loss is lower than is possible without the rule." } },
      code = [[
        function chances(s)
          return roper.no_grad(model, encode(s):unsqueeze(1))[1][-1]:softmax(1)
        end
        function write(s, count)
          for _ = 1, count do
            local below = chances(s):cumsum(1):le(roper.rand{1}:item())
            s = s .. characters[math.min(below:sum():item() + 1, #characters)]
          end
          return s
        end
        write("a ", 56)
        right, asked = 0, 0
        for i = 1, 8 do
          for j = 1, 8 do
            if is_held_out(i, j) then
              local s = line(i, j, 1):sub(1, 17)
              for _ = 1, 4 do s = s .. characters[chances(s):argmax():item()] end
              asked = asked + 1
              right = right + (s:sub(18) == nouns[j] and 1 or 0)
            end
          end
        end
        right, asked]],
      exercise = {
        question = [[Let it write more: `write("a ", 143)`, and again. Where does it make most of
          its mistakes?]],
        answer = [[No training row was longer than 58 characters. From the third line on there are
          distances that were not in training (`long-context`). Expect most mistakes there.]] },
      claims = { { "right >= 12", instead = { "== nouns[j]", "== nouns[9 - j]" } } } },
    { title = "The attention weights",
      text = [[
        At the space after the second "the", the model must find the first noun. One letter later it
        must find it again, because both "boat" and "bell" begin with b. Which of the four heads
        attends to the noun? Take the weights for the queries at the space and at the b, and sum
        them over the four letters of the noun. In the result, each row is a head, the first column
        the space and the second column the b.

        At least one head attends to the noun. A head that does so for one character need not do so
        for the next. The figure shows where a head has large weights. It does not show how the
        model uses the values from there.]],
      code = [[
        s = line(1, 2, 3)
        trace = model:trace(encode(s):unsqueeze(1))
        weights = trace["layers.1.attention.weights"][1]
        on_noun = weights:narrow(2, 17, 2):narrow(3, 8, 4):sum(3)
        on_noun
        most = on_noun:max():item()
        head = on_noun:sum(2):argmax():item()]],
      claims = { { "most > 0.5", instead = { "(3, 8, 4)", "(3, 20, 4)" } } },
      figure = {
        caption = [[The weights of the head that attends most to the noun: a row for each character,
          starting from the space before the second noun. In at least one of the first two rows,
          most of the weight is on the letters of the first noun.]],
        draw = [[
          drawn = weights[head]:narrow(1, 17, 13)
          letters = s:gsub("\n", "/")
          return plot.attention(drawn, {tokens = letters, legend = false, format = format,
            height = format ~= "svg" and 13 or nil})]],
        claims = { { "drawn:narrow(1, 1, 2):narrow(2, 8, 4):sum(2):max():item() > 0.5",
          instead = { "narrow(1, 17, 13)", "narrow(1, 1, 13)" } } } } },
    { title = "The heads by distance: RoPE beside RoPER",
      text = [[
        The weights of one line show one case. For a whole head, take the mean of its weights at
        each distance, over many queries: `roper.interpret.by_distance`. It shows how far away the
        head looks.

        The task is one in which a distance matters, and nothing else: repeat the letter that was 8
        positions before, in rows of 48 random letters. The code trains two models, one with RoPE
        and one with RoPER, each in 100 steps from the same random numbers. Every 10 steps it keeps
        the weights of the four heads, in thousandths.

        One easy task and one seed do not show which method is better. They show what a head
        learns.]],
      predict = {
        question = [[Before training, a query weighs all letters that it sees nearly alike. After
          training, at which distance do most of the heads have their largest weight?]],
        expect = "8",
        answer = [[At 8, with both methods. The query of each position finds the key that lies 8
          positions before. Before training, the mean is largest at distance 0 only because the
          first queries see few letters.]],
        hints = { { "it == 0", "That is the letter itself, which does not help." },
          { "it == 7 or it == 9", "The model sees the letter at the position of the answer, too." },
          { "it == 48", "That is the length of a row. Which letter is to be repeated?" },
          "Where is the letter that is to be repeated?" } },
      code = [[
        lag = 8
        function letter_rows(count)
          local letters = roper.randint(0, 7, {count, 48})
          local answers = letters:roll(lag, 2)
          answers[{{}, {1, lag}}] = -1             -- none for the first ones
          return letters, answers
        end
        sample = letter_rows(8)
        function by_distance(model)                -- of each head, 0 to 20
          local weights = roper.interpret.by_distance(model, sample)[1]
          return (1000 * weights:narrow(2, 1, 21)):round():to("int32"):totable()
        end
        function history(position)
          roper.seed(1)
          local model = roper.nn.Transformer{vocabulary = 8, d_model = 64,
            layers = 1, heads = 4, position = position}
          local adam, seen = roper.optim.Adam{rate = 0.01}, {by_distance(model)}
          for step = 1, 100 do
            local letters, answers = letter_rows(16)
            model:zero_gradients()
            roper.cross_entropy(model(letters), answers):backward()
            adam:step(model:parameters())
            if step % 10 == 0 then seen[#seen + 1] = by_distance(model) end
          end
          return seen
        end
        rope_heads, roper_heads = history("rope"), history("roper")
        function mean_of(heads)                    -- by distance, over the heads
          return roper.tensor(heads, "float64"):mean(1) / 1000
        end
        function farthest(heads) return mean_of(heads):argmax():item() - 1 end
        farthest(rope_heads[1]), farthest(rope_heads[11]), farthest(roper_heads[11])]],
      claims = {
        { "farthest(rope_heads[11]) == 8", instead = { "lag = 8", "lag = 5" } },
        { "farthest(roper_heads[11]) == 8", instead = { "lag = 8", "lag = 5" } } },
      figure = {
        caption = [[The mean weight of the four heads by distance. Dashed: before training. Solid:
          after 100 steps, with RoPE and with RoPER. Both look back by 8.]],
        draw = [[
          before, of_rope = mean_of(rope_heads[1]), mean_of(rope_heads[11])
          of_roper, distances = mean_of(roper_heads[11]), roper.arange(0, 21)
          return plot.line({{x = distances, y = of_rope, label = "RoPE"},
            {x = distances, y = of_roper, label = "RoPER"},
            {x = distances, y = before, label = "before", dashed = true}},
            {xlabel = "distance", ylabel = "weight", format = format})]],
        claims = {
          { "of_rope:argmax():item() == 9 and of_rope:max():item() > 0.3",
            instead = { "mean_of(rope_heads[11])", "mean_of(rope_heads[1])" } },
          { "of_roper:argmax():item() == 9 and of_roper:max():item() > 0.3",
            instead = { "mean_of(roper_heads[11])", "mean_of(roper_heads[1])" } },
          { "before:argmax():item() == 1 and before:max():item() < 0.2",
            instead = { "before, of_rope = mean_of(rope_heads[1])",
              "before, of_rope = mean_of(rope_heads[11])" } } },
        play = { kind = "heads",
          data = [[{methods = {"RoPE", "RoPER"}, every = 10, weights = {rope_heads, roper_heads}}]],
          caption = [[The weights of each head by distance, during training. Dashed: before it. If
            this page runs code, change `lag` or the seed, press Run, and these heads are those of
            your models.]] } } },
    { title = "What the results show",
      text = [[
        The steps by hand show that the library computes what the formulas say. This is true of any
        model of this form. The training shows one thing: this model, with this seed, on this text,
        found a rule that holds beyond the lines of the text. It does not measure how good RoPER is.
        A comparison with another method needs several seeds of each, and a test that is fixed
        beforehand.

        Which rule has the model found? We meant "the noun again". But all lines have the same
        length, so "the character 10 positions before" describes the text equally well. The text
        cannot distinguish the two, and nothing made the model choose ours. Try a noun of five
        letters.]],
      code = [[
        ten_before = true
        for _, l in ipairs(lines) do
          ten_before = ten_before and l:sub(18, 21) == l:sub(8, 11)
        end
        write("a thin mouse. the ", 12)
        write("a thin mouse. the ", 12)]],
      exercise = {
        question = "How would you change the text so that only the intended rule fits?",
        answer = [[Use nouns of several lengths. Then the distance of the noun differs from line to
          line, and counting positions does not find it.]] },
      claims = { { "ten_before", instead = { "l:sub(8, 11)", "l:sub(3, 6)" } } },
    },
  },
}
