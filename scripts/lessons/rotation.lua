return roper.lesson {
  order = 2,
  title = "The rotation of a pair of numbers",
  before = "School trigonometry: sine and cosine as the coordinates of a point on the circle.",
  after = "You can turn a pair by hand, add turns, undo them, and say what a turn leaves alone.",
  minutes = 20,
  needs = {},
  notation = {
    { "m, n", "positions, counted from 0" },
    { "θ", "the angle, in radians, that one position turns by" },
    { "R_m", "the turn by position $m$, by the angle $mθ$" },
    { "x · y", "the dot product, $x₁ y₁ + x₂ y₂$" },
  },
  given = { x = "vector", y = "vector", r = "number", alpha = "position", a = "position",
    b = "position", m = "position", n = "position" },
  steps = {
    { title = "By hand, in degrees",
      text = [[
        A pair of numbers $(x, y)$ is an arrow in the plane. Turned by an angle $φ$ it becomes
        $(x', y')$. Turn $(1, 0)$: the result is $(cos φ, sin φ)$, the point of the circle. Turn
        $(0, 1)$, which is a quarter ahead: $(-sin φ, cos φ)$. Any arrow is $x$ times the one and
        $y$ times the other.]],
      formula = [[
        x' &= x cos φ - y sin φ
        y' &= y cos φ + x sin φ]],
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
        question = "Turn $(3, 4)$ by 90 degrees and by 180, without the machine; then try `turn`.",
        answer = [[
          $(-4, 3)$ and $(-3, -4)$: $cos 90° = 0$ and $sin 90° = 1$; $cos 180° = -1$,
          $sin 180° = 0$. ]],
      } },
    { title = "By position",
      text = [[
        Let the angle grow with the position in the sentence: position $m$ turns by $mθ$ (in
        radians), where $θ$ is a fixed speed. That is the whole of rotary position encoding in two
        dimensions ([Su et al. 2021](arXiv:2104.09864), eq. 13). The library calls it
        `rotate(x, m)`; the matrix that does it is $R_m$. In what is checked below, `x[1]` and
        `x[2]` are the two members of a pair, `cos(m)` stands for $cos mθ$, and `pair` puts two
        members together.]],
      formula = "R_m = [cos mθ, -sin mθ; sin mθ, cos mθ]",
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
          caption = [[The arrow $(2, 1)$, turned by $mθ$. Which $θ$ turns it as far with half the
            $m$?]] } } },
    { title = "A turn adds to the angle",
      text = [[
        An arrow of length $r$ at angle $α$ is $(r cos α, r sin α)$. Position $m$ turns it by $mθ$,
        and only its angle changes: to $α + mθ$. Some notes on RoPE print $α + θ$, as if every
        position turned alike; at position 0 already this is false.]],
      formula = "R_m (r cos α, r sin α) = (r cos(α + mθ), r sin(α + mθ))",
      identity = {
        "rotate(pair(r*cos(alpha), r*sin(alpha)), m) == pair(r*cos(alpha + m), r*sin(alpha + m))",
        wrong = {
          { "rotate(pair(r*cos(alpha), r*sin(alpha)), m)"
            .. " == pair(r*cos(alpha + 1), r*sin(alpha + 1))",
            source = "printed in notes on RoPE: α + θ" } } } },
    { title = "Turns add up",
      text = [[
        To turn by $a$ and then by $b$ is to turn by $a + b$. Written out for the arrow $(1, 0)$
        this is the pair of formulas for the cosine and sine of a sum, which one learns at school
        and forgets; this is the way to remember them.]],
      formula = [[
        R_a R_b &= R_{a+b}
        cos(a + b) &= cos a cos b - sin a sin b
        sin(a + b) &= sin a cos b + cos a sin b]],
      identity = { "rotate(rotate(x, b), a) == rotate(x, a + b)",
        wrong = { "rotate(rotate(x, b), a) == rotate(x, a - b)" } } },
    { title = "Turning back",
      text = [[
        Turning by $-m$ undoes turning by $m$. The cosine does not mind the sign,
        $cos(-mθ) = cos mθ$, and the sine takes it over, $sin(-mθ) = -sin mθ$. So the way back
        differs from the way there in the sign of the sines alone. Changing the sign of the cosines
        as well is a mistake that programs have made: at position 0, where nothing should turn, it
        turns an arrow around.]],
      formula = "R_{-m} = [cos mθ, sin mθ; -sin mθ, cos mθ]    R_{-m} R_m x = x",
      identity = { "unrotate(x, m) == pair(x[1]*cos(m) + x[2]*sin(m), x[2]*cos(m) - x[1]*sin(m))",
        wrong = {
          { "unrotate(x, m) == pair(x[2]*sin(m) - x[1]*cos(m), -x[2]*cos(m) - x[1]*sin(m))",
            source = "the cosine negated too" },
          "rotate(rotate(x, m), m) == x" } },
      exercise = {
        question = "Which positive turn, by less than a full circle, does what -90 degrees does?",
        answer = "270 degrees. `turn(2, 1, -90)` and `turn(2, 1, 270)` agree." } },
    { title = "What a turn leaves alone",
      text = [[
        A turn changes no length: the square of the length, $x · x$, is the same before and after,
        since $cos² + sin² = 1$. And two arrows that are turned together keep their angle, so their
        dot product stays. Attention scores are dot products: remember this for `relative-score`.]],
      formula = "(R_m x) · (R_m y) = x · y",
      identity = { "dot(rotate(x, m), rotate(y, m)) == dot(x, y)",
        wrong = { "dot(rotate(x, m), rotate(y, n)) == dot(x, y)" } } },
  },
}
