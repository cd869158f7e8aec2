return roper.lesson {
  order = 15,
  title = "Shaw to RoPER: one equation for all",
  before = "You can explain why scores should depend on distance (`relative-score`).",
  after = "You can say how each of seven position schemes uses the distance.",
  summary = "Fit seven methods into one equation.",
  minutes = 40,
  needs = { "mask-and-waves", "relative-score", "relative-distance" },
  notation = {
    { "q_m, k_n, v_n", "query, key and value of the tokens at positions $m$ and $n$" },
    { "s_{m,n}", "the score: how well the query at $m$ matches the key at $n$" },
    { "M, r, t, b", "the parts of the score that depend on the distance $n - m$: a matrix, two "
      .. "vectors, a number" },
    { "N, z", "the parts of the output that depend on it: a matrix and a vector" },
    { "R_{n-m}", "the rotation by $n - m$" },
    { "clip(x, a, b)", "$x$, limited to the range from $a$ to $b$" },
  },
  given = { x = "vector", y = "vector", p = "vector", m = "position", n = "position" },
  steps = {
    { title = "Multiply out: four terms",
      text = [[
        There are many ways to give a model positions, and each paper writes them in its own way.
        This lesson puts seven of them, here called families, into one equation. Then you can see
        how they differ, and combine them.

        The first transformer ([Vaswani et al. 2017](arXiv:1706.03762)) adds a wave $p$ to each
        token before it compares them. Query and key are both sums, $x_m + p_m$ and $x_n + p_n$.
        (The trained matrices that compute query and key from a token are left out.) Multiply out
        their dot product like $(a + b)(c + d)$ at school. There are four terms: content with
        content, content with position, position with content, position with position.

        The families answer one question: what should replace these terms, so that only the distance
        matters?

        (In the check below, `rotate(p, m)` is the wave at $m$: an arrow that rotates with the
        position.)]],
      formula = "(x_m + p_m) · (x_n + p_n) = x_m · x_n + x_m · p_n + p_m · x_n + p_m · p_n",
      predict = { question = [[Move the text: it begins at position 1000 instead of 0. Which of the
          four terms change?]],
        choices = { "all but the first", "the two in the middle", "the last one", "none" },
        expect = 2,
        hints = { { "it == 1 or it == 3",
            "The last one is a product of two waves. See `mask-and-waves`." },
          { "it == 4", "The words stay, but each wave has a new position. Which terms see it?" },
          "Look for terms that contain one position and no other to compare it with." },
        answer = [[The two in the middle. The first contains no position. The last is a sum of terms
          $cos (m - n)θ_t$ (`mask-and-waves`). But the product of a content and a wave depends on
          the position of the wave.]] },
      code = [[
        T, d = 6, 8
        x = roper.randn({T, d}, "float64")
        sinusoidal = roper.position.sinusoidal{d_model = d}
        function waves(first)
          local p = roper.arange(first, first + T, 1, "float64"):view{1, T}
          return sinusoidal:embed(roper.zeros({1, T, d}, "float64"), p)[1]
        end
        function products(x, y) return x:matmul(y:transpose(1, 2)) end
        function apart(x, y) return (x - y):abs():max():item() end
        near, far = waves(0), waves(1000)
        middle = apart(products(x, near), products(x, far))
        last = apart(products(near, near), products(far, far))]],
      claims = {
        { "middle > 0.1", instead = { "products(x, far)", "products(x, near)" } },
        { "last < 1e-12", instead = { "products(far, far)", "products(far, near)" } } },
      identity = { "dot(x + rotate(p, m), y + rotate(p, n)) == dot(x, y) + dot(x, rotate(p, n))"
          .. " + dot(rotate(p, m), y) + dot(p, rotate(p, n - m))",
        wrong = { { "dot(x + rotate(p, m), y + rotate(p, n)) == dot(x, y)"
          .. " + dot(x, rotate(p, n - m)) + dot(rotate(p, m), y) + dot(p, rotate(p, n - m))",
          source = "as if the second term were relative" } } } },
    { title = "The one equation",
      text = [[
        Which terms can a score have? A term with the query and the key, one with only the query,
        one with only the key, and one with neither: four terms again. In each of them there can be
        something that depends on the distance $n - m$. (In the code from here on, `p` is this
        distance, no longer a wave.) So let $M$ be a matrix, $r$ and $t$ vectors, and $b$ a number,
        all functions of the distance.

        A family uses some of them; the others are off. If $M$ is off, it is the identity matrix. If
        $r$, $t$ or $b$ is off, it is 0.

        The function `weights` takes a family as a table. It computes the attention weights by the
        equation, for one pair of tokens after the other. With everything off, this is attention
        without positions. The scale is $1/√d$, as usual.]],
      formula = "s_{m,n} = scale (q_m · M k_n + q_m · r + t · k_n) + b",
      code = [[
        q = roper.randn({1, 1, T, d}, "float64")
        k = roper.randn({1, 1, T, d}, "float64")
        scale = 1 / math.sqrt(d)
        function dot(x, y) return (x * y):sum():item() end
        function weights(family)
          local scores = {}
          for m = 1, T do
            scores[m] = {}
            for n = 1, T do
              local p, query, key = n - m, q[1][1][m], k[1][1][n]
              local s = dot(query, family.M and family.M(key, p) or key)
              if family.r then s = s + dot(query, family.r(p)) end
              if family.t then s = s + dot(family.t(p), key) end
              local b = family.b and family.b(p) or 0
              scores[m][n] = (family.scale or scale) * s + b
            end
          end
          return roper.tensor(scores, "float64"):softmax(2)
        end
        function library(scheme)
          return roper.attention_weights(q, k, {position = scheme})[1][1]
        end
        off = apart(weights{}, library("none"))]],
      claims = { { "off < 1e-12", instead = { 'library("none")', 'library("rope")' } } } },
    { title = "Shaw: a vector for each distance",
      text = [[
        Shaw adds to each key a vector for its distance ([Shaw et al. 2018](arXiv:1803.02155)).
        Multiplied out, $q · (k + r) = q · k + q · r$: so $r$ is on. The vectors are trained. They
        are the rows of a table $A$, and $A_c$ is the one for the distance $c$. `clip` limits the
        distance: all larger distances use the last vector. Here the vectors are random numbers, and
        the limit is 2. So there are 5 of them, for the distances from -2 to 2.

        `off` is the difference between the equation and the library's Shaw, and `without` the
        difference if the term is left out.]],
      formula = "r = A_c,  c = clip(n - m, -2, 2)",
      code = [[
        shaw = roper.position.shaw{dim = d, clip = 2}
        shaw.key:copy(roper.randn{5, d});
        A = shaw.key:to "float64"
        function within(p, low, high) return math.max(low, math.min(p, high)) end
        function r(p) return A[within(p, -2, 2) + 3] end
        off = apart(weights{r = r}, library(shaw))
        without = apart(weights{}, library(shaw))]],
      claims = {
        { "off < 1e-12", instead = { "within(p, -2, 2)", "within(-p, -2, 2)" } },
        { "without > 0.1", instead = { "weights{}", "weights{r = r}" } } } },
    { title = "Transformer-XL: all four terms, by distance",
      text = [[
        Transformer-XL returns to the four terms ([Dai et al. 2019](arXiv:1901.02860)). It replaces
        the position of the key by a vector $r$ of the distance. It replaces the position of the
        query by trained vectors that do not depend on any position: $u$ in the term with the key's
        content, $w$ in the term with the key's position. (The paper writes $v$ for $w$. Here $v$
        are the values.) In the paper $r$ is computed from sines and cosines of the distance with
        trained weights. In the library $r$ itself is trained.

        So $t = u$ is the same at all distances: it says which keys matter, wherever they are. And
        $b = scale w · r$ says which distances matter, whatever the tokens are. If $u$ and $w$ are
        0, the scores are Shaw's.]],
      formula = "s_{m,n} = scale ((q_m + u) · k_n + (q_m + w) · r)",
      code = [[
        xl = roper.position.transformer_xl{dim = d, heads = 1, clip = 2}
        xl.table:copy(shaw.key);
        xl.u:copy(roper.randn{1, d});
        xl.w:copy(roper.randn{1, d});
        u, w = xl.u:to("float64")[1], xl.w:to("float64")[1]
        function t() return u end
        function b(p) return scale * dot(w, r(p)) end
        off = apart(weights{r = r, t = t, b = b}, library(xl))
        without_t = apart(weights{r = r, b = b}, library(xl))
        without_b = apart(weights{r = r, t = t}, library(xl))
        xl.u:fill(0); xl.w:fill(0);
        shaws = apart(library(xl), library(shaw))]],
      claims = {
        { "off < 1e-12", instead = { "t() return u", "t() return w" } },
        { "without_t > 0.1", instead = { "weights{r = r, b", "weights{r = r, t = t, b" } },
        { "without_b > 0.1", instead = { "t = t}", "t = t, b = b}" } },
        { "shaws < 1e-12", instead = { "xl.w:fill(0)", "xl.w:fill(1)" } } } },
    { title = "DeBERTa: a distance term for the key, too",
      text = [[
        DeBERTa keeps three terms ([He et al. 2020](arXiv:2006.03654)): content with content, query
        with distance, key with distance. It omits the fourth, which depends only on distance. A sum
        of three independent numbers of equal size is typically $√3$ times as large as one of them.
        Hence the scale of $1/√{3d}$.

        The vectors are the rows of two trained tables, $K$ and $Q$. Each has $2c$ rows, counted
        from 0, and $δ(m, n)$ is the row for $m - n$: add $c$, and limit the result to the
        range from 0 to $2c - 1$.

        Note the order. The vector that multiplies the query is row $δ(m, n)$ of $K$. Seen from the
        key, the two positions are exchanged, so the vector that multiplies the key is row $δ(n, m)$
        of $Q$. The code published with the paper uses $δ(m, n)$ for both
        ([issue 162](https://github.com/microsoft/DeBERTa/issues/162)).]],
      formula = [[
        √{3d} s_{m,n} &= q_m · k_n + q_m · K_{δ(m,n)} + Q_{δ(n,m)} · k_n
        δ(m, n) &= clip(m - n + c, 0, 2c - 1)]],
      predict = { question = [[Are the scores of the published code relative, and are they those of
          the paper?]],
        choices = { "relative, and the same", "relative, but different", "not relative" },
        expect = 2,
        hints = { { "it == 3", "$δ(m, n)$ depends on $m$ and $n$ only through $m - n$." },
          { "it == 1", "Which entry of the table does each of the two read for the keys?" },
          "For the keys it reads the table in the other direction." },
        answer = [[Relative, but different: the table for the keys is read from its other end.
          Weights trained with one code do not fit the other.]] },
      code = [[
        deberta = roper.position.deberta{dim = d, heads = 1, clip = 2}
        deberta.key:copy(roper.randn{4, d});
        deberta.query:copy(roper.randn{4, d});
        K, Q = deberta.key:to "float64", deberta.query:to "float64"
        function delta(distance) return within(distance + 2, 0, 3) + 1 end
        three = {scale = 1 / math.sqrt(3 * d),
          r = function(p) return K[delta(-p)] end,
          t = function(p) return Q[delta(p)] end}
        off = apart(weights(three), library(deberta))
        without = apart(weights{scale = three.scale, r = three.r}, library(deberta))
        published = {scale = three.scale, r = three.r,
          t = function(p) return Q[delta(-p)] end}
        swapped = apart(weights(published), library(deberta))]],
      claims = {
        { "off < 1e-12", instead = { "3 * d", "2 * d" } },
        { "without > 0.1", instead = { "r = three.r}, lib", "r = three.r, t = three.t}, lib" } },
        { "swapped > 0.1",
          instead = { "Q[delta(-p)] end}", "Q[delta(p)] end}" } } } },
    { title = "T5 and ALiBi: only the distance",
      text = [[
        The smallest families have neither $r$ nor $t$. They add a number.

        In T5 the number is trained ([Raffel et al. 2019](arXiv:1910.10683)). Each short distance
        has its own number. Longer distances share one: they are in the same bucket, and the buckets
        get wider with distance. Here there are 8 buckets, 4 for keys up to the query and 4 for
        those after it. They contain the distances 0, 1, 2 to 3, and 4 or more. (T5 itself omits the
        scale $1/√d$.)

        ALiBi trains nothing ([Press et al. 2021](arXiv:2108.12409)). It subtracts the distance
        times a slope $λ$. A model has several attentions side by side, called heads, and each head
        has its own slope. A single head has $2^{-8}$.]],
      formula = [[
        "T5:"     & b = table_{bucket(n - m)}
        "ALiBi:"  & b = -λ |n - m|]],
      code = [[
        t5 = roper.position.t5{heads = 1, buckets = 8, distance = 8}
        t5.table:copy(roper.randn{8, 1});
        numbers = t5.table:to("float64"):view{8}
        bucket = {[0] = 0, 1, 2, 2, 3, 3}
        function shared(p)
          local ahead = p > 0 and 4 or 0
          return numbers[ahead + bucket[math.abs(p)] + 1]:item()
        end
        off_t5 = apart(weights{b = shared}, library(t5))
        function slope(p) return -2^-8 * math.abs(p) end
        alibi = roper.position.alibi{heads = 1}
        off_alibi = apart(weights{b = slope}, library(alibi))
        without_t5 = apart(weights{}, library(t5))
        without_alibi = apart(weights{}, library(alibi))]],
      claims = {
        { "off_t5 < 1e-12", instead = { "2, 2, 3, 3}", "2, 3, 3, 3}" } },
        { "off_alibi < 1e-12", instead = { "2^-8", "2^-7" } },
        { "without_t5 > 0.1",
          instead = { "weights{}, library(t5)", "weights{b = shared}, library(t5)" } },
        { "without_alibi > 1e-4",
          instead = { "weights{}, library(alibi)", "weights{b = slope}, library(alibi)" } } } },
    { title = "RoPE: the distance between query and key",
      text = [[
        All families so far leave $q · k$ unchanged and add something. RoPE adds nothing
        ([Su et al. 2021](arXiv:2104.09864)). It puts the distance between query and key: $M$ is the
        rotation by $n - m$ (`relative-score`). Nothing is trained.]],
      formula = "s_{m,n} = scale (q_m · R_{n-m} k_n)",
      predict = { question = [[Let all queries be 0, and use RoPE. What is the weight of the last of
          the 6 tokens for the first query?]],
        expect = "1 / T",
        hints = { { "it == 0", "The softmax gives every key a weight greater than 0." },
          { "it == 1", "The weights of a row sum to 1, and there are six." },
          "What are the scores if the query is 0?" },
        answer = [[1/6, the same for all. All scores are 0, so nothing depends on the distance. T5
          and ALiBi still add their number: below, the weights of T5 differ.]] },
      code = [[
        rope = roper.position.rope{dim = d}
        function turned(key, p) return rope:rotate(key:view{1, d}, p):view{d} end
        off = apart(weights{M = turned}, library("rope"))
        without = apart(weights{}, library("rope"))
        zero = roper.zeros({1, 1, T, d}, "float64")
        function zero_query(scheme)
          return roper.attention_weights(zero, k, {position = scheme})[1][1][1]
        end
        zero_query("rope"), zero_query(t5)
        rest = apart(zero_query("rope"), roper.full({T}, 1 / T, "float64"))]],
      claims = {
        { "off < 1e-12", instead = { "view{1, d}, p)", "view{1, d}, -p)" } },
        { "without > 0.1", instead = { "weights{}", "weights{M = turned}" } },
        { "rest < 1e-12", instead = { 'apart(zero_query("rope")', "apart(zero_query(t5)" } } },
      exercise = { question = [[Two families can be combined: the scheme `"rope+alibi"` is RoPE with
          the slope of ALiBi. For which table does `weights` compute it? Give the table.]],
        check = "apart(weights(it), library 'rope+alibi') < 1e-12",
        sample = "{M = turned, b = slope}",
        form = { "{M = ___, b = ___}", { "nil", "slope", "turned" }, { "nil", "slope", "turned" } },
        hints = { { "type(it) == 'table' and it.M == nil", "RoPE uses `M`: see `turned`." },
          { "type(it) == 'table' and it.b == nil", "ALiBi uses `b`: see `slope`." },
          { "type(it) ~= 'table'", "Type a table, such as `{M = turned}`." },
          "What was `M` of RoPE, and `b` of ALiBi?" },
        answer = "`{M = turned, b = slope}`: the one equation with two terms in use." } },
    { title = "The distance in the output",
      text = [[
        So far the distance is used in the scores. It can also be used in the output. That takes two
        more functions of the distance, for the values: a matrix $N$ and a vector $z$. In most
        families both are off, and $v$ is used as it is. Shaw adds a second vector of the distance.
        RoPER ([Harik and Jayasiri 2022](https://research.labml.ai/RoPER.html)) rotates the values
        by the same angle as the keys (`relative-distance`).]],
      formula = "o_m = Σ_n a_{m,n} (N v_n + z)",
      code = [[
        v = roper.randn({1, 1, T, d}, "float64")
        function attend(a, family)
          local outputs = {}
          for m = 1, T do
            outputs[m] = roper.zeros({d}, "float64")
            for n = 1, T do
              local value = v[1][1][n]
              if family.N then value = family.N(value, n - m) end
              if family.z then value = value + family.z(n - m) end
              outputs[m] = outputs[m] + a[m][n] * value
            end
          end
          return roper.stack(outputs)
        end
        function output(scheme)
          return roper.attention(q, k, v, {position = scheme})[1][1]
        end
        shaw.value:copy(roper.randn{5, d});
        B = shaw.value:to "float64"
        function z(p) return B[within(p, -2, 2) + 3] end
        off_shaw = apart(attend(weights{r = r}, {z = z}), output(shaw))
        off_roper = apart(attend(weights{M = turned}, {N = turned}), output("roper"))
        off_rope = apart(attend(weights{M = turned}, {}), output("rope"))]],
      claims = {
        { "off_shaw < 1e-12", instead = { "{z = z}", "{}" } },
        { "off_roper < 1e-12", instead = { "{N = turned}", "{}" } },
        { "off_rope < 1e-12", instead = { "turned}, {})", "turned}, {N = turned})" } } } },
    { title = "Only half of the features",
      text = [[
        RoPE and RoPER need not rotate all features. labml's code rotates the first half of them by
        default, of queries and keys (`rope_percentage = 0.5`) and of values
        (`rope_value_percentage = 0.5`;
        [Jayasiri 2022](https://nn.labml.ai/transformers/rope/value_pe/index.html)). Why half? That
        page does not say, and neither does RoPER's study. A reader asked when one would rotate
        fewer than all. The author was not sure, usually rotates all, and guessed that features that
        never rotate make it easier to attend by content alone ([issue
        246](https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/246)).

        What follows from it can be measured. In the one equation, $M$ and $N$ now have two blocks:
        a rotation, and the identity matrix. So a score is a sum of two parts, one that depends on
        the distance and one that does not, and a query can use either. In the same way, the second
        half of the output contains no distance.

        `partly` is this matrix times a vector. `by_feature` is how much each of the 8 features of
        a value changes, at most, if its distance changes. `flat` is a query with zeros in the first
        half: how far its weights for equal keys are from equal.]],
      formula = "M = N = [R_{n-m}, 0; 0, 1]",
      predict = {
        { question = "8 features, half of them rotated. How many pairs are rotated?",
          expect = "2",
          answer = [[2: 4 features are 2 pairs. Their frequencies are those of a vector of 4
            features, here 1 and 0.01.]],
          hints = {
            { "it == 4", "That is the number of rotated features." },
            { "it == 8", "That is the number of all features." },
            { "it == 1", "Half of 8 features: how many pairs are they?" },
            "How many features are rotated? How many pairs are they?" } },
        { question = [[A model should find a word by its content, at any distance, always with the
            same score. Where should its query and key match?]],
          choices = { "in the rotated features", "in the features that are not rotated",
            "it cannot: RoPE's scores depend on distance" },
          expect = 2,
          answer = [[In the features that are not rotated: they contribute the same at every
            distance. If all are rotated, only slow pairs come near to that
            (`general-form`). Whether a trained model gains by it is another question, which this
            lesson does not measure.]],
          hints = {
            { "it == 1", "Then the angle between them, and so the score, changes with distance." },
            { "it == 3", "A sum with a part that does not depend on it can be only that part." },
            "Which part of the score stays the same at every distance?" } } },
      code = [[
        half_rope = roper.position.rope{dim = d, fraction = 0.5}
        half_roper = roper.position.rope{dim = d, fraction = 0.5, rotate = "qkvo"}
        small = roper.position.rope{dim = d / 2}
        function partly(x, p)
          local rotated = small:rotate(x:narrow(1, 1, d // 2), p)
          return roper.cat({rotated, x:narrow(1, d // 2 + 1, d // 2)}, 1)
        end
        off_scores = apart(weights{M = partly}, library(half_rope))
        off_output = apart(attend(weights{M = partly}, {N = partly}),
          output(half_roper))
        changes = {}
        for p = -5, 0 do
          changes[p + 6] = (partly(v[1][1][1], p) - v[1][1][1]):abs()
        end
        by_feature = roper.stack(changes):max(1)
        by_feature
        same_keys = roper.zeros({1, 1, T, d}, "float64") + k[1][1][1]
        by_content = q:clone()
        by_content:narrow(4, 1, d // 2):fill(0);
        function uneven(query, scheme)
          local a = roper.attention_weights(query, same_keys, {position = scheme})
          return apart(a, roper.full({1, 1, T, T}, 1 / T, "float64"))
        end
        flat = uneven(by_content, half_rope)
        uneven(by_content, "rope")]],
      claims = {
        { "off_scores < 1e-12", instead = { "fraction = 0.5}", "fraction = 1}" } },
        { "off_output < 1e-12", instead = { "{N = partly}", "{}" } },
        { "by_feature:narrow(1, 5, 4):max():item() == 0",
          instead = { "x:narrow(1, d // 2 + 1, d // 2)", "rotated" } },
        { "by_feature[1]:item() > 0.1",
          instead = { "partly(v[1][1][1], p)", "partly(v[1][1][1], 0)" } },
        { "flat < 1e-12", instead = { "flat = uneven(by_content", "flat = uneven(q" } } },
      figure = {
        caption = [[How much each feature of a value (rows) changes at each distance (columns). Of
          the first four, features 1 and 3 are a fast pair, 2 and 4 a slow one. The last four are
          not rotated: they carry no distance.]],
        draw = [[
          shown = roper.stack(changes):transpose(1, 2):contiguous()
          return plot.heatmap(shown, {xlabel = "distance", ylabel = "feature", first_column = -5,
            first_row = 1, format = format})]],
        claims = { { "shown:narrow(1, 5, 4):max():item() == 0 and shown[1][1]:item() > 0.1",
          instead = { "stack(changes)", "stack(changes):flip(2)" } } } } },
    { title = "A table of all families, measured",
      text = [[
        Which terms does a family use? You can read its formula, or measure it.

        Give all tokens the same query and the same key. Then scores differ only by distance. Set
        both to 0, and what is left is the last term, $b$. Set only the key to 0, and $b$ and $r$
        are left. Set only the query to 0, and $b$ and $t$ are left. Subtracting separates them. For
        the output, give all tokens the same value. If the output differs from it, the output
        depends on the distance.

        The code does this for all seven. Each is a row of the table. The columns are $M$, $r$, $t$,
        $b$ and the output. A 1 means that this part changes with the distance.]],
      predict = { question = [[Transformer-XL has a $t$. What does its row of the table show
          there?]],
        expect = "switches[2][3]:item()",
        hints = { { "it == 1", "It is on, but does it change with the distance? What is $t$?" },
          { "it == 2", "The table counts no terms: each entry says whether one changes." },
          "It is 0 or 1." },
        answer = "0. $t$ is on, but it is $u$ at all distances; 1 means that it changes." },
      code = [[
        xl.u:copy(roper.randn{1, d}); xl.w:copy(roper.randn{1, d});
        nothing = roper.zeros({1, 1, T, d}, "float64")
        one_q = nothing + q[1][1][1]
        one_k = nothing + k[1][1][1]
        one_v = nothing + v[1][1][1]
        function measured(scheme)
          local function scores(q, k)         -- up to a constant for each query
            return roper.attention_weights(q, k, {position = scheme}):log()
          end
          local function differs(s)           -- by distance?
            return apart(s, s:narrow(4, 1, 1)) > 1e-9 and 1 or 0
          end
          local b = scores(nothing, nothing)
          local r = scores(one_q, nothing) - b
          local t = scores(nothing, one_k) - b
          local M = scores(one_q, one_k) - r - t - b
          local o = roper.attention(nothing, nothing, one_v, {position = scheme})
          local changed = apart(o, one_v) > 1e-9 and 1 or 0
          return {differs(M), differs(r), differs(t), differs(b), changed}
        end
        names = {"Shaw", "Transf.-XL", "DeBERTa", "T5", "ALiBi", "RoPE", "RoPER"}
        schemes = {shaw, xl, deberta, t5, alibi, "rope", "roper"}
        rows = {}
        for i, scheme in ipairs(schemes) do rows[i] = measured(scheme) end
        switches = roper.tensor(rows, "float64")
        switches
        known = roper.tensor({
          {0, 1, 0, 0, 1}, {0, 1, 0, 1, 0}, {0, 1, 1, 0, 0}, {0, 0, 0, 1, 0},
          {0, 0, 0, 1, 0}, {1, 0, 0, 0, 0}, {1, 0, 0, 0, 1}}, "float64")
        wrong = apart(switches, known)]],
      claims = { { "wrong == 0", instead = { "(nothing, one_k) - b", "(one_q, one_k) - b" } } },
      figure = {
        caption = [[Bright: this part changes with the distance, in the score ($M$, $r$, $t$, $b$)
          or in the output (o). Each family has one or two such parts. Only Shaw and RoPER use the
          distance in the output.]],
        draw = [[
          shown = switches
          return plot.heatmap(shown, {rows = names, columns = {"M", "r", "t", "b", "o"},
            legend = false, height = format == "svg" and 360 or nil, format = format})]],
        claims = { { "shown[7]:sum():item() == 2 and shown[5]:sum():item() == 1",
          instead = { "shown = switches", "shown = 1 - switches" } } } } },
    { title = "Shift the text: all stay the same",
      text = [[
        All seven are relative. Let the text begin at position 1000, and their outputs stay the
        same. With waves added to the tokens, the outputs change.

        How do the families differ, then? In how a score can depend on the distance. Take one
        function as an example: $-ln(1 + p)$ at distance $p$. With such scores, the weight of a key
        is in proportion to $exp(-ln(1 + p)) = 1/(1 + p)$. The figure shows how near Shaw, T5, ALiBi
        and RoPE come to it, for equal keys up to a distance of 48.

        Shaw's vectors end at 16: up to there they give exactly these scores. T5 has 8 buckets, all
        for keys up to the query because of the causal mask, and the last begins at 20. Each bucket
        gets the mean of the function over its distances. ALiBi has the slope 1/16. For RoPE the
        query and the keys are vectors of ones. (In a trained model the pairs have other lengths and
        angles, so RoPE's curve has another shape.)]],
      predict = { question = "Which of these four distinguish the distances 30 and 40?",
        choices = { "all four", "Shaw and T5", "ALiBi and RoPE", "RoPE alone" }, expect = 3,
        hints = { { "it == 1 or it == 2", "For Shaw 30 and 40 both count as 16." },
          { "it == 4", "ALiBi subtracts a slope times the distance, however large it is." },
          "How does each of them treat a distance beyond 20?" },
        answer = [[ALiBi, a straight line, and RoPE, a sum of cosines. Neither uses a table that
          ends. Shaw's vectors can represent any shape, but only up to `clip`. T5's buckets get
          wider, and the last has no end.]] },
      code = [[
        worst = 0
        for _, scheme in ipairs(schemes) do
          there = roper.attention(q, k, v, {position = scheme, offset = 1000})[1][1]
          worst = math.max(worst, apart(output(scheme), there))
        end
        worst
        function attended(waves)
          local tokens = (x + waves):view{1, 1, T, d}
          return roper.attention(tokens, tokens, tokens)
        end
        absolute = apart(attended(near), attended(far))
        distance = roper.arange(0, 49, 1, "float64")
        target = -(1 + distance):log()
        rows = roper.zeros{33, d}                  -- of Shaw, for -16 ... 16
        for p = 0, 16 do
          rows[17 - p]:fill(target[p + 1]:item() / (scale * d))
        end
        wide_shaw = roper.position.shaw{dim = d, clip = 16}
        wide_shaw.key:copy(rows);
        first = {0, 1, 2, 3, 4, 7, 12, 20, 49}     -- of the buckets of T5
        buckets = roper.zeros{8, 2}
        for i = 1, 8 do
          local inside = target:narrow(1, first[i] + 1, first[i + 1] - first[i])
          buckets[i]:fill(inside:mean():item())
        end
        wide_t5 = roper.position.t5{heads = 2, buckets = 8, distance = 32}
        wide_t5.table:copy(buckets);
        ones = roper.ones({1, 2, 49, d}, "float64")
        function curve(scheme)       -- scores by distance, minus that at 0
          local how = {position = scheme, causal = true}
          local s = roper.attention_weights(ones, ones, how):log()[1][1][49]:flip(1)
          return s - s[1]
        end
        cosines = distance:outer(rope:thetas()):cos():sum(2)
        off = apart(curve("rope"), 2 * scale * (cosines - 4))]],
      claims = {
        { "worst < 1e-10", instead = { "scheme, offset = 1000}", "'none', offset = 1000}" } },
        { "absolute > 0.1", instead = { "attended(far)", "attended(near)" } },
        { "off < 1e-12", instead = { "2 * scale", "scale" } },
        { "apart(curve(wide_shaw):narrow(1, 1, 17), target:narrow(1, 1, 17)) < 1e-6",
          instead = { "17 - p", "17 + p" } },
        { "math.abs((curve(wide_t5) - target):sum():item()) < 1e-4",
          instead = { "4, 7, 12, 20", "4, 8, 12, 20" } } },
      figure = {
        caption = [[Scores by distance, compared with $-ln(1 + p)$. Shaw follows it up to 16 and is
          constant from there on. T5 is a staircase with ever wider steps. ALiBi is a straight line,
          and RoPE goes up and down.]],
        draw = [[
          curves = {curve(wide_shaw), curve(wide_t5), curve "alibi", curve "rope"}
          local series = {}
          for i, name in ipairs{"Shaw", "T5", "ALiBi", "RoPE"} do
            series[i] = {x = distance, y = curves[i], label = name}
          end
          series[5] = {x = distance, y = target, label = "-ln(1 + p)", thin = true}
          return plot.line(series, {xlabel = "distance", ylabel = "score", format = format})]],
        claims = {
          { "apart(curves[1]:narrow(1, 1, 17), target:narrow(1, 1, 17)) < 1e-6",
            instead = { "curve(wide_shaw)", "curve(wide_t5)" } },
          { "apart(curves[1]:narrow(1, 17, 33), curves[1][17]) < 1e-12",
            instead = { "curve(wide_shaw)", 'curve "rope"' } },
          { "apart(curves[2]:narrow(1, 21, 29), curves[2][21]) < 1e-12",
            instead = { "curve(wide_t5)", 'curve "rope"' } },
          { "apart(curves[3], -roper.arange(0, 49, 1, 'float64') / 16) < 1e-12",
            instead = { 'curve "alibi"', 'curve "rope"' } },
          { "apart(curves[4][31], curves[4][41]) > 0.1",
            instead = { 'curve "rope"', "curve(wide_shaw)" } } } } },
  },
}
