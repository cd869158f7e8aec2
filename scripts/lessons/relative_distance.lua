local OUT = "unrotate(sum(a*rotate(v, i)), n)" -- o_n

return roper.lesson {
  order = 5,
  title = "RoPER: relative distance in what is carried",
  before = "You know why RoPE's scores depend on distance alone (`relative-score`).",
  after = "You can derive RoPER line by line, and explain the minus sign at its end.",
  minutes = 60,
  needs = { "relative-score" },
  notation = {
    { "n, i", "the positions of the one who asks and of a value" },
    { "a_{n,i}", "the weight of value $i$ for the query at $n$; short: $a$" },
    { "v⁽¹⁾, v⁽²⁾", "the first and the second member of a pair" },
    { "v̂_i", "the value turned by its own position" },
    { "ô_n", "the sum of the turned values, before it is turned back" },
    { "o_n", "RoPER's output" },
    { "R_{i-n}", "the turn by the distance, $i - n$" },
  },
  given = { a = "numbers", v = "vectors", o = "vector", i = "positions", n = "position",
    m = "position" },
  steps = {
    { title = "What RoPE leaves out",
      text = [[
        RoPE uses distance to choose where to look. But what is fetched from there says nothing of
        where it was. The output is a mean of the values, as they are.

        RoPER (Harik and Jayasiri 2022) makes the distance part of what is carried. It turns each
        value by its own position $i$. It takes the mean. Then it turns the result back by the
        position $n$ of the one who asks.

        That is as if each value had been turned by its distance, $i - n$. This lesson shows why.
        First in a picture, then line by line: the derivation that the study prints has slips.

        In the code `by_hand` is these three things, one after the other. `by_roper` is the RoPER of
        the library. `off` is how far the two are apart.]],
      formula = [[
        v̂_i &= RoPE(v_i, i)
        ô_n &= Σ_i a_{n,i} v̂_i
        o_n &= RoPE(ô_n, -n)]],
      code = [[
        q = roper.randn({1, 1, 6, 8}, "float64")
        k = roper.randn({1, 1, 6, 8}, "float64")
        v = roper.randn({1, 1, 6, 8}, "float64")
        a = roper.attention_weights(q, k, {position = "rope", causal = true})
        rope = roper.position.rope{dim = 8}
        by_hand = rope:unrotate(a:matmul(rope:rotate(v)))
        by_roper = roper.attention(q, k, v, {position = "roper", causal = true})
        off = (by_hand - by_roper):abs():max():item()]],
      claims = { { "off < 1e-12", instead = { "rope:unrotate", "rope:rotate" } } } },
    { title = "Three values, turned forward",
      text = [[
        Three tokens stand at positions 0, 1 and 2. The value of each is one pair of features: an
        arrow. Let each position turn by 45 degrees. Then the value of token 0 stays as it is. That
        of token 1 turns by 45 degrees, and that of token 2 by 90.

        The query at $n = 2$ gives the three tokens the weights 0.5, 0.3 and 0.2. The arrows get as
        much shorter.]],
      formula = "a_{n,i} v̂_i = a_{n,i} R_i v_i",
      predict = {
        question = [[The value of token 2 is (-1, 4). It is turned forward by 90 degrees and gets no
          shorter yet. What is its first number then, $x'$?]],
        expect = "plane:rotate(values, {0, 1, 2})[3][1]:item()",
        answer = "$x' = x cos 90° - y sin 90° = -y$, and $y$ is 4.",
        hints = {
          { "math.abs(it - 4) < 0.01", "The sign: $x' = x cos φ - y sin φ$." },
          { "math.abs(it + 1) < 0.01", [[That is $x$ before the turn, and $y'$ after it. The cosine
            of 90° is 0.]] },
          { "math.abs(it + 0.8) < 0.01", "That is with the weight 0.2, which comes later." },
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
        caption = [[Dashed: each value, made shorter by its weight. Solid: the same, turned forward
          by its position. Token 0 does not turn, token 2 turns the most.]],
        draw = [[
          local list = {}
          before, after = shares * values, forward
          for i = 1, 3 do
            local name, angle = "token " .. i - 1, (i - 1) * theta
            local x, y = before[i][1]:item(), before[i][2]:item()
            list[#list + 1] = angle > 0 and {x, y, dashed = true, label = name} or nil
            x, y = after[i][1]:item(), after[i][2]:item()
            list[#list + 1] = {x, y, turned = angle, label = name}
          end
          return plot.arrows(list, {format = format})]],
        claims = {
          { "before[1]:eq(after[1]):sum():item() == 2",
            instead = { "= shares * values", "= -shares * values" } },
          { "math.abs((before[3] * after[3]):sum():item()) < 1e-12", -- a right angle
            instead = { ", forward", ", shares * values" } } } } },
    { title = "Added up and turned back",
      text = [[
        Put the three arrows that were turned forward tip to tail. Their sum $ô_n$ goes from the
        beginning of the first to the end of the last. The one who asks is at $n = 2$: so the sum is
        turned back by 2 positions, 90 degrees.

        There is another way to the same arrow. Turn each value by its distance $i - n$ from the one
        who asks, by -90, -45 and 0 degrees, and only then add up. For to turn the whole chain back
        is to turn each of its links back.

        This is RoPER. What follows is this picture in formulas, line by line, and why one may trust
        each line.]],
      formula = "R_{-n} Σ_i a_{n,i} R_i v_i = Σ_i a_{n,i} R_{i-n} v_i",
      predict = {
        question = [[Now let the token at $n = 1$ be the one who asks. By how many degrees is the
          value of token 0 turned in the end? Forward counts above 0, back below.]],
        expect = "math.deg((0 - 1) * theta)",
        answer = "It stands at 0, so it is not turned forward, and back by one position: -45.",
        hints = {
          { "it == 45", "The size is right. Is it turned forward or back?" },
          { "it == 0", "That is the turn forward. What does the turn back do to it?" },
          { "it == -90", "That is for the token at $n = 2$. Here it is $n = 1$." },
          { "it == -1", "That is the distance in positions. Each is 45 degrees." },
          "It is turned by its distance $i - n$. Here $i = 0$ and $n = 1$.",
          "Each position is 45 degrees, and the sign of $i - n$ stays." } },
      code = [[
        n = 2
        total = forward:sum(1)
        o = plane:unrotate(total, n)
        o
        by_distance = shares * plane:rotate(values, {0 - n, 1 - n, 2 - n})
        by_distance:sum(1)
        off = (by_distance:sum(1) - o):abs():max():item()]],
      claims = { { "off < 1e-12", instead = { "unrotate(total, n)", "unrotate(total, 1)" } } },
      figure = {
        caption = [[Dashed: the values turned forward, tip to tail, and their sum. Solid: each value
          turned by its distance. The sum, turned back along the thin line, ends where the solid
          chain ends.]],
        draw = [[
          local list = {}
          local function chain(links, is_dashed)
            local x, y = 0, 0
            for i, link in ipairs(links:totable()) do
              list[#list + 1] = {link[1], link[2], from = {x, y}, dashed = is_dashed,
                label = "token " .. i - 1}
              x, y = x + link[1], y + link[2]
            end
            return {x, y}
          end
          first, second = chain(forward, true), chain(by_distance, false)
          sum, out = total:totable(), o:totable()
          list[#list + 1] = {sum[1], sum[2], dashed = true, label = "sum"}
          list[#list + 1] = {out[1], out[2], turned = -n * theta, label = "sum"}
          return plot.arrows(list, {format = format})]],
        claims = {
          { "math.abs(first[1] - sum[1]) + math.abs(first[2] - sum[2]) < 1e-12",
            instead = { "chain(forward", "chain(by_distance" } },
          { "math.abs(second[1] - out[1]) + math.abs(second[2] - out[2]) < 1e-12",
            instead = { "chain(by_distance", "chain(forward" } },
          { "math.abs(sum[1] * out[1] + sum[2] * out[2]) < 1e-12", -- a right angle
            instead = { ", o:totable()", ", total:totable()" } } } } },
    { title = "What it takes to believe a line",
      text = [[
        Formulas follow. How does one know that a line of them is true? Each has two sides. Put in
        random numbers, and compare the two. That is done with every line. How far its sides are
        apart is called the residual. With numbers of 16 digits, float64, it will be 1e-16 or less.

        That proves nothing. A computer rounds, and an error too small for its 16 digits does not
        show: see the first line of code. So each line is checked once more, without rounding.

        For that one calculates as on a clock. There 9 and 5 make 2: of every result only what is
        left over after 12 counts. Take a prime number $p$ in place of 12. Then all numbers are
        whole, none gets long, none is rounded. One says: modulo $p$. And one can divide: $1/5$ is
        the number that, times 5, is 1.

        What stands for an angle? Of its cosine $c$ and its sine $s$, whatever the angle, all that
        is true is $c² + s² = 1$. The rest of trigonometry is how turns add up. So any two such
        numbers will do. The formula makes them of any number $t$.]],
      formula = [[
        c = {1 - t²}/{1 + t²},  s = {2t}/{1 + t²},  t = 0 … p - 1:  c² + s² = 1]],
      predict = {
        question = "Take a clock of 7 hours, 0 to 6. Which of them is $1/5$ there?",
        expect = "3", within = 0,
        answer = "3, for $5 · 3 = 15$, and 15 is two times around and 1.",
        hints = {
          { "it == 0.2", "There are whole numbers only. Which of them, times 5, makes 1 there?" },
          { "it ~= 3 and it >= 0 and it < 7", [[Multiply it by 5, and take away 7 as often as you
            can. Is 1 left?]] },
          "Which of 5, 10, 15, 20, 25, 30 is one more than a multiple of 7?" } },
      code = [[
        1 + 1e-17 == 1
        p = (1 << 31) - 1                          -- a prime
        fifth = 858993459                          -- 1/5, because:
        5 * fifth % p
        c, s = -3 * fifth % p, 4 * fifth % p       -- t = 2; a 3, 4, 5 triangle
        one = (c * c + s * s) % p
        C, S = (c * c - s * s) % p, 2 * s * c % p  -- that turn made twice
        twice = (C * C + S * S) % p]],
      claims = {
        { "one == 1", instead = { "c * c + s", "c * c - s" } },
        { "twice == 1", instead = { "2 * s * c", "3 * s * c" } } } },
    { title = "Could a false line pass by luck?",
      text = [[
        Sides that differ can be equal for some numbers. $x² = 2x$ is false, and true where $x$ is 0
        or 2. So a trial with random numbers can be passed by luck. How likely is that?

        The sides of each line are sums of products. Say the longest product has $D$ factors. Then
        at most $D$ of every $p$ numbers make them equal. Points of a circle are made with $t²$: of
        them at most $2D$ do (the lemma of Schwartz and Zippel). So a false line with $D = 4$ passes
        one trial with probability $8/p$ at most, and six in a row with $(8/p)⁶$ at most.

        And how many terms has a sum, how many pairs a vector? The line should hold for any number.
        Where $S$ sums are multiplied, each product in the result comes from $S$ terms at most. So
        what is true of 1, 2 … $S + 1$ terms is true of all. That many are tried. It is the same
        with pairs, over which a product with a matrix sums.]],
      formula = [["luck in six trials" ≤ ({2D}/{p})⁶]],
      predict = {
        question = [[Calculate on a clock of 101 hours, with a random $x$ from 0 to 100. With what
          probability does the false line $x² = 2x$ pass one trial?]],
        expect = "2 / 101",
        answer = [[2 of 101, some 2 percent: 0 and 2. Here $D = 2$. On the larger clock of the
          checks it is 2 of 2,147,483,647.]],
        hints = {
          { "it == 2", "That many numbers pass. Of how many?" },
          { "it == 1 / 101", "Two numbers pass." },
          { "it == 2 / 100", "Nearly: from 0 to 100 there are 101 numbers." },
          "How many of the 101 numbers pass?" } },
      code = [[
        function lucky(hours)                      -- where x^2 = 2 * x
          local list = {}
          for x = 0, hours - 1 do
            if (x * x - 2 * x) % hours == 0 then list[#list + 1] = x end
          end
          return list
        end
        lucky(7), lucky(101), lucky(10007)
        bound = (8 / p) ^ 6]],
      claims = {
        { "#lucky(10007) == 2", instead = { "x * x - 2 * x", "x * x" } },
        { "bound < 1e-50", instead = { "^ 6", "^ 5" } } } },
    { title = "Turning back, written out",
      text = [[
        The derivation begins at its end, with the turn back. It is a turn by $-n$, and
        $cos(-nθ) = cos nθ$, but $sin(-nθ) = -sin nθ$ (`rotation`).

        Below each formula stands the line that is run. In it `[1]` and `[2]` are the members of
        each pair, and `sum` runs over $i$. This one is true of any vector $o$, so also of $ô$. (At
        the terminal `look` shows a check in full.)]],
      formula = [[
        RoPE(ô_n, -n) = [ô⁽¹⁾ cos nθ + ô⁽²⁾ sin nθ;
                         ô⁽²⁾ cos nθ - ô⁽¹⁾ sin nθ] ]],
      identity = { "unrotate(o, n) == pair(o[1]*cos(n) + o[2]*sin(n), o[2]*cos(n) - o[1]*sin(n))",
        wrong = { "unrotate(o, n) == pair(o[1]*cos(n) - o[2]*sin(n), o[2]*cos(n) + o[1]*sin(n))" },
      } },
    { title = "The first member: put in what ô is",
      text = [[
        Take the first of the two lines. Each value in $ô$ was turned by its own position $i$: write
        that out, too. The sine outside comes from turning back by $n$. The study prints $sin mθ$
        there. But nothing here stands at a position $m$.]],
      formula = [[
          & Σ_i a v̂⁽¹⁾ cos nθ + Σ_i a v̂⁽²⁾ sin nθ
        = & Σ_i a (v⁽¹⁾ cos iθ - v⁽²⁾ sin iθ) cos nθ
        + & Σ_i a (v⁽²⁾ cos iθ + v⁽¹⁾ sin iθ) sin nθ]],
      identity = { OUT .. "[1] == sum(a*rotate(v, i)[1])*cos(n) + sum(a*rotate(v, i)[2])*sin(n)"
          .. " == sum(a*(v[1]*cos(i) - v[2]*sin(i)))*cos(n)"
          .. " + sum(a*(v[2]*cos(i) + v[1]*sin(i)))*sin(n)",
        wrong = { { OUT .. "[1] == sum(a*(v[1]*cos(i) - v[2]*sin(i)))*cos(n)"
          .. " + sum(a*(v[2]*cos(i) + v[1]*sin(i)))*sin(m)",
          source = "the RoPER study, first member: sin m for sin n" } } } },
    { title = "Collect what belongs to each feature",
      text = "This only sorts: what multiplies $v⁽¹⁾$, and what multiplies $v⁽²⁾$.",
      formula = [[
          & Σ_i a v⁽¹⁾ (cos iθ cos nθ + sin iθ sin nθ)
        + & Σ_i a v⁽²⁾ (cos iθ sin nθ - sin iθ cos nθ)]],
      identity = { OUT .. "[1] == sum(a*v[1]*(cos(i)*cos(n) + sin(i)*sin(n)))"
          .. " + sum(a*v[2]*(cos(i)*sin(n) - sin(i)*cos(n)))" } },
    { title = "Two formulas from school",
      text = [[
        The first bracket is the cosine of the difference, $cos (i - n)θ$. The second is a sine.
        School has $sin (α - β) = sin α cos β - cos α sin β$.]],
      formula = [[
        cos iθ cos nθ + sin iθ sin nθ &= cos (i - n)θ
        cos iθ sin nθ - sin iθ cos nθ &= sin "?"]],
      predict = {
        question = "The second bracket is the sine of which angle?",
        choices = { "$(i - n)θ$", "$(n - i)θ$", "$(i + n)θ$" },
        expect = 2,
        answer = [[$sin (n - i)θ$ is the wrong way round, which is to say $-sin (i - n)θ$. Hence the
          minus between the two sums: $Σ_i a v⁽¹⁾ cos (i - n)θ - Σ_i a v⁽²⁾ sin (i - n)θ$.]],
        hints = {
          { "it == 1", [[Look at the signs. In $sin (α - β)$ the product with the sine of $α$ has
            no minus. Whose sine is that in the bracket?]] },
          { "it == 3", "With a sum of angles there would be a plus between the products." },
          "Call $α$ the angle whose sine stands in the product without a minus." } },
      identity = { OUT .. "[1] == sum(a*v[1]*cos(i - n)) - sum(a*v[2]*sin(i - n))",
        wrong = { OUT .. "[1] == sum(a*v[1]*cos(i - n)) + sum(a*v[2]*sin(i - n))" } } },
    { title = "The second member",
      text = [[
        It begins with the second line of the turn back. What follows is the same: put in what $ô$
        is, sort, and use the two formulas. The study skips that, and prints a result.]],
      formula = "ô⁽²⁾ cos nθ - ô⁽¹⁾ sin nθ",
      predict = {
        question = "What comes out?",
        choices = { "$Σ_i a v⁽¹⁾ cos (i - n)θ + Σ_i a v⁽²⁾ sin (i - n)θ$",
          "$Σ_i a v⁽²⁾ cos (i - n)θ - Σ_i a v⁽¹⁾ sin (i - n)θ$",
          "$Σ_i a v⁽²⁾ cos (i - n)θ + Σ_i a v⁽¹⁾ sin (i - n)θ$" },
        expect = 3,
        answer = [[A turn has $y' = y cos φ + x sin φ$, here with $φ = (i - n)θ$. The study prints
          $v⁽¹⁾$ with the cosine and $v⁽²⁾$ with the sine. They come out the other way round.]],
        hints = {
          { "it == 1", [[So it is printed in the study. Try $i = n$, where nothing is turned: the
            second member of a value should stay the second member.]] },
          { "it == 2", [[The sign: try $n = 0$, where nothing is turned back. What is $y'$ after a
            turn forward by $iθ$?]] },
          "Try $i = n$, where nothing is turned, and $n = 0$, where nothing is turned back." } },
      identity = { OUT .. "[2] == sum(a*v[2]*cos(i - n)) + sum(a*v[1]*sin(i - n))",
        wrong = { { OUT .. "[2] == sum(a*v[1]*cos(i - n)) + sum(a*v[2]*sin(i - n))",
          source = "the RoPER study, second member" } } } },
    { title = "Together: each value turned by its distance",
      text = [[
        The two members are what a turn by $i - n$ makes of a pair. So each value comes turned by
        its distance.

        The study's last line prints $RoPE(v⁽¹⁾, v⁽¹⁾, (i - n)θ)$. There are two slips in it. The
        first member is there twice. And RoPE takes a position, which it multiplies by $θ$ itself:
        so $θ$ is in it twice. In the first pair, where $θ = 1$, that does no harm. So its
        counterexample below has two pairs, and in the second $θ = 1/100$. (The four numbers of $v$
        are both first members, then both second ones. The exact check takes another random point
        for $nθ²$ than for $nθ$, since $θ$ may be anything.)]],
      formula = "o_n = Σ_i a_{n,i} RoPE(v_i⁽¹⁾, v_i⁽²⁾, i - n) = Σ_i a_{n,i} R_{i-n} v_i",
      code = [[given = {v = "vector", i = "position", n = "position"}  -- to try below]],
      identity = { OUT .. " == sum(a*rotate(v, i - n))",
        wrong = { { OUT .. " == sum(a*rotate(pair(v[1], v[1]), (i - n)*theta))",
            source = "the RoPER study, last line" },
          { OUT .. " == sum(a*rotate(pair(v[1], v[1]), i - n))", source = "its v⁽¹⁾ twice" },
          { OUT .. " == sum(a*rotate(v, (i - n)*theta))", source = "its θ twice" } } },
      exercise = {
        question = [[The whole derivation fits into one line, if turning by $i$ and back by $n$ is
          turning by $i - n$. Is it? Complete the line, and the machine tells:
          `roper.identity{"unrotate(rotate(v, i), n) == ...", given = given}`]],
        check = [[it.holds and it.sides[1].text:find("unrotate(rotate(v, i), n)", 1, true) ~= nil
          and not it.sides[2].text:find("unrotate", 1, true)]],
        sample = [[
          roper.identity{"unrotate(rotate(v, i), n) == rotate(v, i - n)", given = given}]],
        hints = {
          { "it.holds == false", [[That is no turn that the two make together: see the
            counterexample. Mind the order of $i$ and $n$.]] },
          { "it.holds", "That is true, but another line. Which one turn are the two together?" },
          "In place of the three dots stands one turn of `v`: `rotate(v, ...)`. By what?" },
        answer = [[It is. And a turn of a sum is the sum of the turns, so the turn at the end may
          go inside: $R_{-n} Σ_i a R_i v_i = Σ_i a R_{-n} R_i v_i = Σ_i a R_{i-n} v_i$.]] } },
    { title = "In the machine, and the minus sign",
      text = [[
        The library's RoPER never forms $R_{i-n}$. Here it stands against the sum that does. Then
        the text begins at position 1000 instead of 0.

        And why the minus in $RoPE(ô, -n)$? When one turn is made after another, positions add. For
        a difference to be left, one of the two turns must go backwards. (The first could do that,
        and the last go forward. Then values come turned by $n - i$: mirrored, but relative.)]],
      predict = {
        question = [[By how much does a number of the output change, at most, when the text begins
          at 1000?]],
        expect = "moved",
        answer = "Not at all, but for rounding: what is carried depends on distances alone.",
        hints = {
          { "it > 1e-6", [[Which of the distances $i - n$ change, when $i$ and $n$ both grow by
            1000?]] },
          "Both $i$ and $n$ grow by 1000." } },
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
      figure = { caption = "What is carried to the last token, text from 0 and from 1000.",
        draw = [[
          near = by_roper[1][1][6]
          far = roper.attention(q, k, v, there)[1][1][6]
          return plot.bar({{y = near, label = "from 0"}, {y = far, label = "from 1000"}},
            {xlabel = "feature", format = format})]],
        claims = { { "(near - far):abs():max():item() < 1e-12", instead = { "there", "{}" } } },
        play = { kind = "attention", turns = { "", "qk", "qkv", "qkvo" },
          caption = [[Thin: the values, turned by their positions. Shortened by the weights and
            added up, they make $ô$. Turned back by the position of d, that is $o$: the sum by
            distances (dashed). Drag a token, and $o$ follows. Move all together: scores, weights
            and $o$ stay. Without the turn back $o$ does not.]] } },
      exercise = {
        { question = "Why is the output turned back?",
          choices = {
            "To give the output the length that a mean of values has.",
            "To make the scores depend on distances.",
            "So that of a value's position $i$ only its distance $i - n$ is left.",
            "To keep the value of token 0 as it is." },
          expect = 3,
          answer = [[Each value was turned by its own position: $R_i v_i$. The turn back takes off
            the position of the one who asks, the same from all: $R_{-n} R_i = R_{i-n}$. What
            arrives tells how far off it was, wherever in the text that happens.]],
          hints = {
            { "it == 1", "A turn changes no length, forward or back (`rotation`)." },
            { "it == 2", [[The scores are made before, of queries and keys; they are relative
              already (`relative-score`).]] },
            { "it == 4", [[It is as it is without a turn back, for it turns by 0. With it, it
              arrives turned by $0 - n$.]] },
            "Which turn has a value made in all: with the turn back, and without?" } },
        { question = "What would the model see if it were not?",
          choices = {
            "The values as they are: RoPE's output.",
            "Each value turned by its own position $i$: where in the text it stands.",
            "Each value turned by $n - i$: the distance, mirrored." },
          expect = 2,
          answer = [[$Σ_i a_{n,i} R_i v_i$: places, not distances. The same words later in the text
            would hand over other values, and at places beyond those of training, turned as the
            model has never seen them.]],
          hints = {
            { "it == 1", "RoPE does not turn the values at all. Here they were turned forward." },
            { "it == 3", [[For that $n$ would have to come in somewhere. Only the turn back knows
              it.]] },
            "Leave $R_{-n}$ out of the formula and read what is left." } },
        { question = [[So without the turn back, let the text begin at 1000 instead of 0. By how
            many positions more is each value turned when it arrives?]],
          expect = "1000", within = 0,
          answer = "Each stands 1000 positions later, and nothing takes them off again.",
          hints = {
            { "it == 0", "That is so with the turn back." },
            { "it == 2000", "Values turn once, by their own position." },
            "By how many positions is a value turned before, by how many after?" } },
        { question = [[And with the sign forgotten: $RoPE(ô, +n)$ at the end? Again the text begins
            at 1000 instead of 0.]],
          expect = "2000", within = 0,
          answer = [[$Σ_i a_{n,i} R_{i+n} v_i$: the sum of the positions, of which both are 1000
            more. Nothing relative is left. See `wrong-inverse`.]],
          hints = {
            { "it == 0", "That is $i - n$. Here it is $i + n$." },
            { "it == 1000", "That is $i$ alone. The turn at the end adds $n$." },
            "A value is turned by $i$, and then, with all the others, by $n$." } } } },
  },
}
