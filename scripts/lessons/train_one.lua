return roper.lesson {
  order = 12,
  title = "One model, from letters to letters",
  before = "You know what attention with RoPER computes (`relative-distance`).",
  after = "You can compute a step of a model and of its training by hand, and train a whole one.",
  minutes = 45,
  needs = { "why-position", "relative-distance" },
  notation = { { "x_i", "what the model knows at position $i$: 64 numbers" },
    { "u_i", "the same, normed" },
    { "q_i, k_i, v_i", "query, key and value of position $i$" },
    { "W, b", "weights and biases: what is trained" },
    { "R_i", "the turn by position $i$" },
    { "a_ij", "the weight with which $i$ looks at $j$" },
    { "d", "features of a head: 16" },
    { "z", "logits: one number for each character" },
    { "p", "the probability of each character" },
    { "y", "the character that comes next: 1 at its place, else 0" },
    { "ℓ", "the loss" },
    { "T", "characters in a row: 29" },
    { "g", "the gradient of the loss: how the loss changes with a weight $w$" },
    { "m, s", "running means of $g$ and of $g²$" } },
  steps = {
    { title = "A text with a rule",
      text = [[
        This lesson builds a small language model, with every part in sight: from letters to
        letters. It is trained here, in a second, and then it writes.

        First a text is needed. Each line says of a thing what it is like, and then what it does.
        There are 8 adjectives, 8 nouns and 4 verbs, all chosen by chance. There is one rule: the
        second noun is the first one again.

        Of the 64 pairs of adjective and noun, 16 are kept back. No line of the text has them. In
        the end they tell whether the model learned the rule, or only lines.]],
      code = [[
        adjectives = {"thin", "warm", "loud", "slow", "cold", "dark", "soft", "fast"}
        nouns = {"door", "boat", "moon", "hand", "fish", "tree", "bell", "lamp"}
        verbs = {"turns", "stops", "falls", "waits"}
        function line(i, j, k)
          return ("a %s %s. the %s %s.\n"):format(adjectives[i], nouns[j],
            nouns[j], verbs[k])
        end
        function is_kept_back(i, j) return (i + j) % 4 == 0 end
        lines = {}
        for _, draw in ipairs(roper.randint(1, 8, {600, 3}):totable()) do
          local i, j, k = draw[1], draw[2], draw[3]
          if not is_kept_back(i, j) then
            lines[#lines + 1] = line(i, j, (k + 1) // 2)
          end
        end
        text = table.concat(lines)
        text:sub(1, 58)
        has_thin_moon = text:find("thin moon", 1, true) ~= nil]],
      claims = { { "not has_thin_moon", instead = { "% 4 == 0", "% 4 == 1" } } } },
    { title = "Letters become numbers",
      text = [[
        A model calculates, so each character gets a number: its token. A character is stored as one
        of 256 bytes, of which only 22 occur in this text. So they are numbered anew, from 0 to 21.
        (Large models take pieces of words, tens of thousands of them. The rest works alike.)]],
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
        The number of a token is only a name. What the model knows of a character stands in a table,
        the embedding. It has a row of 64 numbers for each. At first they are random. Training
        changes them, as it changes all 52,950 numbers of this model.

        `model:trace` runs the model and keeps what each part gave. So each line by hand can be
        compared with the library. Take the first line of the text, 29 characters. `following` are
        the characters that come next, one for each.]],
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
        From each vector a layer first takes the mean away. Then it divides by the spread, so that
        no vector is much longer than another. (A gain and a bias follow, 1 and 0 before training.
        $ε$ is tiny: nothing is divided by 0.)

        Then three linear maps make a query, a key and a value of it. In a linear map each number of
        the result is a weighted sum of those given, plus a bias.]],
      formula = [[
        u_i &= {x_i - mean(x_i)}/{√{mean((x_i - mean(x_i))^2) + ε}}
        q_i &= W_q u_i + b_q
        k_i &= W_k u_i + b_k
        v_i &= W_v u_i + b_v]],
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
    { title = "Turn, compare, take the mean, turn back",
      text = [[
        Now RoPER. The 64 numbers are split among four heads of 16, that is 8 pairs of features.
        Each query turns by its position, and so does each key. Their dot products are the scores.
        The model may not look ahead: what comes later gets no weight. $exp$ makes all scores
        positive. Divided by their sum they are weights, which sum to 1. The values turn by their
        positions, the weights take their mean, and the mean turns back.

        Hand and library both calculate in float64 here. So they should agree to all digits but the
        last.]],
      predict = {
        question = [[Leave out the turn back at the end. For one of the 29 characters that changes
          nothing. What is its position?]],
        expect = "0",
        answer = [[It is position 0: the first character turns back by 0. For all others it does
          matter (`wrong-inverse`).]],
        hints = { { "it == 1", "Positions count from 0. That of 1 turns back by 1." },
          "At which position is the turn back no turn?" } },
      formula = [[
        a_ij &= {exp((R_i q_i) · (R_j k_j) / √d)}/{Σ_{l ≤ i} exp((R_i q_i) · (R_l k_l) / √d)}
        o_i &= R_{-i} Σ_{j ≤ i} a_ij R_j v_j]],
      code = [[
        function split(y) return y:view{29, 4, 16}:transpose(1, 2):to("float64") end
        q, k, v = split(q), split(k), split(v)
        rope = roper.position.rope{dim = 16}
        scores = rope:rotate(q):matmul(rope:rotate(k):transpose(2, 3)) / 16 ^ 0.5
        weights = scores:exp() * roper.ones{29, 29}:tril():to("float64")
        weights = weights / weights:sum(3, true)
        o = rope:unrotate(weights:matmul(rope:rotate(v)))
        function batch(y) return y:unsqueeze(1) end      -- of one row
        how = {position = "roper", causal = true}
        by_library = roper.attention(batch(q), batch(k), batch(v), how)
        off = (o - by_library[1]):abs():max():item()]],
      claims = { { "off < 1e-12", instead = { "rope:unrotate(", "(" } } } },
    { title = "Back to letters",
      text = [[
        The heads are put side by side again, and a linear map mixes them. The result is added to
        what was there: attention only adds to what the model knows of a character. Then each
        character by itself goes through two linear maps. Between them negative numbers become 0.
        That is added, too. A last map gives a number for each of the 22 characters: the logits.

        That is the whole model. By hand and by library the logits are the same, to the rounding of
        float32.]],
      predict = {
        question = "How many numbers does the last map have that are trained, weights and biases?",
        expect = "model.logits:count()",
        answer = "There are 1430: for each of the 22 characters 64 weights and a bias.",
        hints = { { "it == 1408", "These are the weights. There are biases, too." },
          { "it == 64", "So many for each character, and a bias." },
          "64 numbers go in, 22 come out." } },
      formula = [[
        x_i &← x_i + W_o o_i + b_o
        x_i &← x_i + W₂ max(W₁ norm(x_i) + b₁, 0) + b₂
        z_i &= W norm(x_i) + b]],
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
        $exp$, divided by the sum, makes probabilities of the logits of each position. Of these only
        one is asked: that of the character which in fact comes next. Take minus its logarithm. The
        mean of that over all positions is the loss. To be sure and right costs 0.]],
      predict = {
        question = [[Somebody knows nothing, and gives each of the 22 characters the same chance.
          What is the loss? (Three digits.)]],
        expect = "math.log(22)",
        answer = [[It is $ln 22 = 3.09$. A fresh model pays even more: it prefers this or that
          without a reason.]],
        hints = { { "math.abs(it - 1 / 22) < 0.01", "That is the probability. Take minus its ln." },
          { "it < 0", "Minus the logarithm: the logarithm of a small number is below 0." },
          "Each has the probability 1/22.", "At the prompt: > math.log(22)" } },
      formula = [[
        p_c &= {e^{z_c}}/{Σ_k e^{z_k}}
        ℓ &= - {1}/{T} Σ_i ln p_i("character" i + 1)]],
      code = [[
        p = logits:exp() / logits:exp():sum(2, true)
        y = roper.eye(#characters)[following + 1]      -- a 1 for what comes next
        loss = -(p * y):sum(2):log():mean()
        loss:item(), math.log(22)
        by_library = roper.cross_entropy(logits, following)
        off = (loss - by_library):abs():item()]],
      claims = { { "off < 1e-5", instead = { "(p * y)", "(p * (1 - y))" } } } },
    { title = "Which way is down?",
      text = [[
        The gradient of a weight is a slope. It says how fast the loss grows if the weight grows a
        little. Training goes the other way, down.

        For the logits the slope is simple. It is the probability, minus 1 for the right character,
        divided by the number of positions. So the right character is pushed up, and all others
        down, the likely ones most.

        From there the chain rule goes back through every line above, in reverse order. That is what
        `backward` does. Two checks follow. The first is the gradient of the last map's weights,
        made by hand from that of the logits. For the second, move one weight a little to both
        sides, and look at the loss.]],
      formula = [[
        {∂ℓ}/{∂z_ic} &= {p_ic - y_ic}/{T}
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
        Plain descent would move each weight against its gradient, and farther where that is larger.
        Adam ([Kingma and Ba 2015](arXiv:1412.6980)) keeps a running mean $m$ of the gradients and
        one of their squares, $s$. It divides the first by the root of the second. So it is not the
        size that counts but how steadily a gradient points the same way. The steps are numbered
        $t$, from 1 on. $m$ and $s$ begin at 0. They need some steps to get off 0: the divisions by
        $1 - 0.9^t$ and $1 - 0.999^t$ make up for that.]],
      predict = {
        question = [[The rate is 0.01. One weight has the gradient 0.5, another 0.0005. How far does
          the first step move the other one?]],
        expect = "0.01",
        answer = [[By 0.01, like the first one. There is only one gradient yet, and it is divided by
          its own size. Every weight moves by the rate, unless its gradient is nearly 0.]],
        hints = { { "math.abs(it - 5e-6) < 1e-6", "So it would by plain descent." },
          { "it == -0.01", "How far, not in which direction." },
          "With $t = 1$: $m = 0.1 g$ is divided by 0.1, and $s = 0.001 g²$ by 0.001." } },
      formula = [[
        m &← 0.9 m + 0.1 g
        s &← 0.999 s + 0.001 g²
        w &← w - rate · {m / (1 - 0.9^t)}/{√{s / (1 - 0.999^t)} + 10^(-8)}]],
      code = [[
        adam = roper.optim.Adam{rate = 0.01}
        weight = model.logits.weight
        before, g = weight:clone(), weight.grad:clone()
        adam:step(model:parameters())
        m, s = 0.1 * g, 0.001 * g * g
        adjusted = (m / (1 - 0.9)) / ((s / (1 - 0.999)):sqrt() + 1e-8)
        off = (before - 0.01 * adjusted - weight):abs():max():item()
        moved = (weight - before):abs()
        moved:min():item(), moved:max():item()]],
      claims = {
        { "off < 1e-6", instead = { "0.1 * g, 0.001", "-0.1 * g, 0.001" } },
        { "moved:max():item() < 0.0101", instead = { "rate = 0.01}", "rate = 0.02}" } } } },
    { title = "Two hundred steps",
      text = [[
        So far it was one line and one step. Now a fresh model gets 16 pieces of two lines each, 200
        times. That takes about a second.

        How low can the loss get? In each line one of 48 pairs of adjective and noun is drawn, and
        one of 4 verbs. Nobody can know which. To guess one of $n$ costs $ln n$, as in the question
        on 22 characters. All else follows and may cost nothing. A line has 29 characters.]],
      predict = {
        question = [[What is the lowest loss, as a mean over all characters, that a model can reach?
          (Three digits.)]],
        expect = "floor",
        answer = [[It is $ln (48 · 4) / 29 = 0.181$. (Only who learns the 456 lines by heart
          gets below.) A model that does not find the rule has to guess the noun a second
          time, among the 6 that stand with this adjective. That costs $ln 6$ a line more, in
          all 0.243 a character.]],
        hints = { { "math.abs(it - math.log(192)) < 0.1", "So much for a line. And a character?" },
          { "it == 0", "The draws cannot be guessed, however good the model." },
          "One of 192 for each line.", "At the prompt: > math.log(192) / 29." } },
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
        caption = "The loss falls towards the floor, below what is possible without the rule.",
        draw = [[
          steps = roper.arange(1, #losses + 1)
          shown = roper.tensor(losses):minimum(1)
          ends = {1, #losses}
          return plot.line({{x = steps, y = shown, label = "loss"},
            {x = ends, y = {without_rule, without_rule}, label = "without the rule",
              dashed = true},
            {x = ends, y = {floor, floor}, label = "floor", dashed = true}},
            {xlabel = "step", ylabel = "loss, cut at 1", format = format})]],
        claims = { { "shown:narrow(1, 181, 20):mean():item() < without_rule",
          instead = { "minimum(1)", "maximum(1)" } } } } },
    { title = "It writes",
      text = [[
        To write is to ask for the probabilities of the next character, draw one by them, append it,
        and ask again. Here are two lines that it writes.

        Are they only lines learned by heart? Give it the 16 pairs that no line of the text had, up
        to the second "the", and let it take the likeliest character four times.]],
      predict = {
        question = [[No line of the text has "thin moon". Given `a thin moon. the`, which word does
          it say next?]],
        choices = { "moon", "a noun that stood behind \"thin\"", "letters that are no noun" },
        expect = 1,
        answer = [[It says "moon": it looks the noun up. No list of lines could do that. The last
          numbers below say for how many of the 16 pairs it finds the right noun.]],
        hints = { { "it == 2", "So it would if it knew lines by heart. How low was its loss?" },
          "Its loss came below what is possible without the rule." } },
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
            if is_kept_back(i, j) then
              local s = line(i, j, 1):sub(1, 17)
              for _ = 1, 4 do s = s .. characters[chances(s):argmax():item()] end
              asked = asked + 1
              right = right + (s:sub(18) == nouns[j] and 1 or 0)
            end
          end
        end
        right, asked]],
      exercise = {
        question = [[Let it write on: `write("a ", 143)`, and again. Where does it make most of its
          mistakes?]],
        answer = [[No row of its training was longer than 58 characters. From the third line on come
          distances that it never saw (`long-context`). Expect most mistakes there.]] },
      claims = { { "right >= 12", instead = { "== nouns[j]", "== nouns[9 - j]" } } } },
    { title = "Where it looks",
      text = [[
        At the blank after the second "the", the model must find the first noun. One letter later it
        must still: both "boat" and "bell" begin with b. There are four heads. Which of them looks
        there? Take the weights of the queries at the blank and at the b, and add up what falls on
        the four letters of the noun. In the numbers below, a row is a head, the first column the
        blank and the second the b.

        One head or more finds them. What a head does for one character it need not do for the next.
        The picture shows where a head looks. It does not show what the head does with what it finds
        there.]],
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
        caption = [[Where the head looks that looks most at the noun: a row for each character, from
          the blank before the second noun on.]],
        draw = [[
          drawn = weights[head]:narrow(1, 17, 13)
          letters = s:gsub("\n", "/")
          return plot.attention(drawn, {tokens = letters, legend = false, format = format,
            height = format ~= "svg" and 13 or nil})]],
        claims = { { "drawn:narrow(1, 1, 2):narrow(2, 8, 4):sum(2):max():item() > 0.5",
          instead = { "narrow(1, 17, 13)", "narrow(1, 1, 13)" } } } } },
    { title = "What can be told",
      text = [[
        The steps by hand show that the library computes what the formulas say. They hold for any
        model of this form. The training shows one thing: this model, with this seed, on this text,
        found a rule that holds beyond its lines. It is no measure of RoPER. To compare it with
        something else takes several seeds of each, and a test that is fixed beforehand.

        And what is the rule that it found? We meant "the noun again". But all lines have the same
        length, so "the character 10 places before" says as much. The text cannot tell these two
        apart. Nothing made the model choose. Ask it about a noun of five letters.]],
      code = [[
        ten_before = true
        for _, l in ipairs(lines) do
          ten_before = ten_before and l:sub(18, 21) == l:sub(8, 11)
        end
        write("a thin mouse. the ", 12)
        write("a thin mouse. the ", 12)]],
      exercise = {
        question = "How would you change the text so that only the rule fits that we meant?",
        answer = [[Nouns of several lengths. Then the noun stands at another distance from line to
          line, and counting places does not find it.]] },
      claims = { { "ten_before", instead = { "l:sub(8, 11)", "l:sub(3, 6)" } } },
    },
  },
}
