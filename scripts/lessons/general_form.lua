return roper.lesson {
  order = 3,
  title = "Many pairs, many speeds",
  before = "You can turn one pair by its position (`rotation`).",
  after = [[You can turn a vector of many pairs, without a big matrix. You know both ways to pair
    features, and how to convert weights between them.]],
  minutes = 30,
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
        A word has more than two numbers: 64 or 128 in a query, say. RoPE takes these $d$ features
        as $d/2$ pairs, and each pair turns with a speed of its own.

        Why many speeds? One hand of a clock does not tell the time. The fast hand tells 12:01 from
        12:02, but comes round each hour. The slow hand tells one hour from another. Pairs are such
        hands: the first turns by 1 radian a position, each next one more slowly.

        Pair $t$, counted from 0, turns by $θ_t$ at each position. With 128 features one full turn
        of the last pair takes 54,410 positions.]],
      formula = "θ_t = base^(-2t/d),   t = 0 … d/2 - 1,   base = 10000",
      predict = {
        question = [[Take $d = 8$, so the pairs are $t = 0, 1, 2, 3$. What is $θ_t$ of the pair
          $t = 2$?]],
        expect = "10000 ^ (-4 / 8)",
        answer = [[$10000^(-4/8) = 1/100$. Each pair of these four is 10 times as slow as the one
          before: 1, 0.1, 0.01, 0.001.]],
        hints = { { "math.abs(it - 0.1) < 1e-3", "That is $t = 1$. Pairs count from 0." },
          { "math.abs(it - 0.001) < 1e-5", "That is the last pair, $t = 3$." },
          { "math.abs(it - 100) < 1", "Mind the minus in the power." },
          { "math.abs(it - 1e-16) < 1e-17 or math.abs(it - 1e-8) < 1e-9",
            "The power is $-2t/d$: divide by $d$." },
          "$-2t/d$ is $-4/8$, a half. What is a power of $-1/2$?" } },
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
            list[t] = {x = m, y = line, label = "t = " .. t - 1}
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
        question = [[After how many positions has the last of these 4 pairs made one full turn? To
          the nearest hundred.]],
        expect = "2 * math.pi / 0.001",
        answer = "$2π / 0.001$, some 6283. The first pair needs 6.28.",
        hints = { { "math.abs(it - 1000) < 1", "So many make one radian. A full turn has $2π$." },
          { "math.abs(it - 2 * math.pi) < 0.1", "That is the first pair." },
          { "math.abs(it - 628.3) < 5", "That is the third pair." },
          { "math.abs(it - 360000) < 1000", "$θ$ is in radians: a full turn has $2π$ of them." },
          { "math.abs(it - math.pi / 0.001) < 50", "That is half a turn." },
          "Each position turns it by 0.001 radians. How many radians has a full turn?" } } },
    { title = "One big matrix",
      text = [[
        All the turns of a position can be written as one matrix
        ([Su et al. 2021](arXiv:2104.09864), eq. 15). Each pair has a block of 2 by 2 numbers on the
        diagonal. Everything else is 0, since no pair takes anything from another.

        What was true of one pair is true of all: turns add up, undo each other, keep lengths. (As
        in the paper, $θ₁$ is the speed of the first pair here.)]],
      formula = [[
        R_m = [cos mθ₁, -sin mθ₁, 0, 0;
               sin mθ₁, cos mθ₁, 0, 0;
               0, 0, cos mθ₂, -sin mθ₂;
               0, 0, sin mθ₂, cos mθ₂] ]],
      predict = {
        question = [[With 128 features the matrix has $128 · 128 = 16384$ numbers. How many of them
          stand in blocks?]],
        expect = "64 * 4",
        answer = [[256: 64 pairs, and 4 numbers for each. The other 16128 are 0. The next step does
          without them.]],
        hints = { { "it == 512", "There are 64 pairs, not 128." },
          { "it == 128", "That is the diagonal. A block has four numbers." },
          { "it == 64", "So many blocks there are. How many numbers are in each?" },
          { "it == 16", "That would be with 8 features." },
          { "it == 8", "That is the matrix above. Here there are 128 features." },
          "How many pairs are 128 features? How many numbers has a block?" } },
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
          { "wide[16][16]:item() > 0.999", instead = { "matrix(2)", "matrix(200)" } } } },
      exercise = {
        question = [[`rope:matrix(5)` turns by position 5. Set `undo` to the matrix that undoes
          it.]],
        check = "(undo:matmul(rope:matrix(5)) - rope:matrix(0)):abs():max():item() < 1e-12",
        sample = "undo = rope:matrix(-5)",
        answer = [[`undo = rope:matrix(-5)`, since $R_{-5} R_5 = R_0$, and that changes nothing. It
          is also the same matrix with rows and columns exchanged: in each block, that gives the
          sines the other sign.]],
        hints = {
          { "undo == nil", "Set the variable: `undo = rope:matrix(...)`." },
          { "(undo - rope:matrix(5)):abs():max():item() < 1e-12",
            "That turns by 5 once more, to 10." },
          { "(undo - rope:matrix(0)):abs():max():item() < 1e-12", "Position 0 turns nothing." },
          { "(undo + rope:matrix(5)):abs():max():item() < 1e-12",
            "A minus before the matrix turns all arrows around. The way back is another angle." },
          "Turns add up. With which position does 5 make 0?" } } },
    { title = "Without the zeros",
      text = [[
        Most of that matrix is 0, so nobody multiplies by it. There are three steps instead. Scale
        the vector by the cosines. Turn each of its pairs by 90 degrees, and scale that by the
        sines. Add.

        It works since $x' = x cos φ - y sin φ$ and $y' = y cos φ + x sin φ$: the cosines stand with
        the pair $(x, y)$ itself, and the sines with another pair.]],
      formula = [[
        R_m x = [x₁; x₂; x₃; x₄] ⊗ [cos mθ₁; cos mθ₁; cos mθ₂; cos mθ₂] + [
          -x₂; x₁; -x₄; x₃] ⊗ [sin mθ₁; sin mθ₁; sin mθ₂; sin mθ₂] ]],
      predict = {
        question = [[Try it on one pair. The last pair of a vector is $(x₃, x₄) = (5, 2)$, and $mθ₂$
          is 90 degrees. What is the last pair of $R_m x$?]],
        choices = { "$(2, 5)$", "$(-5, 2)$", "$(-2, 5)$", "$(2, -5)$" },
        expect = 3,
        answer = [[$(-x₄, x₃)$: the cosine is 0, and the sine is 1.

          A copy of the paper that is going round has this line garbled. Its last pair is
          $-x_{d-1}, x_d$, which gives the second choice. And it has a table of two columns in place
          of the vectors of cosines and sines. In its first column only the first members of the
          pairs come out right, in its second column only the second.]],
        hints = {
          { "it == 1", "There is a minus in the vector that the sines scale." },
          { "it == 2", "That changes a sign and swaps nothing. A misprinted copy has it, too." },
          { "it == 4", "That turns with the clock." },
          "$cos 90° = 0$ and $sin 90° = 1$. What is left of the two products?" } },
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
        The paper pairs neighbours: features 0 and 1, 2 and 3, and so on ("interleaved"). Much code
        cuts the vector into two halves and pairs feature $t$ of the first half with feature $t$ of
        the second ("half"). Both turn pair $t$ by the same angle. The features only stand in
        another order.]],
      predict = {
        { question = [[A vector has 8 features, 0 to 7. With "half", which feature makes a pair with
            feature 1?]],
          expect = "5",
          answer = [[5, the second of the second half, as 1 is of the first. The others are 0 and 4,
            2 and 6, 3 and 7.]],
          hints = { { "it == 0", "That is the partner in \"interleaved\"." },
            { "it == 4", "4 is the first of the second half: the partner of 0." },
            { "it == 6 or it == 7 or it == 2", "Both stand at the same place in their halves." },
            "The halves are 0 to 3 and 4 to 7." } },
        { question = [[One program reorders a vector from "half" to "interleaved" and then turns it.
            Another turns it with "half" and then reorders. Do they get the same?]],
          choices = { "Yes, the same numbers.", "No: turns and reordering do not exchange." },
          expect = 1,
          answer = [[Yes. The pairs and their angles are the same; only their places differ. Without
            reordering the two turn different pairs, and the result is another.]],
          hints = { "Follow one pair through both programs. Does its angle differ?" } } },
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
        Weights are the numbers that a model learns. Those of queries and keys are matrices: row $t$
        makes feature $t$. A model that was trained with one pairing has learned them for it.

        Weights can be converted: put the rows in the order of the other pairing. Below, the scores
        of some tokens are made with "half", then with "interleaved" and converted weights, then
        with "interleaved" and the weights as they were.]],
      predict = {
        question = [[Somebody loads weights for "half" into a program that uses "interleaved", and
          converts nothing. What happens?]],
        choices = { "The program stops: the shapes do not fit.",
          "Nothing: both turn by the same angles, so the scores are the same.",
          "The program runs, and its scores are wrong." },
        expect = 3,
        answer = [[No error tells. The shapes are the same, but the pairs that turn are others than
          those that were trained.

          With the rows reordered the scores are equal again. Both matrices must be reordered alike:
          a dot product does not mind an order that its two sides share.]],
        hints = { { "it == 1", "Both pairings take 8 features and give 8." },
          { "it == 2", "The same angles, but for which features?" },
          "Are the shapes different? Are the pairs?" } },
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
      },
      exercise = {
        question = [[`convert(Wq)` is for "interleaved". Set `restored` to the same weights,
          converted back to "half".]],
        check = "(restored - Wq):abs():max():item() == 0",
        sample = [[restored = roper.position.convert_pairing(convert(Wq), "interleaved", "half")]],
        answer = [[The first name is the pairing that the weights are for, the second the one that
          they shall be for.

          RoPE turns queries and keys only, so only their weights are converted. RoPER turns values,
          too, and turns the output back. There the rows that make values are reordered as well, and
          the columns of the matrix that takes the output.]],
        hints = {
          { "restored == nil", "Set the variable: `restored = ...`." },
          { "(restored - convert(convert(Wq))):abs():max():item() == 0",
            "That converts from \"half\" once more. Which pairing are the weights for?" },
          { "(restored - convert(Wq)):abs():max():item() == 0",
            "That is still for \"interleaved\"." },
          [[`roper.position.convert_pairing(W, from, to)` makes of weights for one pairing those for
            another.]] } } },
  },
}
