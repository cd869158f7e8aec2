return roper.lesson {
  order = 5,
  title = "Many pairs, many frequencies",
  before = "You can rotate one pair by its position (`rotation`).",
  after = [[You can rotate a vector of many pairs without a large matrix. You know the two ways to
    pair features, and how to convert weights between them.]],
  summary = "Turn eight numbers at once, each pair at its own speed.",
  minutes = 20,
  needs = { "rotation" },
  notation = {
    { "d", "the number of features of a vector: $d/2$ pairs" },
    { "θ_t", "the frequency of pair $t$, in radians per position" },
    { "R_m", "the rotation of all pairs by position $m$, each by its own angle $mθ_t$" },
    { "x ⊗ y", "the elementwise product: first times first, second times second …" },
  },
  given = { x = "vector", m = "position" },
  steps = {
    { title = "A frequency for each pair",
      text = [[
        The vector of a word has more than two numbers: a query has 64 or 128, for example. RoPE
        treats these $d$ features as $d/2$ pairs, and rotates each pair with its own frequency.

        Why many frequencies? One hand of a clock does not show the time. The minute hand
        distinguishes 12:01 from 12:02, but repeats every hour. The hour hand distinguishes the
        hours. The pairs are like such hands: the first rotates by 1 radian per position, and each
        following pair is slower.

        Pair $t$, counted from 0, rotates by $θ_t$ per position
        ([Su et al. 2021](arXiv:2104.09864), section 3.3). With 128 features, the last pair takes
        54,410 positions for one full turn.]],
      formula = "θ_t = base^(-2t/d),   t = 0 … d/2 - 1,   base = 10000",
      predict = {
        question = [[Take $d = 8$, so the pairs are $t = 0, 1, 2, 3$. What is $θ_t$ of the pair
          $t = 2$?]],
        expect = "10000 ^ (-4 / 8)",
        answer = [[$10000^(-4/8) = 1/100$. Each of these four pairs is 10 times slower than the one
          before: 1, 0.1, 0.01, 0.001.]],
        hints = { { "math.abs(it - 0.1) < 1e-3", "That is $t = 1$. Pairs count from 0." },
          { "math.abs(it - 0.001) < 1e-5", "That is the last pair, $t = 3$." },
          { "math.abs(it - 100) < 1", "Note the minus in the exponent." },
          { "math.abs(it - 1e-16) < 1e-17 or math.abs(it - 1e-8) < 1e-9",
            "The exponent is $-2t/d$: divide by $d$." },
          "$-2t/d$ is $-4/8$, that is $-1/2$. What does the exponent $-1/2$ mean?" } },
      code = [[
        rope = roper.position.rope{dim = 8}
        rope:thetas()
        ratio = (rope:thetas()[1] / rope:thetas()[2]):item()
        slowest = roper.position.rope{dim = 128}:thetas()[64]:item()
        full_turn = 2 * math.pi / slowest
        m = roper.arange(0, 64, 0.25, "float64")    -- positions in steps of 1/4
        waves = (m:view{256, 1} * rope:thetas()):cos()]],
      claims = { { "math.abs(ratio - 10) < 1e-12", instead = { "dim = 8", "dim = 6" } },
        { "math.abs(full_turn - 54410) < 1", instead = { "[64]", "[63]" } } },
      figure = {
        caption = [[The cosine of each of the 4 pairs of 8 features. The first changes from one
          position to the next, the third within a hundred, and the fourth hardly at all here.]],
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
        play = { kind = "rotation", beside = true, position = 20,
          vectors = { { 0.7, 0 }, { 0.8, 0 }, { 0.9, 0 }, { 1, 0 } },
          caption = [[The arrows of the four pairs; the slowest is the longest. A smaller base makes
            the slow pairs faster and leaves the first unchanged.]] } },
      exercise = {
        question = [[After how many positions has the last of these 4 pairs made one full turn?
          Round to the nearest hundred.]],
        expect = "2 * math.pi / 0.001",
        answer = "$2π / 0.001$, about 6283. The first pair needs 6.28.",
        hints = { { "math.abs(it - 1000) < 1", "That is one radian. A full turn is $2π$ radians." },
          { "math.abs(it - 2 * math.pi) < 0.1", "That is the first pair." },
          { "math.abs(it - 628.3) < 5", "That is the third pair." },
          { "math.abs(it - 360000) < 1000", "$θ$ is in radians: a full turn is $2π$ radians." },
          { "math.abs(it - math.pi / 0.001) < 50", "That is half a turn." },
          "Each position rotates it by 0.001 radians. How many radians are a full turn?" } } },
    { title = "One large matrix",
      text = [[
        All rotations of a position can be written as one matrix
        ([Su et al. 2021](arXiv:2104.09864), eq. 15). Each pair has a block of 2 by 2 numbers on the
        diagonal. All other entries are 0, because the pairs do not mix.

        What holds for one pair holds for all: rotations add up, can be undone and preserve lengths.
        (As in the paper, $θ₁$ is the frequency of the first pair here.)]],
      formula = [[
        R_m = [cos mθ₁, -sin mθ₁, 0, 0;
               sin mθ₁, cos mθ₁, 0, 0;
               0, 0, cos mθ₂, -sin mθ₂;
               0, 0, sin mθ₂, cos mθ₂] ]],
      predict = {
        question = [[With 128 features the matrix has $128 · 128 = 16384$ numbers. How many of them
          are in blocks?]],
        expect = "64 * 4",
        answer = [[256: 64 pairs, with 4 numbers each. The other 16128 are 0. The next step avoids
          them.]],
        hints = { { "it == 512", "There are 64 pairs, not 128." },
          { "it == 128", "That is the diagonal. A block has four numbers." },
          { "it == 64", "That is the number of blocks. How many numbers are in each?" },
          { "it == 16", "That would be true of 8 features." },
          { "it == 8", "That is the matrix above. Here there are 128 features." },
          "How many pairs are 128 features? How many numbers are in a block?" } },
      code = [[
        rope = roper.position.rope{dim = 4, pairing = "interleaved"}
        rope:matrix(1)
        product = rope:matrix(2):matmul(rope:matrix(3))
        off = (product - rope:matrix(5)):abs():max():item()]],
      claims = { { "off < 1e-12", instead = { "rope:matrix(5)", "rope:matrix(6)" } } },
      figure = {
        caption = [[$R_2$ for 16 features: 8 blocks. The first is rotated by 2 radians, the last
          hardly at all.]],
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
        question = [[`rope:matrix(5)` is the rotation by position 5. Set `undo` to the matrix that
          undoes it.]],
        check = "(undo:matmul(rope:matrix(5)) - rope:matrix(0)):abs():max():item() < 1e-12",
        sample = "undo = rope:matrix(-5)",
        form = { "undo = ___rope:matrix(___)", { "", "-" }, { "-10", "-5", "0", "5" } },
        answer = [[`undo = rope:matrix(-5)`, since $R_{-5} R_5 = R_0$, which changes nothing. It is
          also the transpose of `rope:matrix(5)`: exchanging rows and columns changes the sign of
          the sines in each block.]],
        hints = {
          { "undo == nil", "Set the variable: `undo = rope:matrix(...)`." },
          { "(undo - rope:matrix(5)):abs():max():item() < 1e-12",
            "That rotates by 5 again, to 10." },
          { "(undo - rope:matrix(0)):abs():max():item() < 1e-12", "Position 0 rotates nothing." },
          { "(undo + rope:matrix(5)):abs():max():item() < 1e-12",
            "A minus before the matrix reverses all arrows. You need another angle." },
          "Rotations add up. Which position plus 5 gives 0?" } } },
    { title = "Without the zeros",
      text = [[
        Most entries of that matrix are 0, so programs do not multiply by it. They use three steps
        instead ([Su et al. 2021](arXiv:2104.09864), eq. 34). Multiply the vector by the cosines,
        element by element. Rotate each of its pairs by 90 degrees and multiply by the sines. Add
        the two.

        This works because $x' = x cos φ - y sin φ$ and $y' = y cos φ + x sin φ$: the cosines
        multiply the pair $(x, y)$, and the sines multiply the pair $(-y, x)$.]],
      formula = [[
        R_m x = [x₁; x₂; x₃; x₄] ⊗ [cos mθ₁; cos mθ₁; cos mθ₂; cos mθ₂] + [
          -x₂; x₁; -x₄; x₃] ⊗ [sin mθ₁; sin mθ₁; sin mθ₂; sin mθ₂] ]],
      predict = {
        question = [[Try it on one pair. The last pair of a vector is $(x₃, x₄) = (5, 2)$, and $mθ₂$
          is 90 degrees. What is the last pair of $R_m x$?]],
        choices = { "$(2, 5)$", "$(-5, 2)$", "$(-2, 5)$", "$(2, -5)$" },
        expect = 3,
        answer = [[$(-x₄, x₃)$: the cosine is 0, and the sine is 1.

          Some slides print the last pair as $-x_{d-1}, x_d$
          ([issue 9 of pytorch-llama](https://github.com/hkproj/pytorch-llama/issues/9)), which
          gives the second choice. The check below refutes it, and the two other wrong choices.]],
        hints = {
          { "it == 1", "There is a minus in the vector that is multiplied by the sines." },
          { "it == 2", "That changes a sign and swaps nothing. What do the sines multiply?" },
          { "it == 4", "That rotates clockwise." },
          "$cos 90° = 0$ and $sin 90° = 1$. What is left of the two products?" } },
      identity = { "rotation(m)*x == x*cos(m) + pair(-x[2], x[1])*sin(m)",
        wrong = {
          { "rotation(m)*x == x*cos(m) + pair(-x[1], x[2])*sin(m)",
            source = "the last pair on the slides" },
          { "rotation(m)*x == x*cos(m) + pair(x[2], x[1])*sin(m)", source = "without the minus" },
          { "rotation(m)*x == x*cos(m) + pair(x[2], -x[1])*sin(m)", source = "clockwise" } } },
    },
    { title = "Which features make a pair?",
      text = [[
        The paper pairs neighboring features: 0 and 1, 2 and 3, and so on ("interleaved"). Many
        programs split the vector into two halves and pair feature $t$ of the first half with
        feature $t$ of the second ("half"). A post from 2021 shows code for both
        ([Biderman et al. 2021](https://blog.eleuther.ai/rotary-embeddings/)): GPT-NeoX splits the
        vector, Mesh Transformer JAX pairs neighbors. Both rotate pair $t$ by the same angle. Only
        the order of the features differs.]],
      predict = {
        { question = [[A vector has the features 0 to 7. With "half", which feature is paired with
            feature 1?]],
          expect = "5",
          answer = [[5, the second feature of the second half, as 1 is of the first. The other pairs
            are 0 and 4, 2 and 6, 3 and 7.]],
          hints = { { "it == 0", "That is the partner in \"interleaved\"." },
            { "it == 4", "4 is the first feature of the second half: the partner of 0." },
            { "it == 6 or it == 7 or it == 2", "Both have the same index in their halves." },
            "The halves are 0 to 3 and 4 to 7." } },
        { question = [[One program reorders a vector from "half" to "interleaved" and then rotates
            it. Another rotates it with "half" and then reorders. Are the results equal?]],
          choices = { "Yes, the same numbers.", "No: rotating and reordering do not commute." },
          expect = 1,
          answer = [[Yes. The pairs and their angles are the same; only the order of the features
            differs. Without reordering, the two rotate different pairs, and the results differ.]],
          hints = { { "it == 2", [[They do if the pairs stay the same. Which features are a pair in
              the first program, and which in the second?]] },
            "Follow one pair through both programs. Does its angle differ?" } } },
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
        Weights are the numbers that a model learns. The weights of queries and keys are matrices:
        row $t$ computes feature $t$. A model learns its weights for the pairing that it is trained
        with.

        Weights can be converted by reordering their rows for the other pairing. The code below
        computes the scores of some tokens three times: with "half", with "interleaved" and
        converted weights, and with "interleaved" and the original weights. (`transpose(1, 2)`
        exchanges the rows and the columns of a matrix.)]],
      predict = {
        question = [[You load weights for "half" into a program that uses "interleaved", without
          converting them. What happens?]],
        choices = { "The program stops: the shapes do not fit.",
          "Nothing: both rotate by the same angles, so the scores are the same.",
          "The program runs, and its scores are wrong." },
        expect = 3,
        answer = [[There is no error message. The shapes are the same, but the program does not
          rotate the pairs that were trained.

          With reordered rows the scores are equal again. Both matrices must be reordered in the
          same way: a dot product does not change if both sides are reordered alike.]],
        hints = { { "it == 1", "Both pairings take 8 features and return 8." },
          { "it == 2", "The angles are the same. Are the pairs of features?" },
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
        form = { "restored = roper.position.convert_pairing(convert(Wq), ___, ___)",
          { '"half"', '"interleaved"' }, { '"half"', '"interleaved"' } },
        answer = [[The first name is the current pairing of the weights, the second the new one.

          RoPE rotates only queries and keys, so only their weights are converted. RoPER
          ([Harik and Jayasiri 2022](https://research.labml.ai/RoPER.html)) also rotates the
          values, and rotates the output back. There the rows of the value matrix are reordered as
          well, and so are the columns of the output matrix.]],
        hints = {
          { "restored == nil", "Set the variable: `restored = ...`." },
          { "(restored - convert(convert(Wq))):abs():max():item() == 0",
            "That converts from \"half\" again. Which pairing are the weights for now?" },
          { "(restored - convert(Wq)):abs():max():item() == 0",
            "That is still for \"interleaved\"." },
          "`roper.position.convert_pairing(W, from, to)` converts weights between pairings." } } },
  },
}
