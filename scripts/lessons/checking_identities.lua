local LINE = "unrotate(sum(a*rotate(v, n)), m) == sum(a*rotate(v, n - m))"

return roper.lesson {
  order = 10,
  title = "How the lines are checked",
  before = [[You can read an identity such as RoPER's, $R_{-m} Σ_n a R_n v_n = Σ_n a R_{n-m} v_n$
    (`relative-distance`), and check one at the prompt (`mask-and-waves`).]],
  after = [[You can say what random numbers show about an identity, why the exact check calculates
    modulo a prime number, and how likely it is to be wrong.]],
  summary = "Let a prime number decide whether a formula is true.",
  minutes = 25,
  needs = { "mask-and-waves", "relative-distance" },
  notation = {
    { "p", "a prime number; all numbers are remainders after division by it" },
    { "c, s", "two numbers with $c² + s² = 1$, in place of a cosine and a sine" },
    { "t", "the number from which $c$ and $s$ are computed" },
    { "D", "the degree: the number of factors of the longest product in an identity" },
    { "S", "the number of sums that are multiplied with each other" },
  },
  given = { a = "numbers", v = "vectors", w = "numbers", n = "positions", m = "position" },
  steps = {
    { title = "Insert random numbers",
      text = [[
        How do you know that a line is true? It has two sides: insert random numbers and compare the
        results. The difference between the two sides is called the residual. The code does this for
        rotating back, the first line of RoPER's derivation, and for the same line with a wrong
        sign.

        A large residual refutes a line. But a small one is not a proof. A computer rounds: float64
        has about 16 digits, and an error smaller than that does not show.]],
      formula = [[
        "true:" x' &= x cos m + y sin m
        "false:" x' &= x cos m - y sin m
        "false:" x' &= x cos m + y sin m + 10^(-17)]],
      predict = {
        question = "What does Lua print for `1 + 1e-17 == 1`?",
        choices = { "`true`", "`false`" }, expect = 1,
        answer = [[`true`. The sum has 18 digits, and float64 keeps about 16 of them. So the third
          line, which is false, has the same residual as the first.]],
        hints = { { "it == 2", "That is true of numbers. How many digits does float64 keep?" },
          "How many digits does the sum have? How many does float64 keep?" } },
      code = [[
        pair = roper.randn({1, 2}, "float64")
        x, y, m = pair[1][1]:item(), pair[1][2]:item(), 7
        cos, sin = math.cos, math.sin
        left = roper.position.rope{dim = 2}:unrotate(pair, m)[1][1]:item()
        right = math.abs(left - (x * cos(m) + y * sin(m)))
        wrong = math.abs(left - (x * cos(m) - y * sin(m)))
        missed = math.abs(left - (x * cos(m) + y * sin(m) + 1e-17))
        right, wrong, missed]],
      claims = {
        { "right < 1e-15", instead = { "+ y * sin(m)))", "- y * sin(m)))" } },
        { "wrong > 0.1", instead = { "- y * sin(m)", "+ y * sin(m)" } },
        { "missed < 1e-15", instead = { "1e-17", "1e-7" } } } },
    { title = "Calculate without rounding",
      text = [[
        So each line is also checked without rounding. To do this, calculate as on a clock. On a
        clock with 12 hours, 9 and 5 make 2: only the remainder after division by 12 counts. Take a
        prime number $p$ in place of 12; this is arithmetic modulo $p$. All numbers are whole, below
        $p$, and never rounded.

        You can also divide: $1/5$ is the number that gives 1 when multiplied by 5. `inverse` finds
        it by trying all numbers. It exists for every number but 0 because $p$ is prime. On a clock
        with 12 hours, the multiples of 4 are 4, 8 and 0: there is no $1/4$.]],
      formula = "x · {1}/{x} = 1   (mod p)",
      predict = {
        question = "Take a clock with the 7 hours 0 to 6. Which of them is $1/5$?",
        expect = "3", within = 0,
        answer = "3, because $5 · 3 = 15$, and 15 is twice around plus 1.",
        hints = {
          { "it == 0.2", "There are only whole numbers. Which of them, times 5, gives 1?" },
          { "it ~= 3 and it >= 0 and it < 7", [[Multiply it by 5, and subtract 7 as often as you
            can. Is 1 left?]] },
          "Which of 5, 10, 15, 20, 25, 30 is one more than a multiple of 7?" } },
      code = [[
        function inverse(x, p)
          for y = 1, p - 1 do
            if x * y % p == 1 then return y end
          end
        end
        inverse(5, 7), inverse(5, 103), inverse(4, 12) == nil
        missing = 0                                -- inverses modulo 103
        for x = 1, 102 do
          if not inverse(x, 103) then missing = missing + 1 end
        end
        missing]],
      claims = {
        { "5 * inverse(5, 103) % 103 == 1", instead = { "x * y % p == 1", "x * y % p == 2" } },
        { "missing == 0", instead = { "inverse(x, 103)", "inverse(x, 102)" } } } },
    { title = "Angles without rounding",
      text = [[
        What replaces an angle? Whatever the angle, its cosine $c$ and its sine $s$ satisfy
        $c² + s² = 1$. Everything else in trigonometry follows from how rotations add up. So any two
        numbers with $c² + s² = 1$ will do. The formula below computes them from a number $t$.

        It divides by $1 + t²$, which must not be 0. For ordinary numbers it never is. Modulo $p$ it
        can be, if some $t²$ is $-1$, which is the same as $p - 1$.

        This depends on $p$. If $t² = -1$, then $t⁴ = 1$, and the powers of $t$ repeat after 4
        steps. But $t^{p-1}$ is 1 for every $t$ except 0, if $p$ is prime (Fermat's little theorem).
        So 4 must divide $p - 1$. If the remainder of $p$ after division by 4 is 3, it does not, and
        $1 + t²$ is never 0. The lessons use $p = 2^31 - 1$, a prime with the remainder 3. The code
        uses 103.]],
      formula = [[
        c = {1 - t²}/{1 + t²},  s = {2t}/{1 + t²},  t = 0 … p - 1:  c² + s² = 1]],
      predict = {
        question = [[101 is a prime, too, but its remainder after division by 4 is 1. Which $t$ from
          0 to 50 makes $1 + t²$ equal to 0 modulo 101?]],
        expect = "10", within = 0,
        answer = [[10, because $1 + 100 = 101$. (The other one is $101 - 10 = 91$.) With a clock of
          101 hours, the formula would divide by 0 there.]],
        hints = {
          { "it == 100", "That is $t²$. What is $t$?" },
          { "it == 0", "$1 + 0 = 1$." },
          { "it == 91", "That is also 0, but it is greater than 50." },
          "For which $t$ is $1 + t²$ equal to 101 or a multiple of it?" } },
      code = [[
        function unusable(p)                       -- t with 1 + t^2 = 0
          local list = {}
          for t = 0, p - 1 do
            if (1 + t * t) % p == 0 then list[#list + 1] = t end
          end
          return list
        end
        unusable(101), unusable(103)
        101 % 4, 103 % 4, ((1 << 31) - 1) % 4
        function point(t, p)
          local share = inverse((1 + t * t) % p, p)
          return (1 - t * t) * share % p, 2 * t * share % p
        end
        c, s = point(2, 103)                       -- like a 3, 4, 5 triangle
        one = (c * c + s * s) % 103
        C, S = (c * c - s * s) % 103, 2 * s * c % 103   -- rotated twice
        twice = (C * C + S * S) % 103]],
      claims = {
        { "#unusable(101) == 2", instead = { "1 + t * t", "2 + t * t" } },
        { "#unusable(103) == 0", instead = { "1 + t * t", "4 - t * t" } },
        { "one == 1", instead = { "c * c + s", "c * c - s" } },
        { "twice == 1", instead = { "2 * s * c", "3 * s * c" } } },
      figure = {
        caption = [[The circle on a clock with 23 hours: each dot is a pair with $c² + s² = 1$. It
          is not round, but has the symmetries of a circle: with $(c, s)$, also $(c, -s)$, $(-c, s)$
          and $(s, c)$ are on it, where $-s$ is $23 - s$. Of the 24 dots, the formula gives all but
          $(-1, 0)$, which is $(22, 0)$.]],
        draw = [[
          x, y, is_dot = {}, {}, {}
          for t = 0, 22 do
            local c, s = point(t, 23)
            x[#x + 1], y[#y + 1], is_dot[c * 23 + s] = c, s, true
          end
          x[#x + 1], y[#y + 1], is_dot[22 * 23] = 22, 0, true
          return plot.scatter({x = x, y = y}, {xlabel = "c", ylabel = "s", format = format})]],
        claims = {
          { "#x == 24 and (x[5] ^ 2 + y[5] ^ 2) % 23 == 1",
            instead = { "point(t, 23)", "point(t, 19)" } },
          { "is_dot[y[5] * 23 + x[5]] and is_dot[x[5] * 23 + (23 - y[5])]",
            instead = { "t = 0, 22", "t = 0, 4" } } } },
      exercise = {
        question = "Which of these prime numbers could the check use?",
        choices = { "$p = 97$", "$p = 107$", "$p = 109$", "$p = 113$" },
        expect = 2,
        answer = [[$107 = 4 · 26 + 3$. The others have the remainder 1: for example,
          $22² + 1 = 485 = 5 · 97$.]],
        hints = { { "it ~= 2", "Its remainder after division by 4 is 1. Which one has 3?" },
          "Divide each of them by 4. Which one has the remainder 3?" } } },
    { title = "Can a false line pass by chance?",
      text = [[
        Two different sides can be equal for some numbers. $x² = 2x$ is false in general, but true
        for $x = 0$ and $x = 2$. So a trial with random numbers can pass by chance. How likely is
        that?

        Each side is a sum of products. Let $D$ be the number of factors of the longest product. If
        the sides differ, they are equal for at most $D$ of the $p$ numbers that an
        unknown can be. Points of the circle are computed from $t²$, so for them it is at most $2D$.
        With several unknowns, the same share of all choices is the limit (the lemma of Schwartz and
        Zippel). So a false line with $D = 4$ passes one trial with probability $8/p$ at most, and
        six in a row with probability $(8/p)⁶$ at most.

        The code counts for which of the 103 points some false lines hold: $cos jn = cos n$ for
        several whole numbers $j$. As $cos jn$ is a sum of products of $j$ cosines and sines,
        $D = j$.]],
      formula = [["chance in six trials" ≤ ({2D}/{p})⁶]],
      predict = {
        question = [[Calculate modulo 103, with a random $x$ from 0 to 102. What is the probability
          that the false line $x² = 2x$ passes one trial?]],
        expect = "2 / 103", within = 0.005,
        answer = [[2 of 103, about 2 percent: $x$ must be 0 or 2. Here $D = 2$. With the larger
          prime of the checks it is 2 of 2,147,483,647.]],
        hints = {
          { "it == 2", "That is how many numbers pass. Divide by how many there are." },
          { "it == 1 / 103", "Two numbers pass." },
          { "it == 2 / 102", "Almost: from 0 to 102 there are 103 numbers." },
          "How many of the 103 numbers pass?" } },
      code = [[
        function lucky(p)                          -- solutions of x^2 = 2 * x
          local list = {}
          for x = 0, p - 1 do
            if (x * x - 2 * x) % p == 0 then list[#list + 1] = x end
          end
          return list
        end
        lucky(7), lucky(103), lucky(10007)
        function passes(j)                         -- points with cos jn = cos n
          local count = 0
          for t = 0, 102 do
            local c, s = point(t, 103)
            local C, S = 1, 0
            for _ = 1, j do C, S = (C * c - S * s) % 103, (S * c + C * s) % 103 end
            if C == c then count = count + 1 end
          end
          return count
        end
        passes(2), passes(3), passes(5)
        bound = (8 / ((1 << 31) - 1)) ^ 6
        bound]],
      claims = {
        { "#lucky(10007) == 2", instead = { "x * x - 2 * x", "x * x" } },
        { "passes(2) <= 4", instead = { "C == c then", "C ~= c then" } },
        { "passes(5) <= 10", instead = { "C == c then", "C ~= c then" } },
        { "bound < 1e-50", instead = { "^ 6", "^ 5" } } },
      figure = {
        caption = [[For how many of 103 points the false line $cos jn = cos n$ holds, and the
          bound $2D$. No bar is higher than its bound, so most points refute each line.]],
        draw = [[
          counts, bounds, names = {}, {}, {}
          for j = 2, 10 do
            counts[j - 1], bounds[j - 1], names[j - 1] = passes(j), 2 * j, "j = " .. j
          end
          return plot.bar({{y = counts, label = "points that pass"},
            {y = bounds, label = "bound"}}, {names = names, format = format})]],
        claims = {
          { "counts[9] <= bounds[9] and counts[9] == passes(10)",
            instead = { "passes(j),", "103 - passes(j)," } },
          { "bounds[1] == 4", instead = { "2 * j,", "j," } } } } },
    { title = "Any number of terms",
      text = [[
        A line should also hold for any number of terms in a sum and of pairs in a vector. No
        program can try all numbers. It does not have to.

        Let $S$ be the number of sums that are multiplied with each other. Multiply them out: each
        product contains terms with at most $S$ different indices. So the results for many terms
        follow from those for at most $S$ terms. The check tries 1, 2 … $S + 1$ terms. The same
        applies to pairs, because a product with a matrix sums over them. And it holds for any
        frequencies, because each angle, such as $mθ$ or $mθ²$, has its own random point.

        The code checks a line that is true only for a single term, and RoPER's line. `exact.terms`
        is the number of terms at which a false line failed, or the largest that was tried. The
        other two numbers of RoPER's line are $D$ and the number of trials. At the prompt, `look`
        shows these and other details of the checks below.]],
      formula = "Σ_n w_n w_n = (Σ_n w_n) (Σ_n w_n)",
      predict = {
        question = [[The line above is true if there is only one term. What is the smallest number
          of terms for which it is false?]],
        expect = "2", within = 0,
        answer = [[2: $w₁² + w₂²$ is not $(w₁ + w₂)²$. On the right two sums are multiplied, so
          $S = 2$, and 3 would be the largest number that is tried.]],
        hints = {
          { "it == 3", "Try two terms: is $w₁² + w₂²$ equal to $(w₁ + w₂)²$?" },
          { "it == 1", "With one term both sides are $w₁²$." },
          "Write the line for two terms." } },
      code = [[
        given = {a = "numbers", w = "numbers", v = "vectors", n = "positions",
          m = "position"}
        squares = roper.identity{"sum(w*w) == sum(w)*sum(w)", given = given}
        squares.holds, squares.exact.terms
        line = roper.identity{"unrotate(sum(a*rotate(v, n)), m)"
          .. " == sum(a*rotate(v, n - m))", given = given}
        tried = math.tointeger(line.exact.terms)
        line.holds, tried, line.exact.degree, line.exact.trials]],
      claims = {
        { "not squares.holds", instead = { "sum(w)*sum(w)", "sum(2*w*w) - sum(w*w)" } },
        { "squares.exact.terms == 2", instead = { "sum(w)*sum(w)", "2*sum(w*w)" } },
        { "tried == 2", instead = { "sum(a*rotate(v, n - m))", "sum(a*rotate(v, m - n))" } },
        { "line.exact.trials == 6",
          instead = { "sum(a*rotate(v, n - m))", "sum(a*rotate(v, m - n))" } } },
      identity = { LINE, wrong = { "sum(w*w) == sum(w)*sum(w)" } },
      exercise = {
        question = [[A line contains `sum(w)*sum(w)*sum(w)*sum(w)`, and no product of more sums. Up
          to how many terms is it tried?]],
        expect = "5", within = 0,
        answer = "Four sums are multiplied, so $S = 4$, and it is tried up to $S + 1 = 5$ terms.",
        hints = { { "it == 4", "That is $S$. How many terms are tried?" },
          { "it == 6", "That is the number of trials in the example. How many terms?" },
          "How many sums are multiplied? One more number of terms is tried." } } },
  },
}
