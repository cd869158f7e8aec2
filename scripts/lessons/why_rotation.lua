return roper.lesson {
  order = 7,
  title = "Why it must be a rotation",
  before = [[You can rotate a pair by its position (`rotation`), and have seen that RoPE's scores
    depend only on distance (`relative-score`).]],
  after = [[You can derive RoPE from the requirement on scores, and say where the paper makes a
    choice.]],
  summary = "Find out what else than a rotation the requirement on scores allows.",
  minutes = 30,
  needs = { "rotation", "relative-score" },
  notation = {
    { "m, n", "the positions of the query and of the key" },
    { "q, k", "the query and the key, before any position is put into them" },
    { "x", "either of them" },
    { "f(x, m)", "the vector $x$ with the position $m$ put into it; the unknown of this lesson" },
    { "g(q, k, n - m)", "the score, which may depend on the distance alone" },
    { "|x|", "the length of $x$" },
    { "φ_m", "the angle by which $f$ rotates at position $m$" },
    { "A_m", "a matrix for each position" },
    { "R_m", "the rotation by position $m$" },
  },
  given = { q = "vector", k = "vector", m = "position", n = "position" },
  steps = {
    { title = "The requirement",
      text = [[
        `relative-score` took a rotation and showed that it works. This lesson goes the other way.
        Nothing is known but the wish: put its position into each vector, so that the score depends
        on the distance alone. Which functions $f$ do that? The paper asks this in section 3.4.1
        ([Su et al. 2021](arXiv:2104.09864), eq. 21), for pairs of numbers, and so do we.

        At position 0 nothing is changed, $f(x, 0) = x$: we call query and key what they are there
        (eq. 22). The paper lets queries and keys have different functions. We begin with one
        function for both.

        The code has six candidates. `change` moves query and key by 5 positions and returns how
        much their score changes, at most, for 20 random pairs.]],
      formula = "f(q, m) · f(k, n) = g(q, k, n - m)",
      predict = {
        question = "For which of these does the score stay the same?",
        choices = { "$(1 + m/10) x$: longer with each position",
          "$x + p_m - p_0$: a wave is added",
          "$R_{m²} x$: rotated by the square of the position",
          "$R_m x$: rotated by the position" },
        expect = 4,
        answer = [[Only the last (`relative-score`). The others are changed by moving, as the
          numbers below show. The rest of the lesson finds out why nothing else works.]],
        hints = {
          { "it == 1", "Both grow if they move, and so does their product." },
          { "it == 2", [[$p_m · p_n$ depends on the distance. But what of $q · p_n$?
            (`mask-and-waves`)]] },
          { "it == 3", [[Try $m = 0$, $n = 1$, and then $m = 1$, $n = 2$. What are the angles
            between them?]] },
          "Move both by one position, and see what happens to lengths and angles." } },
      code = [[
        plane = roper.position.rope{dim = 2, frequencies = {0.3}}
        function rotate(x, m) return plane:rotate(x, m) end
        function wave(m)
          return roper.tensor({math.cos(0.3 * m), math.sin(0.3 * m)}, "float64")
        end
        function length(x) return x:square():sum():item() ^ 0.5 end
        function dot(x, y) return (x * y):sum():item() end
        function longer(x, m) return (1 + m / 10) * x end
        function added(x, m) return x + wave(m) - wave(0) end
        function sheared(x, m)
          return roper.stack{x[1] + m / 10 * x[2], x[2]}
        end
        function squared(x, m) return rotate(x, m * m) end
        function by_length(x, m) return rotate(x, m * length(x)) end
        function change(f)
          local most = 0
          for _ = 1, 20 do
            local q, k = roper.randn({2}, "float64"), roper.randn({2}, "float64")
            local here, there = dot(f(q, 4), f(k, 1)), dot(f(q, 9), f(k, 6))
            most = math.max(most, math.abs(here - there))
          end
          return most
        end
        change(longer), change(added), change(sheared)
        change(squared), change(by_length)
        change(rotate)
        rest = math.min(change(longer), change(added), change(sheared),
          change(squared), change(by_length))
        kept = change(rotate)]],
      claims = {
        { "rest > 0.1", instead = { "rotate(x, m * m)", "rotate(x, m)" } },
        { "kept < 1e-12", instead = { "plane:rotate(x, m)", "(1 + m) * x" } } } },
    { title = "No length can change",
      text = [[
        Let query and key be the same vector, at the same position. Their score is then the square
        of a length. The distance is 0 at every position, so this square is the same everywhere. At
        position 0 it is $|x|²$. So $f$ changes no length.

        The paper gets less here, because it lets queries and keys have different functions: only
        the product of the two lengths must stay (eq. 26). It then takes "a straightforward
        solution", in which both stay (eq. 27). That is a choice. Another one shortens queries by a
        factor with each position, and lengthens keys by the same factor. The product then depends
        on the distance, as required. xPos does that ([Sun et al. 2022](arXiv:2212.10554)), on top
        of a rotation.]],
      formula = "|f(x, m)|² = f(x, m) · f(x, m) = g(x, x, 0) = |x|²",
      predict = {
        question = "Let $x = (3, 4)$. What is the length of $f(x, 7)$?",
        expect = "5",
        answer = "$√{9 + 16} = 5$, as at any other position.",
        hints = {
          { "it == 25", "That is its square." },
          { "it == 35", "Is the length allowed to grow with the position?" },
          { "it == 7", "That is the sum of the numbers. What is the length of $(3, 4)$?" },
          "Which length does $f(x, 0)$ have? Which does the requirement allow at 7?" } },
      code = [[
        x = roper.tensor({3, 4}, "float64")
        length(rotate(x, 7)), length(longer(x, 7)), length(added(x, 7))
        length(sheared(x, 7))
        off = math.abs(length(rotate(x, 7)) - 5)
        xpos = roper.position.xpos{dim = 2, span = 20}
        function by_xpos(m, n)
          return dot(xpos:rotate(x, m, "q"), xpos:rotate(x, n, "k"))
        end
        by_xpos(4, 1), by_xpos(9, 6)
        length(xpos:rotate(x, 7, "q")), length(xpos:rotate(x, 7, "k"))
        same = math.abs(by_xpos(4, 1) - by_xpos(9, 6))
        grown = math.abs(length(xpos:rotate(x, 7, "q")) - 5)]],
      claims = {
        { "off < 1e-12",
          instead = { "off = math.abs(length(rotate(", "off = math.abs(length(added(" } },
        { "same < 1e-5", instead = { 'rotate(x, n, "k")', 'rotate(x, n, "q")' } },
        { "grown > 0.1", instead = { "span = 20", "span = 1e9" } } } },
    { title = "All arrows turn alike",
      text = [[
        Now take two different vectors at the same position. Their distance is 0, so their score is
        $q · k$ at every position. Their lengths stay, by the step before. A dot product is the
        lengths times the cosine of the angle between the arrows. So the angle between any two
        arrows stays, too.

        If one arrow is rotated by an angle, all others must be rotated by the same angle. It
        depends on the position only; call it $φ_m$ (eq. 28). The function `by_length` of the first
        step fails here: it rotates longer arrows by more.

        (There is one other way to keep all angles: a mirror. It returns in the last step.)]],
      formula = "f(q, m) · f(k, m) = g(q, k, 0) = q · k    f(x, m) = R(φ_m) x",
      predict = {
        question = [[At position 0, a query points at 20 degrees and a key at 65. At position 5, the
          query points at 130 degrees. Where does the key point at position 5, if nothing is
          mirrored?]],
        expect = "65 + 110",
        answer = [[175 degrees. The query was rotated by 110 degrees, and so is the key: it stays 45
          degrees ahead. (A mirror would put it 45 degrees behind, at 85.)]],
        hints = {
          { "it == 85", "That is its mirror image. The key was ahead of the query." },
          { "it == 65", "Then the angle between them would have changed." },
          { "it == 110", "That is the rotation. Where does the key end?" },
          { "it == 195", "That rotates the key by 130. The query started at 20 degrees." },
          "By how much was the query rotated? The key is rotated by the same angle." } },
      code = [[
        function between(f, m)                    -- the angle at position m
          local q, k = f(wave(1), m), f(2 * wave(4), m)
          local a = math.atan(k[2]:item(), k[1]:item())
          return math.deg(a - math.atan(q[2]:item(), q[1]:item())) % 360
        end
        between(rotate, 0), between(rotate, 5)
        between(by_length, 0), between(by_length, 5)
        kept = math.abs(between(rotate, 5) - between(rotate, 0))
        lost = math.abs(between(by_length, 5) - between(by_length, 0))]],
      claims = {
        { "kept < 1e-9", instead = { "between(rotate, 5) -", "between(added, 5) -" } },
        { "lost > 1", instead = { "between(by_length, 5) -", "between(rotate, 5) -" } } } },
    { title = "Equal steps",
      text = [[
        One question is left: which angle at which position? Put the key one position after the
        query, at $n = m + 1$. Their distance is 1 everywhere. Relative to the query, the key is
        rotated by $φ_{m+1} - φ_m$. The score may not depend on $m$, so this difference is the same
        everywhere; call it $θ$ (eq. 29). From $φ_0 = 0$ the angles grow by $θ$ with each position:
        they are an arithmetic progression (eq. 30, where the paper adds a constant that it then
        sets to 0).

        That is RoPE: $f(x, m) = R_m x$, a rotation by $mθ$ (eq. 33). The check below is the
        requirement again, and that it fails if the query takes two steps at a time.]],
      formula = "φ_{m+1} - φ_m = θ    φ_m = mθ",
      predict = {
        { question = [[At position 1 all arrows are rotated by 40 degrees. By how many degrees at
            position 5?]],
          expect = "5 * 40",
          answer = "200: five steps of 40 degrees.",
          hints = {
            { "it == 40", "Each position adds the same angle." },
            { "it == 160", "That is position 4. Position 0 has the angle 0." },
            { "it == 240", "That is position 6." },
            { "it == 1000", "That grows with the square of the position." },
            "How many steps is it from position 0 to 5? How large is each?" } },
        { question = [[At position 3 the angle is 75 degrees, at position 7 it is 175. No full turn
            is hidden. What is $θ$, in degrees?]],
          expect = "(175 - 75) / 4",
          answer = "25: 100 degrees in 4 steps. And $3 · 25 = 75$, as it should be.",
          hints = {
            { "it == 100", "That is four steps." },
            { "math.abs(it - 100 / 3) < 0.5", "From 3 to 7 there are four steps." },
            { "math.abs(it - math.rad(25)) < 0.01", "Give the angle in degrees." },
            "How many degrees are between them, and how many steps?" } } },
      identity = { "dot(rotate(q, m + 1), rotate(k, n + 1)) == dot(rotate(q, m), rotate(k, n))",
        wrong = { { "dot(rotate(q, 2*m + 2), rotate(k, n + 1))"
          .. " == dot(rotate(q, 2*m), rotate(k, n))", source = "the query takes two steps" } } } },
    { title = "Let a computer search",
      text = [[
        Did we overlook something? Take many more functions: for each of 8 positions any matrix
        $A_m$ of four numbers, which can stretch, shear, mirror and rotate. Only $A_0$ is fixed: it
        changes nothing. The score of $A_m q$ and $A_n k$ is $q · A_mᵀ A_n k$, so the requirement
        says that $A_mᵀ A_n$ depends on $n - m$ alone. `violation` adds up the squares of all
        differences between $A_mᵀ A_n$ and $A_{m+1}ᵀ A_{n+1}$.

        `search` starts with random numbers and changes them step by step, so that the violation
        falls (by Adam, see `train-one`). Some searches get stuck above 0, and the code tries again.
        Nothing in it knows of rotations.]],
      predict = {
        question = "The violation is 0. What is $A_1ᵀ A_1$?",
        choices = { "any matrix: only $A_0$ is fixed",
          "the same as $A_0ᵀ A_0$: 1 on the diagonal, 0 elsewhere", "0" },
        expect = 2,
        answer = [[The distance is 0 in both. $A_0$ changes nothing, so $A_1ᵀ A_1$ does not, either:
          $A_1$ keeps all lengths and angles, that is, it rotates (or mirrors). And here each
          further position rotates by the same angle again: $A_2 = A_1 A_1$, and so on.]],
        hints = {
          { "it == 1", "The distance in $A_1ᵀ A_1$ is 0. In which other product is it 0, too?" },
          { "it == 3", "Then all scores at position 1 would be 0, but those at 0 are not." },
          "The requirement compares $A_1ᵀ A_1$ with $A_0ᵀ A_0$." } },
      code = [[
        count = 8
        function products(A)                      -- all A_m^T A_n
          local wide = A:transpose(1, 2):contiguous():view{2, 2 * count}
          local all = wide:transpose(1, 2):matmul(wide)
          return all:view{count, 2, count, 2}:transpose(2, 3)
        end
        function violation(A)
          local all, last = products(A), count - 1
          local here = all:narrow(1, 1, last):narrow(2, 1, last)
          local later = all:narrow(1, 2, last):narrow(2, 2, last)
          return (later - here):square():sum()
        end
        one = roper.eye(2, "float64")             -- A_0
        function search()
          local free = roper.randn({count - 1, 2, 2}, "float64"):parameter()
          local adam = roper.optim.Adam{rate = 0.02}
          for _ = 1, 3000 do
            free.grad = nil
            violation(roper.cat({one:view{1, 2, 2}, free}, 1)):backward()
            adam:step{free}
          end
          return roper.cat({one:view{1, 2, 2}, free}, 1):detach()
        end
        tries = 0
        repeat
          A = search()
          tries = tries + 1
        until violation(A):item() < 1e-9 or tries == 20
        tries, violation(A):item()
        A[2]
        square = A[2]:transpose(1, 2):matmul(A[2])
        square
        rotates = (square - one):abs():max():item()
        power = A[2]
        for _ = 3, count do power = power:matmul(A[2]) end
        equal_steps = (A[count] - power):abs():max():item()]],
      claims = {
        { "violation(A):item() < 1e-9", instead = { "1, 3000", "1, 30" } },
        { "rotates < 1e-3", instead = { "(square - one)", "(A[2] - one)" } },
        { "equal_steps < 1e-3", instead = { "for _ = 3,", "for _ = 4," } } },
      figure = {
        caption = [[The angle of each $A_m$, from position to position. Dashed: of the random
          numbers that the first search starts with. Solid: after the search that succeeded. It is
          a straight line: equal steps.]],
        draw = [[
          local function angles(A)
            local list = {0}
            for m = 2, count do
              local turn = A[m - 1]:transpose(1, 2):matmul(A[m])
              list[m] = list[m - 1]
                + math.deg(math.atan(turn[2][1]:item(), turn[1][1]:item()))
            end
            return list
          end
          found = angles(A)
          roper.seed(1)
          local start = roper.randn({count - 1, 2, 2}, "float64")
          random = angles(roper.cat({one:view{1, 2, 2}, start}, 1))
          positions = roper.arange(0, count)
          return plot.line({{x = positions, y = found, label = "found"},
            {x = positions, y = random, label = "random", dashed = true}},
            {xlabel = "position", ylabel = "degrees", format = format})]],
        claims = {
          { "math.abs(found[8] - 7 * found[2]) < 0.1",
            instead = { "found = angles(A)", "found = angles(A:square())" } },
          { "math.abs(random[8] - 7 * random[2]) > 10",
            instead = { "start}, 1)", "A:narrow(1, 2, 7)}, 1)" } } } } },
    { title = "The mirror, and more than two numbers",
      text = [[
        A mirror keeps all lengths and angles, too. Mirroring twice changes nothing. So a function
        that mirrors at odd positions meets the requirement: $A_1$ is a mirror, $A_2$ changes
        nothing, $A_3$ is the mirror again. It only distinguishes odd distances from even ones. And
        it cannot be continued to half a position: no rotation and no mirror, done twice, gives a
        mirror. A rotation by half the angle, done twice, gives a rotation.

        Nothing in the argument needed exactly two numbers. For more, the same steps give
        $f(x, m) = A^m x$, with one matrix $A$ that keeps lengths and angles. Such a matrix rotates
        pairs of numbers, each pair by its own angle, after a change of axes $B$. (This is a theorem
        of linear algebra, the normal form of orthogonal matrices. It may also mirror single axes.)
        $B$ can be moved into the weights that compute queries and keys. So RoPE's pairs with one
        frequency each (`general-form`) are the general solution, up to what the weights can do
        anyway. The code tries it with four numbers.]],
      formula = "f(x, m) = Bᵀ R_m B x    f(q, m) · f(k, n) = (B q) · R_{n-m} (B k)",
      predict = {
        { question = [[A function mirrors at odd positions. Which of these distances does it
            distinguish from 0?]],
          choices = { "1, 2 and 3", "1 and 3", "2" },
          expect = 2,
          answer = [[1 and 3. At distance 2 the two are both mirrored or both not, as at 0.]],
          hints = {
            { "it == 1", "At distance 2, are both mirrored, or only one of them?" },
            { "it == 3", "At distance 2 both or neither are mirrored. That is as at distance 0." },
            "For which distances is only one of the two mirrored?" } },
        { question = "Can a trained model with RoPE use another $B$?",
          choices = { "No: RoPE's pairs are fixed.",
            "Yes: the weights of queries and keys can contain it." },
          expect = 2,
          answer = [[$B q = B W_q x$, and $B W_q$ is a matrix like $W_q$. Training can find it. The
            same $B$ must be in both.]],
          hints = { { "it == 1", "They are. But what computes the vector that RoPE rotates?" },
            "Queries are $W_q x$. What is $B$ times that?" } } },
      code = [[
        mirror = roper.tensor({{1, 0}, {0, -1}}, "float64")
        function mirrored(x, m)
          return m % 2 == 1 and mirror:matmul(x:view{2, 1}):view{2} or x
        end
        change(mirrored)
        same = math.abs(dot(mirrored(x, 2), x) - dot(x, x))
        wide = roper.position.rope{dim = 4}
        mixed = roper.position.rope{dim = 4, pairing = "interleaved", base = 3}
        B = wide:matrix(2):matmul(mixed:matrix(1))    -- keeps lengths and angles
        function f(x, m)
          local y = wide:rotate(B:matmul(x:view{4, 1}):view{4}, m)
          return B:transpose(1, 2):matmul(y:view{4, 1}):view{4}
        end
        q, k = roper.randn({4}, "float64"), roper.randn({4}, "float64")
        dot(f(q, 4), f(k, 1)), dot(f(q, 9), f(k, 6))
        relative = math.abs(dot(f(q, 4), f(k, 1)) - dot(f(q, 9), f(k, 6)))
        Bq, Bk = B:matmul(q:view{4, 1}):view{4}, B:matmul(k:view{4, 1}):view{4}
        by_rope = dot(wide:rotate(Bq, 4), wide:rotate(Bk, 1))
        off = math.abs(dot(f(q, 4), f(k, 1)) - by_rope)]],
      claims = {
        { "change(mirrored) < 1e-12", instead = { "{0, -1}}", "{1, -1}}" } },
        { "same < 1e-12", instead = { "mirrored(x, 2)", "mirrored(x, 1)" } },
        { "relative < 1e-12", instead = { "view{4}, m)", "view{4}, m * m)" } },
        { "off < 1e-12", instead = { "wide:rotate(Bk, 1)", "wide:rotate(k, 1)" } } },
    },
  },
}
