return roper.lesson {
  order = 2,
  title = "The rotation of a pair of numbers",
  before = "School trigonometry: sine and cosine as the coordinates of a point on the circle.",
  after = "You can turn a pair by hand, add turns, undo them, and say what a turn leaves alone.",
  minutes = 30,
  needs = {},
  notation = {
    { "m, n", "positions, counted from 0" },
    { "θ", "the angle, in radians, that one position turns by" },
    { "R_m", "the turn by position $m$, by the angle $mθ$" },
    { "φ, α, β", "angles" },
    { "x₁, x₂", "the two members of a pair $x$" },
    { "x · y", "the dot product, $x₁ y₁ + x₂ y₂$" },
    { "|x|", "the length of $x$: $√{x₁² + x₂²}$" },
  },
  given = { x = "vector", y = "vector", r = "number", alpha = "position", a = "position",
    b = "position", m = "position", n = "position" },
  steps = {
    { title = "By hand, in degrees",
      text = [[
        Rotary position encoding turns pairs of numbers. So first: how does one turn a pair?

        A pair $(x, y)$ is an arrow in the plane: $x$ steps to the right and $y$ up. Turned by an
        angle $φ$ it becomes $(x', y')$. A positive angle turns against the clock.

        One step to the right, $(1, 0)$, becomes $(cos φ, sin φ)$: the point of the circle. One step
        up, $(0, 1)$, is a quarter of a turn ahead, and becomes $(-sin φ, cos φ)$. Any arrow is $x$
        times the one and $y$ times the other.]],
      formula = [[
        x' &= x cos φ - y sin φ
        y' &= y cos φ + x sin φ]],
      predict = {
        question = "Turn $(2, 1)$ by 90 degrees. What is $x'$?",
        expect = "-1",
        answer = [[It is -1. With $cos 90° = 0$ and $sin 90° = 1$ we get $x' = -y$ and $y' = x$. So
          a quarter of a turn makes $(-y, x)$ of $(x, y)$.]],
        hints = { { "it == 1", "That turns with the clock. A positive angle turns against it." },
          { "it == 2", "That is $y'$." },
          { "it == -2", "Half a turn makes it -2. Here it is a quarter." },
          { "it == 0", "Only $cos 90°$ is 0. What becomes of $-y sin φ$?" },
          "$cos 90° = 0$ and $sin 90° = 1$. Put them into the first line." } },
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
        caption = [[Dashed: $(2, 1)$ is 2 steps to the right and 1 up. Solid: each step turned by 90
          degrees. Together they end where the arrow turned by 90 degrees ends.]],
        draw = [[
          local function moved(x, y, degrees)
            local x1, y1 = turn(x, y, degrees)
            return {x1, y1, dashed = degrees == 0}
          end
          local list = {}
          for _, degrees in ipairs{0, 90} do
            along, up, arrow = moved(2, 0, degrees), moved(0, 1, degrees), moved(2, 1, degrees)
            up.from = along
            along.label, up.label, arrow.label = "2 steps", "1 step", "arrow"
            table.move({along, up, arrow}, 1, 3, #list + 1, list)
          end
          arrow.turned = math.pi / 2
          return plot.arrows(list, {format = format})]],
        claims = {
          { "math.abs(arrow[1] - x) + math.abs(arrow[2] - y) < 1e-12",
            instead = { "{0, 90}", "{0, 80}" } },
          { "math.abs(along[1] + up[1] - x) + math.abs(along[2] + up[2] - y) < 1e-12",
            instead = { "moved(0, 1", "moved(0, -1" } } } },
      exercise = {
        question = [[Turn $(3, 4)$ by 180 degrees, on paper. Type the two numbers in braces, such as
          `{1, 2}`.]],
        check = "math.abs(it[1] + 3) + math.abs(it[2] + 4) < 1e-9",
        sample = "{-3, -4}",
        answer = [[$(-3, -4)$: $cos 180° = -1$ and $sin 180° = 0$. Half a turn changes both signs.
          It is two quarters: first $(-4, 3)$, then $(-3, -4)$.]],
        hints = {
          { "type(it) == 'number'", "Both numbers are asked for, in braces." },
          { "it[1] == -4 and it[2] == 3", "That is a quarter of a turn. Turn once more." },
          { "it[1] == 4 and it[2] == -3", "That is a quarter of a turn, with the clock." },
          { "it[1] == -4 and it[2] == -3", "Half a turn swaps nothing." },
          { "it[1] == 3 and it[2] == 4", "It looks the other way now." },
          "$cos 180° = -1$ and $sin 180° = 0$." } } },
    { title = "By position",
      text = [[
        Let the angle grow with the position in the sentence. Position $m$, counted from 0, turns by
        $mθ$, where $θ$ is a fixed speed. That is the whole of rotary position encoding in two
        dimensions ([Su et al. 2021](arXiv:2104.09864), eq. 13).

        Programs measure angles in radians. A full turn is $2π$ of them, 6.28; so one is about 57
        degrees. In the code below $θ$ is 1: each position turns by one radian more.

        The library calls the turn `rotate(x, m)`. As a matrix it is $R_m$. A matrix times a pair is
        again the two lines of before: each row times the pair, member by member, added up.

        In what is checked below, `x[1]` and `x[2]` are the two members of a pair. `cos(m)` stands
        for $cos mθ$, and `pair` puts two members together.]],
      formula = "R_m = [cos mθ, -sin mθ; sin mθ, cos mθ]",
      predict = {
        question = [[Let $θ$ be 30 degrees. The arrow $(1, 0)$ stands at position 3. What is its
          second number after the turn?]],
        expect = "math.sin(math.rad(90))",
        answer = "It is 1. The arrow turned by $3 · 30° = 90°$ and points up: $(0, 1)$.",
        hints = { { "math.abs(it) < 1e-9", "That is its first number." },
          { "math.abs(it - 0.5) < 0.01", "That is position 1. Position $m$ turns by $mθ$." },
          { "math.abs(it - math.sin(3)) < 0.01",
            "That is $θ = 1$, in radians. Here $θ$ is 30 degrees." },
          { "math.abs(it - math.sin(90)) < 0.01",
            "`math.sin` takes radians: `math.sin(math.rad(90))`." },
          { "math.abs(it - math.sin(math.rad(120))) < 0.01",
            "Positions count from 0: position 3 turns by three times 30 degrees." },
          { "it == 90 or it == -90", "That is the angle. Where does the arrow point then?" },
          { "it == -1", "Against the clock, it comes to point up." },
          "By which angle does position 3 turn? Where does the arrow point then?" } },
      code = [[
        rope = roper.position.rope{dim = 2}
        rope:matrix(1)
        arrow = roper.tensor({{2, 1}}, "float64")
        rope:rotate(arrow, 1)
        hands = rope:rotate(arrow:expand{5, 2}, {0, 1, 2, 3, 4})]],
      identity = { "rotate(x, m) == rotation(m)*x"
          .. " == pair(x[1]*cos(m) - x[2]*sin(m), x[2]*cos(m) + x[1]*sin(m))" },
      figure = {
        caption = [[The arrow $(2, 1)$ at positions 0 to 4, with $θ = 1$: from each to the next it
          turns by 1 radian, 57 degrees. (`plot.rotation` draws such turns of your own.)]],
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
          caption = [[The arrow $(2, 1)$, turned by $mθ$. Which $m$ turns it as far with half the
            $θ$?]] } },
      exercise = {
        question = [[With $θ = 1$, which position is the first that has turned by more than a full
          turn?]],
        expect = "7",
        answer = [[7, for a full turn is 6.28 radians. From there on the arrow comes round again.
          Position 44 points almost where position 0 does: one pair can hardly tell them apart. So a
          vector gets many pairs, of many speeds. See `general-form`.]],
        hints = { { "it == 6", "6 radians are 344 degrees: nearly a full turn." },
          { "it > 6 and it < 6.5", "So many radians are a full turn. Positions are whole." },
          { "it == 360 or it == 361", "$θ$ is 1 radian, not 1 degree." },
          { "it == 8", "Positions count from 0, so position 7 has turned by 7 radians." },
          "How many radians has a full turn?" } } },
    { title = "A turn adds to the angle",
      text = [[
        One can also say where an arrow is by its length $r$ and its angle $α$. It is then
        $(r cos α, r sin α)$. Position $m$ turns it by $mθ$. Its length stays; its angle grows.]],
      formula = "R_m (r cos α, r sin α) = (r cos(α + mθ), r sin(α + mθ))",
      predict = {
        question = [[An arrow has the angle 20 degrees, and $θ$ is 30 degrees. Which angle has it
          after the turn by position 4, in degrees?]],
        expect = "20 + 4 * 30",
        answer = [[$20 + 4 · 30 = 140$. Some notes on RoPE print $α + θ$ here. That would be 50 at
          every position. It is false at position 0 already, where nothing turns. With that example
          the machine refutes it below.]],
        hints = { { "it == 50", "That is $α + θ$, position 1." },
          { "it == 120", "So far it turned. From where?" },
          { "it == 200", "The 20 degrees were there before: only $θ$ counts four times." },
          { "it == 170", "Positions count from 0: position 4 turns by four times $θ$." },
          { "math.abs(it - math.rad(140)) < 0.01", "In degrees, please." },
          "It begins at 20 degrees and turns by $mθ$." } },
      identity = {
        "rotate(pair(r*cos(alpha), r*sin(alpha)), m) == pair(r*cos(alpha + m), r*sin(alpha + m))",
        wrong = {
          { "rotate(pair(r*cos(alpha), r*sin(alpha)), m)"
            .. " == pair(r*cos(alpha + 1), r*sin(alpha + 1))",
            source = "printed in notes on RoPE: α + θ" } } } },
    { title = "Turns add up",
      text = [[
        To turn by position $b$ and then by position $a$ is to turn by $a + b$. That gives a formula
        which one learns at school and forgets.

        Let $θ$ be 1. Turn $(1, 0)$ by $b$: that is $(cos b, sin b)$. Turn this by $a$, with the
        line of the first step, $x' = x cos a - y sin a$.]],
      formula = "R_a R_b = R_{a+b}",
      predict = {
        question = "What comes out as the first number? It is also $cos(a + b)$.",
        choices = { "$cos a + cos b$", "$cos a cos b + sin a sin b$",
          "$cos a cos b - sin a sin b$" },
        expect = 3,
        answer = [[Put $x = cos b$ and $y = sin b$: $cos(a + b) = cos a cos b - sin a sin b$. In the
          same way the second number is $sin(a + b) = sin a cos b + cos a sin b$. If you forget
          them, turn an arrow twice.]],
        hints = {
          { "it == 1", "With $a = b = 90°$ that is 0; but $cos 180°$ is -1." },
          { "it == 2", "Mind the minus in $x' = x cos a - y sin a$." },
          "Put $cos b$ for $x$ and $sin b$ for $y$." } },
      identity = { "rotate(rotate(x, b), a) == rotate(x, a + b)",
        wrong = { "rotate(rotate(x, b), a) == rotate(x, a - b)" } } },
    { title = "Turning back",
      text = [[
        Turning by $-m$ undoes turning by $m$. How does the matrix of the way back differ from that
        of the way there? Draw the angles $φ$ and $-φ$ on the circle, one above the axis and one
        below, and look at their cosines and sines.]],
      formula = "R_m = [cos mθ, -sin mθ; sin mθ, cos mθ]    R_{-m} R_m x = x",
      predict = {
        question = "Put $-m$ for $m$. Which of the four entries change their sign?",
        choices = { "all four", "the two cosines", "the two sines", "none" },
        expect = 3,
        answer = [[$cos(-mθ) = cos mθ$, but $sin(-mθ) = -sin mθ$. So the way back has the sines with
          the other sign, and nothing else. One easily changes the sign of the cosines, too. At
          position 0, where nothing should turn, that turns an arrow around: see `wrong-inverse`.]],
        hints = {
          { "it == 1 or it == 2", "At $m = 0$ the cosines are 1. Should $-0$ make them -1?" },
          { "it == 4", "Then turning back would be turning on." },
          "Is the point of $-φ$ as far to the right as that of $φ$? As high?" } },
      identity = { "unrotate(x, m) == pair(x[1]*cos(m) + x[2]*sin(m), x[2]*cos(m) - x[1]*sin(m))",
        wrong = {
          { "unrotate(x, m) == pair(x[2]*sin(m) - x[1]*cos(m), -x[2]*cos(m) - x[1]*sin(m))",
            source = "the cosine negated too" },
          "rotate(rotate(x, m), m) == x" } },
      exercise = {
        question = [[Which positive turn, by less than a full circle, does what -90 degrees does? In
          degrees.]],
        expect = "270",
        answer = "270: `turn(2, 1, -90)` and `turn(2, 1, 270)` agree but for rounding.",
        hints = { { "it == 90", "A quarter the other way round. How far is it, going on?" },
          { "it == 450", "That is more than a circle." },
          { "it == -270", "A positive turn." },
          { "math.abs(it - 1.5 * math.pi) < 0.01", "In degrees, please." },
          "A full circle is 360 degrees." } } },
    { title = "What a turn leaves alone",
      text = [[
        The dot product of two arrows is $x₁ y₁ + x₂ y₂$. It is also the product of their lengths
        and the cosine of the angle $β$ between them. So it tells how well two arrows match.
        Attention scores are dot products. What does a turn do to them?]],
      formula = "x · y = x₁ y₁ + x₂ y₂ = |x| |y| cos β",
      predict = {
        { question = [[$x = (2, 1)$ and $y = (1, 2)$ have the dot product $2 · 1 + 1 · 2 = 4$. Both
            are turned by position 7. What is it now?]],
          expect = "4",
          answer = [[Still 4. A turn changes no length, since $cos² + sin² = 1$. And arrows that are
            turned together keep the angle between them. So $(R_m x) · (R_m y) = x · y$: remember
            this for `relative-score`.]],
          hints = { { "it == 28", "The position turns the arrows; it does not make them longer." },
            { "it == -4", "That would be so if one of them were turned around." },
            "Two lengths and an angle between: which of them does a common turn change?" } },
        { question = [[Now only $y = (1, 2)$ is turned, by 90 degrees, and $x = (2, 1)$ stays. What
            is their dot product?]],
          expect = "-3",
          answer = [[$y$ becomes $(-2, 1)$, and $2 · (-2) + 1 · 1 = -3$. The angle between them is
            another one, and so is the score.]],
          hints = { { "it == 4", "$x$ stays, $y$ turns: the angle between them changes." },
            { "it == 3", "That turns $y$ with the clock." },
            { "it == 0", "That would be so if they had pointed the same way before." },
            "A quarter of a turn makes $(-y₂, y₁)$ of $(y₁, y₂)$." } } },
      identity = { "dot(rotate(x, m), rotate(y, m)) == dot(x, y)",
        wrong = { "dot(rotate(x, m), rotate(y, n)) == dot(x, y)" } } },
  },
}
