return roper.lesson {
  order = 6,
  title = "What goes wrong, and how it shows",
  before = "You know what RoPER should compute (`relative-distance`).",
  after = "You can find the five usual mistakes by two residuals, before anything is trained.",
  given = { a = "numbers", v = "vectors", q = "vector", k = "vector", x = "vector",
    i = "positions", m = "position", n = "position" },
  steps = {
    { title = "The test: shift the text",
      text = [[
        What is relative does not change when the whole text moves. So: compute with positions 0 to
        5, compute with 1000 to 1005, and compare. Here `a` are RoPE's weights, which are relative
        already; a way to carry the values is a function of the positions p.]],
      code = [[
        rope = roper.position.rope{dim = 8}
        v = roper.randn({1, 1, 6, 8}, "float64")
        q = roper.randn({1, 1, 6, 8}, "float64")
        a = roper.attention_weights(q, q, {position = rope, causal = true})
        near, far = roper.arange(0, 6), roper.arange(1000, 1006)
        function shift(f) return (f(near) - f(far)):abs():max():item() end
        function right(p) return rope:unrotate(a:matmul(rope:rotate(v, p)), p) end
        moved = shift(right)]],
      claims = { { "moved < 1e-12", instead = { "rope:unrotate", "rope:rotate" } } } },
    { title = "Values turned twice",
      text = [[
        A widely used implementation of RoPER turned the values twice from its release until 2024: a
        line was there two times. Each value is then turned by 2i - n. That is a difference of
        something, but not of positions: shift by s, and it moves by s.]],
      formula = "R_{-n} Σ_i a R_i R_i v_i = Σ_i a R_{2i-n} v_i",
      code = [[
        function twice(p)
          return rope:unrotate(a:matmul(rope:rotate(rope:rotate(v, p), p)), p)
        end
        moved = shift(twice)]],
      claims = { { "moved > 0.1", instead = { "rope:rotate(v, p), p)", "v, p)" } } },
      identity = { "unrotate(sum(a*rotate(rotate(v, i), i)), n) == sum(a*rotate(v, 2*i - n))",
        wrong = { { "unrotate(sum(a*rotate(rotate(v, i), i)), n) == sum(a*rotate(v, i - n))",
          source = "as if it were relative" } } } },
    { title = "The way back forgotten, or half right",
      text = [[
        Without the turn at the end each value arrives turned by its own position i: absolute. And
        an inverse that negates the cosines as well as the sines is no inverse: it turns forward,
        and flips the sign.]],
      code = [[
        function forgotten(p) return a:matmul(rope:rotate(v, p)) end
        moved = shift(forgotten)]],
      claims = { { "moved > 0.1", instead = { "a:matmul(rope:rotate(v, p))", "a:matmul(v)" } } },
      identity = { "pair(x[2]*sin(m) - x[1]*cos(m), -x[2]*cos(m) - x[1]*sin(m)) == -rotate(x, m)",
        wrong = { { "pair(x[2]*sin(m) - x[1]*cos(m), -x[2]*cos(m) - x[1]*sin(m)) == rotate(x, -m)",
          source = "as if it were the inverse" } } } },
    { title = "The sign flipped",
      text = [[
        Turn both queries and keys the other way, and all is relative still, only mirrored: a model
        trained so can learn the same, but its weights are of no use to code that turns forward.
        Flip the sign of one side alone, and the score depends on the sum of the positions.]],
      identity = { "dot(rotate(q, -m), rotate(k, -n)) == dot(q, rotate(k, m - n))",
        wrong = {
          { "dot(rotate(q, m), rotate(k, -n)) == dot(q, rotate(k, n - m))",
            source = "one side flipped" },
          { "dot(rotate(q, -m), rotate(k, -n)) == dot(q, rotate(k, n - m))",
            source = "as if not mirrored" } } } },
    { title = "The pairing swapped",
      text = [[
        This one passes the test of the shift: with the other pairing scores are relative as well.
        They are only not the ones that the model was trained with. Hence a second test: known
        outputs for known weights, kept from the program that trained them.]],
      code = [[
        other = roper.position.rope{dim = 8, pairing = "interleaved"}
        function scores(position, offset)
          return roper.attention_weights(q, q, {position = position, offset = offset})
        end
        moved = (scores(other, 0) - scores(other, 1000)):abs():max():item()
        changed = (scores(other, 0) - scores(rope, 0)):abs():max():item()]],
      claims = {
        { "moved < 1e-12", instead = { "scores(other, 1000)", "scores('none', 1000)" } },
        { "changed > 0.01", instead = { "scores(rope, 0)", "scores(other, 0)" } } } },
    { title = "Why a model trains all the same",
      text = [[
        Every one of these mistakes leaves a smooth function that loses nothing: a turn can be
        undone by what comes after it, and gradients flow through it as well as through the right
        one. On positions that it was trained on, a model can learn its way around. Below, two small
        models of the same seed: RoPER, and RoPER with the way back forgotten. After 40 steps their
        losses (nats a token) are alike. They have learned little yet but which letters there are
        (ln 4 = 1.386), and nothing in these two numbers would make anybody look for a mistake.

        Longer runs can differ, beside the right one: in the experiment `substring_index` values
        turned twice learn later than RoPER. But a loss does not say whether it was reached with a
        mistake or with a method that is slower. The residual of the shift does.]],
      code = [[
        function loss_after(rotate, steps)
          local task = roper.tasks.substring_prefix{length = 33, seed = 1}
          local model = roper.nn.Transformer{
            vocabulary = task:vocabulary(), d_model = 32, layers = 1, heads = 2,
            position = {type = "rope", rotate = rotate}}
          return roper.train{model = model, task = task, steps = steps, batch = 8,
            optimizer = roper.optim.Adam{rate = 1e-2}, progress = false}.loss
        end
        before = loss_after("qkvo", 1)
        right, wrong = loss_after("qkvo", 40), loss_after("qkv", 40)
        right, wrong]],
      claims = {
        { "before - wrong > 0.1", instead = { '("qkv", 40)', '("qkv", 1)' } },
        { "math.abs(right - wrong) < 0.02", instead = { '("qkv", 40)', '("qkv", 1)' } } },
      exercise = {
        question = "Which two numbers would you put into a test so that none of the five can hide?",
        answer = [[The residual of the shift, and the difference from an oracle that builds each
          R_{i-n}, `roper.oracle.attention`. The first finds what is not relative, the second the
          rest.]] } },
  },
}
