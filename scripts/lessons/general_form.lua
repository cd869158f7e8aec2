return roper.lesson {
  order = 3,
  title = "Many pairs, many speeds",
  before = "You can turn one pair (`rotation`).",
  after = "You know the general form, both ways to pair features, and how to convert between them.",
  minutes = 20,
  needs = { "rotation" },
  notation = {
    { "d", "how many features a vector has: $d/2$ pairs" },
    { "θ_t", "how far pair $t$ turns a position, in radians" },
    { "R_m", "the turn of all pairs by position $m$, each by its own angle $mθ_t$" },
    { "x ⊗ y", "feature by feature: the product of the first two, of the second two …" },
  },
  given = { x = "vector", m = "position" },
  steps = {
    { title = "A speed for each pair",
      text = [[
        A vector of $d$ features is $d/2$ pairs, and pair $t$ turns with a speed of its own: the
        first by 1 radian a position, each next one more slowly. With 128 features one full turn of
        the last pair takes 54,410 positions. Fast pairs tell neighbours apart, slow ones tell near
        from far: like the hands of a clock.]],
      formula = "θ_t = base^(-2t/d),   t = 0 … d/2 - 1,   base = 10000",
      code = [[
        rope = roper.position.rope{dim = 8}
        rope:thetas()
        ratio = (rope:thetas()[1] / rope:thetas()[2]):item()
        slowest = roper.position.rope{dim = 128}:thetas()[64]:item()
        full_turn = 2 * math.pi / slowest
        m = roper.arange(0, 64, 0.25, "float64")    -- positions, with some in between
        waves = (m:view{256, 1} * rope:thetas()):cos()]],
      claims = { { "math.abs(ratio - 10) < 1e-12", instead = { "dim = 8", "dim = 6" } },
        { "math.abs(full_turn - 54410) < 1", instead = { "[64]", "[63]" } } },
      figure = {
        caption = [[The cosine of each of the 4 pairs of 8 features. The first has changed by the
          next position; the third needs a hundred of them; the fourth hardly moves here.]],
        draw = [[
          local list = {}
          lines = waves:transpose(1, 2):totable()
          for t, line in ipairs(lines) do
            list[t] = {x = m, y = line, label = "pair " .. t}
          end
          return plot.line(list, {xlabel = "position", ylabel = "cos mθ", format = format})]],
        claims = {
          { "math.abs(lines[1][1 + 4] - math.cos(1)) < 1e-12",
            instead = { "waves:", "waves:pow(2):" } },
          { "lines[3][1 + 4 * 50] > 0.8", instead = { "waves:", "waves:flip(2):" } },
          { "lines[4][256] > 0.99", instead = { "waves:", "waves:flip(2):" } } },
        play = { kind = "rotation", position = 20,
          vectors = { { 0.7, 0 }, { 0.8, 0 }, { 0.9, 0 }, { 1, 0 } },
          caption = [[The hands of the four pairs, the slowest the longest. A smaller base lets the
            slow ones hurry; the first stays.]] } },
      exercise = {
        question = "After how many positions has the last of these 4 pairs made one full turn?",
        answer = "$2π / 0.001$, some 6283. The first needs 6.28." } },
    { title = "One big matrix",
      text = [[
        Written as a matrix, the turns of the pairs stand as 2 by 2 blocks along the diagonal, and
        everything else is 0 ([Su et al. 2021](arXiv:2104.09864), eq. 15). What was true of one pair
        is true of all: turns add up, undo each other, keep lengths.]],
      formula = [[
        R_m = [cos mθ₁, -sin mθ₁, 0, 0;
               sin mθ₁, cos mθ₁, 0, 0;
               0, 0, cos mθ₂, -sin mθ₂;
               0, 0, sin mθ₂, cos mθ₂] ]],
      code = [[
        rope = roper.position.rope{dim = 4, pairing = "interleaved"}
        rope:matrix(1)
        product = rope:matrix(2):matmul(rope:matrix(3))
        off = (product - rope:matrix(5)):abs():max():item()]],
      claims = { { "off < 1e-12", instead = { "rope:matrix(5)", "rope:matrix(6)" } } },
      figure = {
        caption = "$R_2$ for 16 features: 8 blocks, the first turned by 2, the last hardly at all.",
        draw = [[
          wide = roper.position.rope{dim = 16, pairing = "interleaved"}:matrix(2)
          return plot.heatmap(wide, {format = format})]],
        claims = {
          { "math.abs(wide[1][1]:item() - math.cos(2)) < 1e-12",
            instead = { "matrix(2)", "matrix(3)" } },
          { "math.abs(wide[2][1]:item() - math.sin(2)) < 1e-12",
            instead = { "interleaved", "half" } },
          { "wide[16][16]:item() > 0.999", instead = { "matrix(2)", "matrix(200)" } } } } },
    { title = "Without the zeros",
      text = [[
        Most of that matrix is 0, so nobody multiplies by it. Scale the vector by the cosines. Turn
        each of its pairs by 90 degrees, $(x₁, x₂)$ to $(-x₂, x₁)$, and scale that by the sines.
        Add.

        A copy of the paper that is going round has this line garbled: a table of two columns in
        place of the vectors of cosines and sines, and $-x_{d-1}, x_d$ as the last pair where
        $-x_d, x_{d-1}$ belongs. Neither column is right, and neither is the last pair. In the first
        column, the first members come out right and the second do not; in the second column it is
        the other way round.]],
      formula = [[
        R_m x = [x₁; x₂; x₃; x₄] ⊗ [cos mθ₁; cos mθ₁; cos mθ₂; cos mθ₂] + [
          -x₂; x₁; -x₄; x₃] ⊗ [sin mθ₁; sin mθ₁; sin mθ₂; sin mθ₂] ]],
      identity = { "rotation(m)*x == x*cos(m) + pair(-x[2], x[1])*sin(m)",
        wrong = {
          { "rotation(m)*x == pair(x[1]*cos(m) - x[2]*sin(m), -x[2]*sin(m) + x[1]*cos(m))",
            source = "the first column of the garbled table" },
          { "rotation(m)*x == pair(x[1]*sin(m) - x[2]*cos(m), x[2]*cos(m) + x[1]*sin(m))",
            source = "its second column" },
          { "rotation(m)*x == x*cos(m) + pair(-x[1], x[2])*sin(m)", source = "its last pair" } } },
    },
    { title = "Which features make a pair?",
      text = [[
        The paper pairs neighbours: features 0 and 1, 2 and 3 ("interleaved"). Much code pairs
        feature $t$ of the first half with feature $t$ of the second ("half"). Both turn the same
        pairs by the same angles; the features only stand in another order. Reorder, turn, or turn,
        reorder: it comes to the same.]],
      code = [[
        half = roper.position.rope{dim = 8, pairing = "half"}
        interleaved = roper.position.rope{dim = 8, pairing = "interleaved"}
        function reordered(y)
          return y:view{5, 2, 4}:transpose(2, 3):contiguous():view{5, 8}
        end
        reordered(roper.arange(0, 40):view{5, 8})[1]
        x = roper.randn({5, 8}, "float64")
        turned_after = interleaved:rotate(reordered(x))
        turned_before = reordered(half:rotate(x))
        off = (turned_after - turned_before):abs():max():item()
        mixed = (interleaved:rotate(x) - half:rotate(x)):abs():max():item()]],
      claims = {
        { "off < 1e-12", instead = { "reordered(half", "reordered(interleaved" } },
        { "mixed > 0.1", instead = { "mixed = (interleaved", "mixed = (half" } } } },
    { title = "Converting weights",
      text = [[
        A model trained with one pairing has learned weights for it. Run with the other, it still
        runs, and is wrong: no error tells you. Reordering the rows of the weights that make queries
        and keys (RoPER: of the values too, and the columns of the output's) makes the scores equal
        again. Both must be reordered alike, since a dot product does not mind an order that its two
        sides share.]],
      code = [[
        Wq, Wk = roper.randn({8, 8}, "float64"), roper.randn({8, 8}, "float64")
        function scores(rope, Wq, Wk)
          local q = rope:rotate(x:matmul(Wq:transpose(1, 2)))
          local k = rope:rotate(x:matmul(Wk:transpose(1, 2)))
          return q:matmul(k:transpose(1, 2))
        end
        function convert(W)
          return roper.position.convert_pairing(W, "half", "interleaved")
        end
        trained = scores(half, Wq, Wk)
        moved = scores(interleaved, convert(Wq), convert(Wk))
        converted = (trained - moved):abs():max():item()
        forgotten = (trained - scores(interleaved, Wq, Wk)):abs():max():item()]],
      claims = {
        { "converted < 1e-12", instead = { "convert(Wk)", "Wk" } },
        { "forgotten > 0.1", instead = { "scores(interleaved, Wq, Wk)", "scores(half, Wq, Wk)" } },
      } },
  },
}
