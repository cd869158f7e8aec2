local OUT = "unrotate(sum(a*rotate(v, n)), m)" -- o_m

return roper.lesson {
  order = 9,
  title = "RoPER: relative positions in the values",
  before = "You know why RoPE's scores depend only on distance (`relative-score`).",
  after = "You can derive RoPER line by line, and explain the minus sign in its last step.",
  summary = "Derive RoPER line by line and explain its minus sign.",
  minutes = 30,
  needs = { "rotation", "relative-score" },
  notation = {
    { "m, n", "the position of the query and the position of a value" },
    { "a_{m,n}", "the weight of value $n$ for the query at $m$; short: $a$" },
    { "v⁽¹⁾, v⁽²⁾", "the first and the second component of a pair" },
    { "v̂_n", "the value, rotated by its own position" },
    { "ô_m", "the weighted sum of the rotated values, before it is rotated back" },
    { "o_m", "RoPER's output" },
    { "R_{n-m}", "the rotation by the distance $n - m$" },
  },
  given = { a = "numbers", v = "vectors", o = "vector", m = "position", n = "positions",
    s = "position" },
  steps = {
    { title = "What RoPE omits",
      text = [[
        RoPE uses distance to compute the attention weights. But the values contain no positions:
        the output is a weighted mean of the values as they are. (`why-values` shows what is lost
        that way.)

        RoPER ([Harik and Jayasiri 2022](https://research.labml.ai/RoPER.html)) puts the distance
        into the values as well. It rotates each value by its own position $n$ and takes the
        weighted mean. Then it rotates the result back by the position $m$ of the query.

        The result is the same as if each value had been rotated by its distance from the query,
        $n - m$. This lesson shows why, first with arrows, then line by line. The derivation on the
        page of labml's implementation
        ([Jayasiri 2022](https://nn.labml.ai/transformers/rope/value_pe/index.html)) contains
        mistakes, and we correct them on the way. $RoPE(x, n)$ is its name for the rotation
        $R_n x$. Its letters for positions are other ones: $n$ for the query, our $m$, and $i$ for a
        value, our $n$.

        In the code, `by_hand` performs the three steps one after the other, and `by_roper` calls
        RoPER in the library. `off` is the largest difference between the two. (`a:matmul(…)` is
        the product of two matrices: row $m$ of its result is the sum over $n$ of the weights in
        row $m$ of `a` times the rotated values.)]],
      formula = [[
        v̂_n &= RoPE(v_n, n)
        ô_m &= Σ_n a_{m,n} v̂_n
        o_m &= RoPE(ô_m, -m)]],
      code = [[
        q = roper.randn({1, 1, 6, 8}, "float64")
        k = roper.randn({1, 1, 6, 8}, "float64")
        v = roper.randn({1, 1, 6, 8}, "float64")
        a = roper.attention_weights(q, k, {position = "rope", causal = true})
        rope = roper.position.rope{dim = 8}
        by_hand = rope:unrotate(a:matmul(rope:rotate(v)))
        by_roper = roper.attention(q, k, v, {position = "roper", causal = true})
        off = (by_hand - by_roper):abs():max():item()]],
      claims = { { "off < 1e-12", instead = { "rope:unrotate", "rope:rotate" } } },
      figure = {
        caption = [[The value of a token, 3 positions before the query, at 30 degrees per position.
          Dashed: as it arrives with RoPE, at every distance. Solid: with RoPER, rotated by its
          distance.]],
        draw = [[
          value = roper.tensor({0.95, 0.6}, "float64")
          turn = -3 * math.pi / 6
          arrived = roper.position.rope{dim = 2, frequencies = {math.pi / 6}}:rotate(value, -3)
          x, y = arrived[1]:item(), arrived[2]:item()
          return plot.arrows({{0.95, 0.6, dashed = true, label = "RoPE", quantity = "v"},
            {x, y, turned = turn, label = "RoPER", quantity = "v"}}, {format = format})]],
        claims = { { "math.abs(x * 0.95 + y * 0.6) < 1e-12", -- a right angle
          instead = { "rotate(value, -3)", "rotate(value, -2)" } } } } },
    { title = "Three values, rotated forward",
      text = [[
        Three tokens are at positions 0, 1 and 2. The value of each is one pair of features, an
        arrow: $(3, 2)$, $(1, 3)$ and $(-1, 4)$. Let the frequency be 45 degrees per position. Then
        the value of token 0 stays as it is, the value of token 1 is rotated by 45 degrees, and the
        value of token 2 by 90.

        The query at $m = 2$ gives the three tokens the weights 0.5, 0.3 and 0.2. Each arrow is
        multiplied by its weight.]],
      formula = "a_{m,n} v̂_n = a_{m,n} R_n v_n",
      predict = {
        question = [[The value of token 2, $(-1, 4)$, is rotated forward by 90 degrees. It is not
          yet multiplied by its weight. What is its first component $x'$?]],
        expect = "plane:rotate(values, {0, 1, 2})[3][1]:item()",
        answer = "-4: $x' = x cos 90° - y sin 90° = -y$, and $y$ is 4.",
        hints = {
          { "math.abs(it - 4) < 0.01", "Check the sign: $x' = x cos φ - y sin φ$." },
          { "math.abs(it + 1) < 0.01", [[That is $x$ before the rotation, and $y'$ after it. The
            cosine of 90° is 0.]] },
          { "math.abs(it + 0.8) < 0.01", "That includes the weight 0.2, which comes later." },
          "$x' = x cos φ - y sin φ$, as in `rotation`. Here $x = -1$, $y = 4$ and $φ = 90°$.",
          "The cosine of 90° is 0 and its sine is 1." } },
      code = [[
        theta = math.pi / 4
        plane = roper.position.rope{dim = 2, frequencies = {theta}}
        values = roper.tensor({{3, 2}, {1, 3}, {-1, 4}}, "float64")
        shares = roper.tensor({{0.5}, {0.3}, {0.2}}, "float64")
        forward = shares * plane:rotate(values, {0, 1, 2})
        forward
        third = 0.2 * math.sqrt((-1) ^ 2 + 4 ^ 2)
        length = forward[3]:square():sum():item() ^ 0.5]],
      claims = { { "math.abs(length - third) < 1e-12",
        instead = { "{{0.5}, {0.3}, {0.2}}", "{{0.2}, {0.3}, {0.5}}" } } },
      figure = {
        caption = [[Dashed: each value, multiplied by its weight. Solid: the same, rotated forward
          by its position. Token 0 is not rotated, token 2 the most.]],
        draw = [[
          local list = {}
          before, after = shares * values, forward
          for i = 1, 3 do
            local name, angle = "token " .. i - 1, (i - 1) * theta
            local x, y = before[i][1]:item(), before[i][2]:item()
            list[#list + 1] = {x, y, dashed = true, label = name, quantity = "v"}
            x, y = after[i][1]:item(), after[i][2]:item()
            list[#list + 1] = {x, y, turned = angle, label = name, quantity = "v"}
          end
          return plot.arrows(list, {format = format})]],
        claims = {
          { "before[1]:eq(after[1]):sum():item() == 2",
            instead = { "= shares * values", "= -shares * values" } },
          { "math.abs((before[3] * after[3]):sum():item()) < 1e-12", -- a right angle
            instead = { ", forward", ", shares * values" } } } } },
    { title = "Added up and rotated back",
      text = [[
        Put the three rotated arrows tip to tail. Their sum $ô_m$ is the arrow from the beginning of
        the first to the end of the last. The query is at $m = 2$, so the sum is rotated back by 2
        positions, 90 degrees.

        There is another way to the same arrow. Rotate each value by its distance $n - m$ from the
        query, by -90, -45 and 0 degrees, and then add. The result is the same, because rotating
        the whole chain of arrows back rotates each of its arrows back.

        This is RoPER's formula. The following steps derive it line by line.]],
      formula = "R_{-m} Σ_n a_{m,n} R_n v_n = Σ_n a_{m,n} R_{n-m} v_n",
      predict = {
        question = [[Now let the query be at $m = 1$. By how many degrees is the value of token 0
          rotated in total? Forward is positive, back is negative.]],
        expect = "math.deg((0 - 1) * theta)",
        answer = [[-45. Token 0 is at position 0, so its value is not rotated forward. It is rotated
          back by one position.]],
        hints = {
          { "it == 45", "The size is right. Is it rotated forward or back?" },
          { "it == 0", "That is the forward rotation. How far is it rotated back?" },
          { "it == -90", "That is for the query at $m = 2$. Here it is $m = 1$." },
          { "it == -1", "That is the distance in positions. Each is 45 degrees." },
          "It is rotated by its distance $n - m$. Here $n = 0$ and $m = 1$.",
          "Each position is 45 degrees, and the sign is that of $n - m$." } },
      code = [[
        m = 2
        total = forward:sum(1)
        o = plane:unrotate(total, m)
        o
        by_distance = shares * plane:rotate(values, {0 - m, 1 - m, 2 - m})
        by_distance:sum(1)
        off = (by_distance:sum(1) - o):abs():max():item()]],
      claims = { { "off < 1e-12", instead = { "unrotate(total, m)", "unrotate(total, 1)" } } },
      figure = {
        caption = [[Dashed: the values rotated forward, tip to tail, and their sum ô. Solid: each
          value rotated by its distance. The sum, rotated back along the thin line, is the output.
          It ends where the solid chain ends.]],
        draw = [[
          local list = {}
          local function chain(links, is_dashed)
            local x, y = 0, 0
            for i, link in ipairs(links:totable()) do
              list[#list + 1] = {link[1], link[2], from = {x, y}, dashed = is_dashed,
                label = "token " .. i - 1, quantity = "v", turned = not is_dashed and -m * theta
                or nil, about = {0, 0}}
              x, y = x + link[1], y + link[2]
            end
            return {x, y}
          end
          first, second = chain(forward, true), chain(by_distance, false)
          sum, out = total:totable(), o:totable()
          list[#list + 1] = {sum[1], sum[2], dashed = true, label = "ô", quantity = "o"}
          list[#list + 1] = {out[1], out[2], turned = -m * theta, label = "o", quantity = "o"}
          return plot.arrows(list, {format = format})]],
        claims = {
          { "math.abs(first[1] - sum[1]) + math.abs(first[2] - sum[2]) < 1e-12",
            instead = { "chain(forward", "chain(by_distance" } },
          { "math.abs(second[1] - out[1]) + math.abs(second[2] - out[2]) < 1e-12",
            instead = { "chain(by_distance", "chain(forward" } },
          { "math.abs(sum[1] * out[1] + sum[2] * out[2]) < 1e-12", -- a right angle
            instead = { ", o:totable()", ", total:totable()" } } } } },
    { title = "Rotating back, written out",
      text = [[
        The derivation begins with the last step, rotating back. It is a rotation by $-m$, with
        $cos(-mθ) = cos mθ$ and $sin(-mθ) = -sin mθ$ (`rotation`).

        Below each formula is the line that is checked, with random numbers and exactly. In it `[1]`
        and `[2]` are the components of each pair, and `sum` runs over $n$. This line holds for any
        vector $o$, and so for $ô$. (The next lesson, `checking-identities`, explains the details of
        a check; nothing here depends on it.)]],
      formula = [[
        RoPE(ô_m, -m) = [ô⁽¹⁾ cos mθ + ô⁽²⁾ sin mθ;
                         ô⁽²⁾ cos mθ - ô⁽¹⁾ sin mθ] ]],
      identity = { "unrotate(o, m) == pair(o[1]*cos(m) + o[2]*sin(m), o[2]*cos(m) - o[1]*sin(m))",
        wrong = { "unrotate(o, m) == pair(o[1]*cos(m) - o[2]*sin(m), o[2]*cos(m) + o[1]*sin(m))" },
      } },
    { title = "The first component: insert ô",
      text = [[
        Take the first of the two lines, and insert $ô⁽¹⁾ = Σ_n a v̂⁽¹⁾$ and $ô⁽²⁾ = Σ_n a v̂⁽²⁾$.
        Here $a$ is short for $a_{m,n}$, and $v$ for $v_n$. Each $v̂$ is a value that is
        rotated by its own position $n$; write this out as well. The factor $sin mθ$ in the last
        line comes from rotating back by $m$. In the letters of labml's page it should be $sin nθ$.
        That page prints $sin mθ$, and nothing on it has a position $m$. In the check below, $s$ is
        such another position.]],
      formula = [[
          & Σ_n a v̂⁽¹⁾ cos mθ + Σ_n a v̂⁽²⁾ sin mθ
        = & Σ_n a (v⁽¹⁾ cos nθ - v⁽²⁾ sin nθ) cos mθ
        + & Σ_n a (v⁽²⁾ cos nθ + v⁽¹⁾ sin nθ) sin mθ]],
      identity = { OUT .. "[1] == sum(a*rotate(v, n)[1])*cos(m) + sum(a*rotate(v, n)[2])*sin(m)"
          .. " == sum(a*(v[1]*cos(n) - v[2]*sin(n)))*cos(m)"
          .. " + sum(a*(v[2]*cos(n) + v[1]*sin(n)))*sin(m)",
        wrong = { { OUT .. "[1] == sum(a*(v[1]*cos(n) - v[2]*sin(n)))*cos(m)"
          .. " + sum(a*(v[2]*cos(n) + v[1]*sin(n)))*sin(s)",
          source = "labml's page, first component: the sine of another position" } } } },
    { title = "Collect the terms of each feature",
      text = "This only reorders the terms: those with $v⁽¹⁾$, and those with $v⁽²⁾$.",
      formula = [[
          & Σ_n a v⁽¹⁾ (cos nθ cos mθ + sin nθ sin mθ)
        + & Σ_n a v⁽²⁾ (cos nθ sin mθ - sin nθ cos mθ)]],
      identity = { OUT .. "[1] == sum(a*v[1]*(cos(n)*cos(m) + sin(n)*sin(m)))"
          .. " + sum(a*v[2]*(cos(n)*sin(m) - sin(n)*cos(m)))" } },
    { title = "Two formulas from school",
      text = [[
        By $cos (α - β) = cos α cos β + sin α sin β$, the first bracket is $cos (n - m)θ$. The
        second is a sine. The formula from school is $sin (α - β) = sin α cos β - cos α sin β$.]],
      formula = [[
        cos nθ cos mθ + sin nθ sin mθ &= cos (n - m)θ
        cos nθ sin mθ - sin nθ cos mθ &= sin "?"]],
      predict = {
        question = "The second bracket is the sine of which angle?",
        choices = { "$(n - m)θ$", "$(m - n)θ$", "$(n + m)θ$" },
        expect = 2,
        answer = [[It is $sin (m - n)θ$. The order is reversed, so this equals $-sin (n - m)θ$.
          Hence the minus between the two sums:
          $Σ_n a v⁽¹⁾ cos (n - m)θ - Σ_n a v⁽²⁾ sin (n - m)θ$.]],
        hints = {
          { "it == 1", [[Look at the signs. In $sin (α - β)$ the product with $sin α$ has no minus.
            Which product in the bracket has no minus? Its sine is $sin α$.]] },
          { "it == 3", "For a sum of angles there would be a plus between the products." },
          "Call $α$ the angle whose sine is in the product without a minus." } },
      identity = { OUT .. "[1] == sum(a*v[1]*cos(n - m)) - sum(a*v[2]*sin(n - m))",
        wrong = { OUT .. "[1] == sum(a*v[1]*cos(n - m)) + sum(a*v[2]*sin(n - m))" } } },
    { title = "The second component",
      text = [[
        The second component begins with the second line of rotating back. The rest is the same:
        insert $ô$, collect the terms, and use the two formulas. labml's page omits these steps
        and prints only a result.]],
      formula = "ô⁽²⁾ cos mθ - ô⁽¹⁾ sin mθ",
      predict = {
        question = "What is the second component of $o_m$?",
        choices = { "$Σ_n a v⁽¹⁾ cos (n - m)θ + Σ_n a v⁽²⁾ sin (n - m)θ$",
          "$Σ_n a v⁽²⁾ cos (n - m)θ - Σ_n a v⁽¹⁾ sin (n - m)θ$",
          "$Σ_n a v⁽²⁾ cos (n - m)θ + Σ_n a v⁽¹⁾ sin (n - m)θ$" },
        expect = 3,
        answer = [[A rotation has $y' = y cos φ + x sin φ$, here with $φ = (n - m)θ$. labml's
          page prints $v⁽¹⁾$ with the cosine and $v⁽²⁾$ with the sine. They must be exchanged.]],
        hints = {
          { "it == 1", [[That is printed on labml's page. Try $n = m$, where the rotation is by 0:
            the second component of a value should remain the second component.]] },
          { "it == 2", [[Check the sign. Try $m = 0$: nothing is rotated back. What is $y'$
            after a rotation by $nθ$?]] },
          "Try $n = m$, a rotation by 0, and $m = 0$: nothing is rotated back." } },
      identity = { OUT .. "[2] == sum(a*v[2]*cos(n - m)) + sum(a*v[1]*sin(n - m))",
        wrong = { { OUT .. "[2] == sum(a*v[1]*cos(n - m)) + sum(a*v[2]*sin(n - m))",
          source = "labml's page, second component" } } } },
    { title = "Together: each value rotated by its distance",
      text = [[
        The two components are those of a pair rotated by $n - m$. So each value is rotated by its
        distance from the query.

        The last line of labml's page, the first line below, contains two mistakes. The first
        component occurs twice. And RoPE takes a position and multiplies it by $θ$ itself, so here
        $θ$ is applied twice. In the first pair, where $θ = 1$, this makes no difference. The
        counterexample below therefore has two pairs, the second with $θ = 1/100$. (The four numbers
        of $v$ are the two first components, then the two second components.)]],
      formula = [[
        "wrong:" & Σ_n a_{m,n} RoPE(v_n⁽¹⁾, v_n⁽¹⁾, (n - m)θ)
        "right:" & Σ_n a_{m,n} RoPE(v_n⁽¹⁾, v_n⁽²⁾, n - m) = Σ_n a_{m,n} R_{n-m} v_n = o_m]],
      code = [[given = {v = "vector", m = "position", n = "position"}  -- to try below]],
      identity = { OUT .. " == sum(a*rotate(v, n - m))",
        wrong = { { OUT .. " == sum(a*rotate(pair(v[1], v[1]), (n - m)*theta))",
            source = "labml's page, last line" },
          { OUT .. " == sum(a*rotate(pair(v[1], v[1]), n - m))", source = "with v⁽¹⁾ twice only" },
          { OUT .. " == sum(a*rotate(v, (n - m)*theta))", source = "with θ twice only" } } },
      exercise = {
        question = [[The whole derivation fits into one line, if rotating by $n$ and back by $m$ is
          the same as rotating by $n - m$. Complete this line to check it:
          `roper.identity{"unrotate(rotate(v, n), m) == ...", given = given}`]],
        check = [[it.holds and it.sides[1].text:find("unrotate(rotate(v, n), m)", 1, true) ~= nil
          and not it.sides[2].text:find("unrotate", 1, true)]],
        sample = [[
          roper.identity{"unrotate(rotate(v, n), m) == rotate(v, n - m)", given = given}]],
        form = { [[roper.identity{"unrotate(rotate(v, n), m) == ___", given = given}]],
          { "rotate(v, m - n)", "rotate(v, n - m)", "rotate(v, n + m)", "rotate(v, n)" } },
        hints = {
          { "it.holds == false", [[The two rotations together are not this one: see the
            counterexample. Check the order of $n$ and $m$.]] },
          { "it.holds", "That is true, but another line. Which single rotation equals the two?" },
          "Replace the three dots by one rotation of `v`: `rotate(v, ...)`. By what?" },
        answer = [[It is the same. Rotating a sum also rotates each of its terms, so the last
          rotation can move inside the sum:
          $R_{-m} Σ_n a R_n v_n = Σ_n a R_{-m} R_n v_n = Σ_n a R_{n-m} v_n$.]] } },
    { title = "The whole derivation in one line",
      text = [[
        The steps before treat each component on its own. With the letter $R$ for a rotation, the
        derivation is one line that changes four times. It begins with RoPE's output, the sum of the
        weighted values, and ends with RoPER's. The line below has the last three of its forms: they
        are equal.

        Each change of the line does something to the arrows of the values. It rotates them, or
        rotates their sum, or only says the same in another way.]],
      formula = "R_{-m} Σ_n a_{m,n} R_n v_n = Σ_n a_{m,n} R_{-m} R_n v_n = Σ_n a_{m,n} R_{n-m} v_n",
      predict = {
        question = [[The line starts as $Σ_n a v_n$. Its four changes are: $R_n$ is inserted before
          each value; $R_{-m}$ is put before the sum; $R_{-m}$ moves into the sum; $R_{-m} R_n$
          becomes $R_{n-m}$. In which of them does the sum of the arrows move?]],
        choices = { "in all four", "in the first two", "in the first alone", "in the last two" },
        expect = 2,
        answer = [[In the first two: these rotate the values, and then their sum. The last two are
          equations. Rotating a chain of arrows back rotates each arrow back, and two rotations of
          an arrow are one. So the sum stays where it is, and $o_m$ is the sum of values that are
          rotated by their distances.]],
        hints = {
          { "it == 1", "The formula has two signs of equality. Can the sum move there?" },
          { "it == 3", "That gives $ô_m$, not rotated back. What does $R_{-m}$ before it do?" },
          { "it == 4", "Between these lines there is a sign of equality." },
          "Which changes insert a rotation, and which only move or join those that are there?" } },
      code = [[
        back_and_forth = shares * plane:unrotate(plane:rotate(values, {0, 1, 2}), m)
        as_one = shares * plane:rotate(values, {0 - m, 1 - m, 2 - m})
        same = (back_and_forth - as_one):abs():max():item()
        ends = (back_and_forth:sum(1) - o):abs():max():item()]],
      claims = { { "same < 1e-12", instead = { "{0 - m, 1 - m, 2 - m}", "{0, 1, 2}" } },
        { "ends < 1e-12", instead = { "{0, 1, 2}), m)", "{0, 1, 2}), 0)" } } },
      identity = { "unrotate(sum(a*rotate(v, n)), m) == sum(a*unrotate(rotate(v, n), m))"
          .. " == sum(a*rotate(v, n - m))",
        wrong = { { "unrotate(sum(a*rotate(v, n)), m) == sum(a*unrotate(v, m))",
          source = "without rotating forward" } } },
      figure = {
        caption = [[Dashed: the values, multiplied by their weights. Solid: the same, rotated by
          their distances $n - m$, which are -2, -1 and 0. Their sum is $o$.]],
        draw = [[
          local list = {}
          before, after = shares * values, as_one
          for n = 0, 2 do
            local name, x, y = "token " .. n, before[n + 1][1]:item(), before[n + 1][2]:item()
            if n < 2 then
              list[#list + 1] = {x, y, dashed = true, label = name, quantity = "v"}
            end
            x, y = after[n + 1][1]:item(), after[n + 1][2]:item()
            list[#list + 1] = {x, y, turned = n < 2 and (n - m) * theta or nil, label = name,
              quantity = "v"}
          end
          out = after:sum(1):totable()
          list[#list + 1] = {out[1], out[2], label = "o", quantity = "o"}
          return plot.arrows(list, {format = format})]],
        claims = {
          { "math.abs((before[1] * after[1]):sum():item()) < 1e-12", -- a right angle
            instead = { ", as_one", ", shares * values" } },
          { "(before[3] - after[3]):abs():max():item() < 1e-12",
            instead = { ", as_one", ", forward" } } },
        play = { kind = "derivation",
          caption = [[Thin arrows: the weighted values, with their positions. Thick: their sum.
            Dashed: where an arrow was before. In the last two lines the sum stays where it is. Let
            the text begin later: in which lines does the sum move?]] } } },
    { title = "In the library, and the minus sign",
      text = [[
        The library's RoPER never computes $R_{n-m}$. The code compares its output with a sum that
        does. Then it moves the text to begin at position 1000 instead of 0.

        Why is there a minus in $RoPE(ô, -m)$? Successive rotations add their positions. To get a
        difference, one of the two must rotate backward. (The first could rotate backward and the
        last forward. Then values are rotated by $m - n$, which is mirrored but still relative.)]],
      predict = {
        question = [[Let the text begin at position 1000. What is the largest change of a number in
          the output?]],
        expect = "moved",
        answer = [[Zero, up to rounding. The output depends only on distances, and these are the
          same.]],
        hints = {
          { "it == 1000", "That is the shift. Does any distance change by it?" },
          { "it > 1e-6", [[Which of the distances $n - m$ change if $n$ and $m$ both grow by
            1000?]] },
          "Both $n$ and $m$ grow by 1000." } },
      code = [[
        here = {position = "roper", causal = true}
        explicit = roper.oracle.attention(q, k, v, here)
        off = (by_roper - explicit):abs():max():item()
        there = {position = "roper", causal = true, offset = 1000}
        moved = (by_roper - roper.attention(q, k, v, there)):abs():max():item()]],
      claims = {
        { "off < 1e-12", instead = { 'here = {position = "roper"', 'here = {position = "rope"' } },
        { "moved < 1e-12",
          instead = { 'there = {position = "roper"', 'there = {position = "rope"' } } },
      figure = {
        caption = [[One number of the last token's output, by the position at which the text begins.
          Rotated back, it is constant: only distances count. Not rotated back, it goes up and down
          with the position.]],
        draw = [[
          starts, level, wave = {}, {}, {}
          local function last(out) return out[1][1][6][1]:item() end
          for start = 0, 30 do
            local turned = rope:rotate(v, roper.arange(start, start + 6))
            starts[start + 1], wave[start + 1] = start, last(a:matmul(turned))
            level[start + 1] = last(roper.attention(q, k, v,
              {position = "roper", causal = true, offset = start}))
          end
          return plot.line({{x = starts, y = level, label = "rotated back"},
            {x = starts, y = wave, label = "not rotated back"}},
            {xlabel = "position of the first token", ylabel = "output", format = format})]],
        claims = {
          { "math.max(table.unpack(level)) - math.min(table.unpack(level)) < 1e-12",
            instead = { '"roper", causal', '{type = "rope", rotate = "qkv"}, causal' } },
          { "math.max(table.unpack(wave)) - math.min(table.unpack(wave)) > 0.1",
            instead = { "(start, start + 6)", "(0, 6)" } } },
        play = { kind = "attention", beside = true, turns = { "", "qk", "qkv", "qkvo" },
          caption = [[Thin: the values, rotated by their positions. Multiplied by the weights and
            added up, they give $ô$. Rotated back by the position of d, $ô$ is the output $o$. Drag
            a token, and $o$ changes. Move all tokens together: scores, weights and $o$ stay the
            same. Choose "output not rotated back" and move them again: $o$ changes.]] } },
      exercise = {
        { question = "Why is the output rotated back?",
          choices = {
            "So that the output has the length that a mean of values has.",
            "So that the scores depend on distances.",
            "So that only the distance $n - m$ is left of a value's position $n$.",
            "So that the value of token 0 stays as it is." },
          expect = 3,
          answer = [[Each value was rotated by its own position: $R_n v_n$. Rotating back subtracts
            the position of the query, the same for all values: $R_{-m} R_n = R_{n-m}$. So the
            output shows how far away each value was, wherever the text begins.]],
          hints = {
            { "it == 1", "A rotation changes no length, forward or back (`rotation`)." },
            { "it == 2", [[The scores are computed before, from queries and keys; they are already
              relative (`relative-score`).]] },
            { "it == 4", [[It is rotated by 0, so it stays as it is without rotating back. With it,
              it is rotated by $0 - m$.]] },
            "What is the total rotation of a value, with and without rotating back?" } },
        { question = "What would the model get if the output were not rotated back?",
          choices = {
            "The values as they are: RoPE's output.",
            "Each value rotated by its own position $n$ in the text.",
            "Each value rotated by $m - n$: the distance, mirrored." },
          expect = 2,
          answer = [[$Σ_n a_{m,n} R_n v_n$: positions, not distances. The same words later in the
            text would contribute other values. At positions beyond those in training, the values
            would be rotated by angles that the model has never seen.]],
          hints = {
            { "it == 1", "RoPE does not rotate the values at all. Here they are rotated forward." },
            { "it == 3", "That depends on $m$. Only rotating back uses $m$." },
            "Leave $R_{-m}$ out of the formula and read what is left." } },
        { question = [[Leave out rotating back, and let the text begin at 1000 instead of 0. By how
            many more positions is each value in the output rotated?]],
          expect = "1000", within = 0,
          answer = "1000. Each position is 1000 greater, and nothing subtracts the 1000 again.",
          hints = {
            { "it == 0", "That is the answer with rotating back." },
            { "it == 2000", "Values are rotated once, by their own position." },
            "By how many positions was a value rotated before, by how many after?" } },
        { question = [[Now forget the minus: $RoPE(ô, +m)$ at the end. Again the text begins at 1000
            instead of 0. By how many more positions is each value rotated?]],
          expect = "2000", within = 0,
          answer = [[2000. $Σ_n a_{m,n} R_{n+m} v_n$ contains the sum of two positions, and each of
            them is 1000 greater. Nothing relative is left. See `wrong-inverse`.]],
          hints = {
            { "it == 0", "That would be $n - m$. Here it is $n + m$." },
            { "it == 1000", "That is $n$ alone. The rotation at the end adds $m$." },
            "A value is rotated by $n$, and then, with all the others, by $m$." } } } },
  },
}
