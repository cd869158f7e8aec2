return roper.lesson {
  order = 4,
  title = "Rotating a pair of numbers",
  before = "You know sine and cosine as the coordinates of a point on the unit circle.",
  after = [[You can rotate a pair by hand, add rotations, undo them, and say what a rotation leaves
    unchanged.]],
  summary = "Turn an arrow by hand, add turns, undo them.",
  minutes = 25,
  needs = { "mask-and-waves" },
  notation = {
    { "m, n", "positions, counted from 0" },
    { "θ", "the frequency: the angle per position, in radians" },
    { "R_m", "the rotation by position $m$, that is, by the angle $mθ$" },
    { "φ, α, β", "angles" },
    { "x₁, x₂", "the two components of a pair $x$" },
    { "x · y", "the dot product, $x₁ y₁ + x₂ y₂$" },
    { "|x|", "the length of $x$: $√{x₁² + x₂²}$" },
  },
  given = { x = "vector", y = "vector", r = "number", alpha = "position", a = "position",
    b = "position", m = "position", n = "position" },
  steps = {
    { title = "By hand, in degrees",
      text = [[
        Rotary position encoding rotates pairs of numbers. So we begin with one pair.

        A pair $(x, y)$ is an arrow in the plane: $x$ steps to the right and $y$ steps up. Rotating
        it by an angle $φ$ gives $(x', y')$. A positive angle rotates counterclockwise.

        One step to the right, $(1, 0)$, becomes $(cos φ, sin φ)$, a point on the unit circle. One
        step up, $(0, 1)$, stays 90 degrees ahead of it and becomes $(-sin φ, cos φ)$, because
        $cos(φ + 90°) = -sin φ$ and $sin(φ + 90°) = cos φ$. The rotated arrow is $x$ times the first
        result plus $y$ times the second.]],
      formula = [[
        x' &= x cos φ - y sin φ
        y' &= y cos φ + x sin φ]],
      predict = {
        question = "Rotate $(2, 1)$ by 90 degrees. What is $x'$?",
        expect = "-1",
        answer = [[-1. With $cos 90° = 0$ and $sin 90° = 1$ we get $x' = -y$ and $y' = x$. So a
          quarter turn takes $(x, y)$ to $(-y, x)$.]],
        hints = { { "it == 1", "That rotates clockwise. A positive angle is counterclockwise." },
          { "it == 2", "That is $y'$." },
          { "it == -2", "A half turn gives -2. Here it is a quarter turn." },
          { "it == 0", "Only $cos 90°$ is 0. What is $-y sin φ$?" },
          "$cos 90° = 0$ and $sin 90° = 1$. Substitute them in the first line." } },
      code = [[
        function turn(x, y, degrees)
          local c, s = math.cos(math.rad(degrees)), math.sin(math.rad(degrees))
          return x * c - y * s, y * c + x * s
        end
        turn(1, 0, 30)
        turn(2, 1, 180)
        x, y = turn(2, 1, 90)
        x, y]],
      claims = {
        { "math.abs(x + 1) + math.abs(y - 2) < 1e-12", instead = { "- y * s", "+ y * s" } } },
      figure = {
        caption = [[Dashed: $(2, 1)$ is 2 steps to the right and 1 step up. Solid: each step is
          rotated by 90 degrees. Together they end at the tip of the rotated arrow.]],
        draw = [[
          local function moved(x, y, degrees)
            local x1, y1 = turn(x, y, degrees)
            return {x1, y1, dashed = degrees == 0, about = {0, 0},
              turned = degrees > 0 and math.rad(degrees) or nil}
          end
          local list = {}
          for _, degrees in ipairs{0, 90} do
            along, up, arrow = moved(2, 0, degrees), moved(0, 1, degrees), moved(2, 1, degrees)
            up.from = along
            along.label, up.label, arrow.label = "2 steps", "1 step", "arrow"
            table.move({along, up, arrow}, 1, 3, #list + 1, list)
          end
          arrow.about = nil -- the path of its tip is drawn
          return plot.arrows(list, {format = format})]],
        claims = {
          { "math.abs(arrow[1] - x) + math.abs(arrow[2] - y) < 1e-12",
            instead = { "{0, 90}", "{0, 80}" } },
          { "math.abs(along[1] + up[1] - x) + math.abs(along[2] + up[2] - y) < 1e-12",
            instead = { "moved(0, 1", "moved(0, -1" } } } },
      exercise = {
        question = [[Rotate $(3, 4)$ by 180 degrees on paper. Give the two numbers in braces, such
          as `{1, 2}`.]],
        check = "math.abs(it[1] + 3) + math.abs(it[2] + 4) < 1e-9",
        sample = "{-3, -4}",
        form = { "{___, ___}", { "-4", "-3", "3", "4" }, { "-4", "-3", "3", "4" } },
        answer = [[$(-3, -4)$: $cos 180° = -1$ and $sin 180° = 0$. A half turn changes both signs.
          It is two quarter turns: first $(-4, 3)$, then $(-3, -4)$.]],
        hints = {
          { "type(it) == 'number'", "Type both numbers, in braces." },
          { "it[1] == -4 and it[2] == 3", "That is a quarter turn. Rotate by 90 degrees again." },
          { "it[1] == 4 and it[2] == -3", "That is a quarter turn, clockwise." },
          { "it[1] == -4 and it[2] == -3", "A half turn does not swap the two numbers." },
          { "it[1] == 3 and it[2] == 4", "That is the arrow before. Now it points the other way." },
          "$cos 180° = -1$ and $sin 180° = 0$." } } },
    { title = "By position",
      text = [[
        Now let the angle grow with the position in the sentence. At position $m$, counted from 0,
        the arrow is rotated by $mθ$, where $θ$ is a fixed angle, the frequency. That is all of
        rotary position encoding in two dimensions ([Su et al. 2021](arXiv:2104.09864), eq. 13).

        Programs measure angles in radians. A full turn is $2π$ radians, about 6.28, so one radian
        is about 57 degrees. In the code below $θ$ is 1: each position adds one radian.

        In the library the rotation is `rotate(x, m)`. As a matrix it is $R_m$. The matrix times a
        pair gives the two lines of the previous step again: multiply each row by the pair, number
        by number, and add up.

        In the check below, `x[1]` and `x[2]` are the two components of a pair, `cos(m)` means
        $cos mθ$, and `pair` makes a pair of two components.]],
      formula = "R_m = [cos mθ, -sin mθ; sin mθ, cos mθ]",
      predict = {
        question = [[Let $θ$ be 30 degrees. The arrow $(1, 0)$ is at position 3. What is its second
          component after the rotation?]],
        expect = "math.sin(math.rad(90))",
        answer = "1. The arrow is rotated by $3 · 30° = 90°$ and points up: $(0, 1)$.",
        hints = { { "math.abs(it) < 1e-9", "That is the first component." },
          { "math.abs(it - 0.5) < 0.01", "That is position 1. The angle at position $m$ is $mθ$." },
          { "math.abs(it - math.sin(3)) < 0.01",
            "That is $θ = 1$, in radians. Here $θ$ is 30 degrees." },
          { "math.abs(it - math.sin(90)) < 0.01",
            "`math.sin` takes radians: `math.sin(math.rad(90))`." },
          { "math.abs(it - math.sin(math.rad(120))) < 0.01",
            "Positions count from 0: at position 3 the angle is three times 30 degrees." },
          { "it == 90 or it == -90", "That is the angle. Where does the arrow point then?" },
          { "it == -1", "The rotation is counterclockwise, so the arrow ends pointing up." },
          "What is the angle at position 3? Where does the arrow point then?" } },
      code = [[
        rope = roper.position.rope{dim = 2}
        rope:matrix(1)
        arrow = roper.tensor({{2, 1}}, "float64")
        rope:rotate(arrow, 1)
        hands = rope:rotate(arrow:expand{5, 2}, {0, 1, 2, 3, 4})]],
      identity = { "rotate(x, m) == rotation(m)*x"
          .. " == pair(x[1]*cos(m) - x[2]*sin(m), x[2]*cos(m) + x[1]*sin(m))" },
      figure = {
        caption = [[The arrow $(2, 1)$ at positions 0 to 4, with $θ = 1$. Each position adds 1
          radian, 57 degrees. (`plot.rotation` draws such figures of your own arrows.)]],
        draw = [[
          local list = {}
          angles = {}
          for m = 0, 4 do
            local x, y = table.unpack(hands[m + 1]:totable())
            angles[m] = math.atan(y, x) % (2 * math.pi)
            list[m + 1] = {x, y, label = "m = " .. m, dashed = m == 0, turned = m > 0 and 1 or nil}
          end
          return plot.arrows(list, {format = format})]],
        claims = {
          { "math.abs(angles[1] - angles[0] - 1) < 1e-12",
            instead = { "hands[m + 1]", "rope:rotate(arrow, m / 2)[1]" } },
          { "math.abs(angles[4] - angles[0] - 4) < 1e-12",
            instead = { "hands[m + 1]", "rope:rotate(arrow, m > 0 and 1 or 0)[1]" } } },
        play = { kind = "rotation", vectors = { { 2, 1 } }, farthest = 30,
          caption = [[Dashed: the arrow $(2, 1)$. Solid: the same, rotated by $mθ$. Move $m$: each
            position adds the angle $θ$. Then halve $θ$: the same rotation takes twice as many
            positions.]] } },
      exercise = {
        question = [[Let $θ$ be 1. What is the first position at which the arrow is rotated by more
          than a full turn?]],
        expect = "7",
        answer = [[7, because a full turn is 6.28 radians. After that the angles repeat
          approximately. Seven full turns are 43.98 radians, so position 44 points almost in the
          same direction as position 0, and one pair can hardly distinguish them. A vector therefore
          gets many pairs with many frequencies. See `general-form`.]],
        hints = { { "it == 6", "6 radians are 344 degrees: nearly a full turn." },
          { "it > 6 and it < 6.5", "That is a full turn in radians. Positions are whole numbers." },
          { "it == 360 or it == 361", "$θ$ is 1 radian, not 1 degree." },
          { "it == 8", "Positions count from 0, so at position 7 the angle is 7 radians." },
          "How many radians are a full turn?" } } },
    { title = "A rotation adds to the angle",
      text = [[
        An arrow can also be described by its length $r$ and by $α$, its angle from the axis to the
        right. Its components are then $(r cos α, r sin α)$. At position $m$ it is rotated by $mθ$:
        its length stays the same, and $mθ$ is added to its angle.]],
      formula = "R_m (r cos α, r sin α) = (r cos(α + mθ), r sin(α + mθ))",
      predict = {
        question = [[An arrow has the angle 20 degrees, and $θ$ is 30 degrees. What is its angle at
          position 4, in degrees?]],
        expect = "20 + 4 * 30",
        answer = [[$20 + 4 · 30 = 140$. Without the position, $α + θ$ would be 50 everywhere, also
          at position 0, where the angle does not change. The check below refutes it.]],
        hints = { { "it == 50", "That is $α + θ$, the angle at position 1." },
          { "it == 120", "That is the rotation. Add the angle at the start." },
          { "it == 200", "Only $θ$ is multiplied by 4, not the 20 degrees." },
          { "it == 170", "Positions count from 0: at position 4 you add four times $θ$." },
          { "math.abs(it - math.rad(140)) < 0.01", "Give the angle in degrees." },
          "It begins at 20 degrees and is rotated by $mθ$." } },
      identity = {
        "rotate(pair(r*cos(alpha), r*sin(alpha)), m) == pair(r*cos(alpha + m), r*sin(alpha + m))",
        wrong = {
          { "rotate(pair(r*cos(alpha), r*sin(alpha)), m)"
            .. " == pair(r*cos(alpha + 1), r*sin(alpha + 1))",
            source = "α + θ: the position forgotten" } } } },
    { title = "Rotations add up",
      text = [[
        Rotating by position $b$ and then by position $a$ is the same as rotating by $a + b$,
        because each rotation adds to the angle. This gives an addition formula that is easy to
        forget.

        Let $θ$ be 1. Rotating $(1, 0)$ by $b$ gives $(cos b, sin b)$. Rotate this by $a$, with
        $x' = x cos a - y sin a$ from the first step.]],
      formula = "R_a R_b = R_{a+b}",
      predict = {
        question = "What is the first component of the result? It is also $cos(a + b)$.",
        choices = { "$cos a + cos b$", "$cos a cos b + sin a sin b$",
          "$cos a cos b - sin a sin b$" },
        expect = 3,
        answer = [[With $x = cos b$ and $y = sin b$ we get
          $cos(a + b) = cos a cos b - sin a sin b$. In the same way, the second component is
          $sin(a + b) = sin a cos b + cos a sin b$. If you forget these formulas, rotate an arrow
          twice.]],
        hints = {
          { "it == 1", "For $a = b = 90°$ that is 0, but $cos 180°$ is -1." },
          { "it == 2", "Note the minus in $x' = x cos a - y sin a$." },
          "Replace $x$ by $cos b$ and $y$ by $sin b$." } },
      identity = { "rotate(rotate(x, b), a) == rotate(x, a + b)",
        wrong = { "rotate(rotate(x, b), a) == rotate(x, a - b)" } } },
    { title = "Rotating back",
      text = [[
        Rotating by $-m$ undoes rotating by $m$. How do the two matrices differ? Draw the angles $φ$
        and $-φ$ on the unit circle, one above the axis and one below, and compare their cosines and
        sines. In the check, `unrotate(x, m)` rotates by $-m$.]],
      formula = "R_m = [cos mθ, -sin mθ; sin mθ, cos mθ]    R_{-m} R_m x = x",
      predict = {
        question = "Replace $m$ by $-m$. Which of the four entries change sign?",
        choices = { "all four", "the two cosines", "the two sines", "none" },
        expect = 3,
        answer = [[$cos(-mθ) = cos mθ$, but $sin(-mθ) = -sin mθ$. So only the sines change sign. It
          is an easy mistake to change the sign of the cosines as well. At position 0, where the
          arrow should stay as it is, that reverses it: see `wrong-inverse`.]],
        hints = {
          { "it == 1 or it == 2", [[Try $m = 0$. Then $-m$ is also 0, so no entry may change. But
            the cosines would change from 1 to -1.]] },
          { "it == 4", "Then rotating back would be the same as rotating forward." },
          "Compare the points at $φ$ and $-φ$. Are they equally far right? Equally high?" } },
      identity = { "unrotate(x, m) == pair(x[1]*cos(m) + x[2]*sin(m), x[2]*cos(m) - x[1]*sin(m))",
        wrong = {
          { "unrotate(x, m) == pair(x[2]*sin(m) - x[1]*cos(m), -x[2]*cos(m) - x[1]*sin(m))",
            source = "the cosine negated too" },
          "rotate(rotate(x, m), m) == x" } },
      exercise = {
        question = [[Which positive angle of less than 360 degrees gives the same rotation as -90
          degrees? Answer in degrees.]],
        expect = "270",
        answer = [[270, that is $-90 + 360$: a full turn changes nothing. `turn(2, 1, -90)` and
          `turn(2, 1, 270)` of the first step agree up to rounding.]],
        hints = { { "it == 90", "That is the other way: -90 degrees is clockwise." },
          { "it == 450", "That is more than 360 degrees." },
          { "it == -270", "The angle must be positive." },
          { "math.abs(it - 1.5 * math.pi) < 0.01", "Give the angle in degrees." },
          "A full turn is 360 degrees." } } },
    { title = "What a rotation leaves unchanged",
      text = [[
        The dot product of two arrows is $x₁ y₁ + x₂ y₂$. It is also the product of their lengths
        and the cosine of the angle $β$ between them. So it measures how well two arrows match.
        Attention scores are dot products. How does a rotation change them?]],
      formula = "x · y = x₁ y₁ + x₂ y₂ = |x| |y| cos β",
      predict = {
        { question = [[$x = (2, 1)$ and $y = (1, 2)$ have the dot product $2 · 1 + 1 · 2 = 4$. Both
            are rotated by position 7. What is the dot product now?]],
          expect = "4",
          answer = [[It is still 4. A rotation does not change lengths, since $cos² + sin² = 1$. Two
            arrows rotated by the same angle keep the angle between them. So
            $(R_m x) · (R_m y) = x · y$. `relative-score` uses this.]],
          hints = { { "it == 28", "The position rotates the arrows. Their lengths stay." },
            { "it == -4", "That would be true if only one of them were reversed." },
            "Do the lengths change? Does the angle between the arrows change?" } },
        { question = [[Now only $y = (1, 2)$ is rotated, by 90 degrees, and $x = (2, 1)$ stays. What
            is their dot product?]],
          expect = "-3",
          answer = [[$y$ becomes $(-2, 1)$, and $2 · (-2) + 1 · 1 = -3$. The angle between them has
            changed, and so has the score.]],
          hints = { { "it == 4", "Only $y$ is rotated, so the angle between them changes." },
            { "it == 3", "That rotates $y$ clockwise." },
            { "it == 0", "That would be true if both had pointed in the same direction." },
            "A quarter turn takes $(y₁, y₂)$ to $(-y₂, y₁)$." } } },
      identity = { "dot(rotate(x, m), rotate(y, m)) == dot(x, y)",
        wrong = { "dot(rotate(x, m), rotate(y, n)) == dot(x, y)" } } },
  },
}
