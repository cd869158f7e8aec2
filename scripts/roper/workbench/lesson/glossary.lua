--- The glossary of the lessons: terms in alphabetical order. A term has the words by which prose
--- mentions it (by default its name and its plural in s), and two sentences.
return {
  { name = "Adam", words = { "Adam" }, text = [[The optimizer that trains the models of these
    lessons. It moves each weight by a running mean of its gradients, divided by their typical
    size.]] },
  { name = "addition formula", text = [[A formula for the sine or cosine of a sum of angles, such as
    $cos(a + b) = cos a cos b - sin a sin b$. Rotating an arrow twice gives it.]] },
  { name = "ALiBi", words = { "ALiBi" }, text = [[A position scheme that subtracts the distance,
    times a fixed slope, from each score. Nothing in it is trained or rotated.]] },
  { name = "angle", text = [[How far an arrow is turned, counterclockwise, in degrees or radians.
    RoPE rotates by an angle that grows with the position.]] },
  { name = "arrow", text = [[A pair of numbers, drawn in the plane: so many steps to the right and
    so many up. Its length and its angle describe it as well.]] },
  { name = "attention", text = [[The part of a model that passes information from one token to
    another. Each token's output is a mean of the values of all tokens that it sees, weighted by how
    well their keys match its query.]] },
  { name = "base", text = [[The number from which RoPE's frequencies are computed, $θ_t =
    base^(-2t/d)$; often 10000. A larger base makes the slow pairs slower.]] },
  { name = "bfloat16", words = { "bfloat16" }, text = [[A format for numbers with 8 significant
    binary digits and the range of float32. It is fast and saves memory, but positions above 256 are
    rounded in it.]] },
  { name = "bias", words = { "bias", "biases" }, text = [[A trained number that is added to a
    result. With the weights, the biases are what a model learns.]] },
  { name = "bucket", text = [[A group of distances that share one trained number, as in T5. Buckets
    get wider as distances grow.]] },
  { name = "causal mask", words = { "causal mask", "mask", "masks" }, text = [[It hides later tokens
    from each query, so that a model cannot look at what it must predict. It also reveals something
    about positions, because early queries see fewer tokens.]] },
  { name = "component", text = [[One of the two numbers of a pair. Rotating a pair mixes its two
    components.]] },
  { name = "convolution", text = [[A sum over neighbors in which each distance has its own fixed
    matrix. RoPER's rotations are such matrices, each multiplied by an attention weight.]] },
  { name = "counterexample", text = [[Numbers for which the two sides of an equation differ. One is
    enough to refute it.]] },
  { name = "DeBERTa", words = { "DeBERTa" }, text = [[A model whose scores have trained terms for
    the distance, seen from the query and from the key. It has no term for the distance alone.]] },
  { name = "degree", text = [[A unit of angles, of which a full turn has 360. Programs use radians
    instead.]] },
  { name = "distance", text = [[The difference of the positions of two tokens, with its sign. RoPE's
    scores depend on positions through it alone.]] },
  { name = "dot product", text = [[Of two vectors: multiply number by number, and add up. It is also
    the product of their lengths and the cosine of the angle between them.]] },
  { name = "exponential", text = [[The function $exp(x) = e^x$, which is always positive and grows
    fast. The softmax applies it to the scores.]] },
  { name = "family", words = { "family", "families" }, text = [[Here: a position scheme, seen as a
    choice of terms in one equation for scores and outputs. Shaw, Transformer-XL, DeBERTa, T5,
    ALiBi, RoPE and RoPER are the seven families of the lessons.]] },
  { name = "feature", text = [[One number of a vector. RoPE rotates features in pairs.]] },
  { name = "float32", words = { "float32" }, text = [[The usual format for numbers in a model, with
    24 significant binary digits. Angles at large positions need more, so they are computed in
    float64.]] },
  { name = "frequency", words = { "frequency", "frequencies" }, text = [[The angle by which a pair
    is rotated per position, written $θ$. Each pair has its own, from fast to slow.]] },
  { name = "full turn", text = [[A rotation by 360 degrees or $2π$ radians, which changes nothing.
    Positions that differ by one look the same to a pair.]] },
  { name = "gradient", text = [[For each weight, how fast the loss grows if the weight grows.
    Training moves weights against it.]] },
  { name = "head", text = [[One of several attentions side by side in a layer. Each has queries,
    keys and values of its own.]] },
  { name = "identity", words = { "identity", "identities" }, text = [[An equation that holds for all
    values of its variables. The lessons check each with random numbers and exactly.]] },
  { name = "identity matrix", words = { "identity matrix" }, text = [[The matrix with 1 on the
    diagonal and 0 elsewhere. It changes no vector.]] },
  { name = "key", text = [[The vector by which other tokens find a token. Attention compares it with
    their queries.]] },
  { name = "layer", text = [[A stage of a model: attention, and then a small network for each token.
    Layers follow one another, and each reads what the one before wrote.]] },
  { name = "learning rate", text = [[How far one step of training moves the weights. If it is too
    large, training fails; if it is too small, it takes long.]] },
  { name = "linear attention", text = [[Attention without a softmax, whose sums over keys and values
    can be computed once for all queries. Its cost grows with the length of the text, not with its
    square.]] },
  { name = "logarithm", text = [[The inverse of the exponential: $ln e^x = x$. Minus the logarithm
    of a probability is 0 if it is certain, and large if it is small.]] },
  { name = "logit", text = [[A number for each possible next token, before the softmax. The larger
    it is, the more probable is the token.]] },
  { name = "loss", words = { "loss", "losses" }, text = [[How wrong a model's predictions are: the
    mean of minus the logarithm of the probability of what came. Training reduces it.]] },
  { name = "matrix", words = { "matrix", "matrices" }, text = [[A table of numbers. Times a vector
    it gives another vector, each number of which is a row times the vector.]] },
  { name = "model", text = [[A function with many trained numbers that predicts how a text
    continues. Here it is a transformer.]] },
  { name = "output", text = [[What attention returns for a query: the weighted mean of the values.
    RoPER rotates it back by the position of the query.]] },
  { name = "pair", text = [[Two things that belong together: mostly two features that are rotated as
    one arrow. In comparisons, a pair is two runs of different methods with the same seed.]] },
  { name = "position", text = [[The index of a token in a text, counted from 0. Only differences of
    positions matter to RoPE.]] },
  { name = "probability", words = { "probability", "probabilities" }, text = [[How likely something
    is, from 0 to 1. A model gives one to each possible next token.]] },
  { name = "query", words = { "query", "queries" }, text = [[The vector that describes what a token
    looks for. Its dot products with the keys are the scores.]] },
  { name = "radian", text = [[The unit of angles in programs: the length of the arc on a circle of
    radius 1. A full turn is $2π$ radians, and one radian is about 57 degrees.]] },
  { name = "RoPE", words = { "RoPE" }, text = [[Rotary position encoding: each query and each key is
    rotated by an angle in proportion to its position. Their score then depends on the distance
    alone.]] },
  { name = "RoPER", words = { "RoPER" }, text = [[RoPE with rotated values: the values are rotated,
    too, and the output is rotated back. So each value enters the output rotated by its distance
    from the query.]] },
  { name = "rotation", text = [[A turn of the plane that changes no length and no angle between
    arrows. Two rotations in succession add their angles.]] },
  { name = "rounding", words = { "rounding", "rounded" }, text = [[Numbers in a computer have a
    limited number of digits, so results are changed a little. A claim that holds "up to rounding"
    allows such changes and no others.]] },
  { name = "running sum", text = [[A sum that is continued from token to token, and never computed
    again from the start. Linear attention keeps such sums of keys and values.]] },
  { name = "score", text = [[How well a key matches a query: their dot product, divided by $√d$. The
    softmax turns scores into weights.]] },
  { name = "seed", text = [[The number from which all random numbers of a run follow. The same seed
    gives the same run.]] },
  { name = "softmax", words = { "softmax" }, text = [[It turns scores into weights: take the
    exponential of each, and divide by their sum. The results are positive and sum to 1.]] },
  { name = "standard error", text = [[How far a mean of some runs is typically off, estimated from
    how much the runs differ. It is written after the mean with ±.]] },
  { name = "tensor", text = [[An array of numbers with any number of axes. A vector has one axis, a
    matrix two.]] },
  { name = "token", text = [[A piece of text that a model reads or writes at once: a word, a part of
    one, or a character. Each is represented by a vector.]] },
  { name = "transformer", text = [[The usual form of a language model: layers of attention and small
    networks. The first one, of 2017, added sine waves to its tokens.]] },
  { name = "transpose", words = { "transpose", "transposed" }, text = [[To exchange the rows and
    columns of a matrix. A matrix that moves to the other side of a dot product is transposed.]] },
  { name = "unit circle", text = [[The circle of radius 1 around the origin. The point at angle $φ$
    has the coordinates $(cos φ, sin φ)$.]] },
  { name = "value", text = [[The vector that a token passes on to those that attend to it. RoPE
    leaves it as it is, and RoPER rotates it.]] },
  { name = "vector", text = [[A list of numbers, its features. Tokens, queries, keys and values are
    vectors.]] },
  { name = "wave", text = [[A sine or cosine of the position, times a frequency. The first
    transformer added waves of many frequencies to its tokens.]] },
  { name = "weight", text = [[In attention, the share of a value in an output, between 0 and 1. Also
    each trained number in the matrices of a model.]] },
  { name = "weighted mean", text = [[A mean in which each number is multiplied by a weight first,
    where the weights sum to 1. The output of attention is a weighted mean of the values.]] },
  { name = "YaRN", words = { "YaRN" }, text = [[A change of RoPE's frequencies for texts longer than
    in training. It leaves fast pairs as they are and slows down slow ones.]] },
}
