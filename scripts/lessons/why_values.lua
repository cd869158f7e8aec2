return roper.lesson {
  order = 8,
  title = "Why values are rotated",
  before = [[You know that RoPE's scores depend only on distance (`relative-score`), and have seen
    RoPER once (`ten-minutes`).]],
  after = [[You can give two sentences that RoPE's output cannot tell apart and RoPER's can, and two
    that RoPER's cannot; and you can say how a model with RoPE gets round it.]],
  summary = "Write two sentences that RoPE's output cannot tell apart.",
  minutes = 30,
  needs = { "ten-minutes", "relative-score" },
  notation = {
    { "m, n", "the positions of a query and of a key or value, counted from 0" },
    { "a_{m,n}", "the weight of the value at $n$ in the output at $m$" },
    { "v_n", "the value of the word at $n$" },
    { "o_m", "the output at $m$" },
    { "R_{n-m}", "the rotation by the distance $n - m$" },
    { "θ", "the frequency: the angle per position" },
  },
  given = { q = "vector", k = "vector", m = "position", p = "position" },
  steps = {
    { title = "Who bites whom?",
      text = [[
        RoPE uses distances in the scores. They decide how much of each value is in the output. The
        values themselves are added as they are. RoPER also rotates each value by its distance from
        the query; the next lesson, `relative-distance`, derives this. What does an output show
        that way, and what is lost without it?

        Take one attention that looks around, whatever the words are: all words have the same query
        and the same key, $(2, 0)$. So the scores depend only on distances. The frequency is 20
        degrees per position. The value of a word is an arrow of length 1; its direction is computed
        from the letters. There is no mask: each word sees the words before and after it.

        `read` returns the output at the word `m`, counted from 0, and `apart` how far the outputs
        for two sentences are from each other. The code reads "dog bites man" at "bites", and then
        exchanges dog and man. The check below is the reason for one of the results: if query and
        key are the same vector, a key $p$ positions after the query and one $p$ positions before it
        have the same score. For different vectors, that is refuted.]],
      formula = [[
        "RoPE:"   & o_m = Σ_n a_{m,n} v_n
        "RoPER:"  & o_m = Σ_n a_{m,n} R_{n-m} v_n]],
      predict = {
        { question = "Dog and man are exchanged. What happens to RoPE's output at \"bites\"?",
          choices = { "It changes: RoPE's scores depend on distances, and these change.",
            "It stays: both words have the same weight, before and after.",
            "It stays, because RoPE ignores the order of words." },
          expect = 2,
          answer = [[Both words are 1 position from "bites", on either side, and $cos 20°$ does not
            show the side. So both have the same weight, and the sum has the same terms. Whoever
            reads only this output cannot tell who bites whom.]],
          hints = {
            { "it == 1", "They do. How far is dog from \"bites\", before and after?" },
            { "it == 3", [[It does not: a word at another distance gets another weight. Which
              distances do dog and man have here?]] },
            "How far are dog and man from \"bites\", before and after the exchange?" } },
        { question = [[In RoPER's output, by how many degrees is the value of "dog" rotated in "man
            bites dog", compared with "dog bites man"? Forward is positive.]],
          expect = "math.deg(turn) * 2",
          answer = [[40. Its distance from "bites" is -1 in "dog bites man", and then 1. So it is
            first rotated by -20 degrees, and then by 20.]],
          hints = {
            { "it == 20", "That is its rotation in \"man bites dog\". What is it in the other?" },
            { "it == -40", "It moves from before the query to after it. Is that forward or back?" },
            { "it == 0", "That is RoPE. In RoPER it is rotated by its distance, which changes." },
            { "math.abs(it - math.rad(40)) < 0.01", "Give the angle in degrees." },
            "What is its distance $n - m$ from \"bites\" in each of the two sentences?" } } },
      code = [[
        function arrow(word)              -- its direction: from its letters
          local degrees = 0
          for i = 1, #word do degrees = (31 * degrees + word:byte(i)) % 360 end
          return {math.cos(math.rad(degrees)), math.sin(math.rad(degrees))}
        end
        function arrows(sentence)
          local list = {}
          for word in sentence:gmatch("%S+") do list[#list + 1] = arrow(word) end
          return roper.tensor(list, "float64"):view{1, 1, #list, 2}
        end
        turn = math.rad(20)
        function attend(v, key, name)     -- with the same query everywhere
          local function all(pair)
            return roper.tensor(pair, "float64"):expand{1, 1, v:size(3), 2}
          end
          local scheme = {type = name, frequencies = {turn}}
          return roper.attention(all{2, 0}, all(key), v, {position = scheme})
        end
        function read(sentence, m, name)
          return attend(arrows(sentence), {2, 0}, name)[1][1][m + 1]
        end
        function apart(one, other, m, name)
          return (read(one, m, name) - read(other, m, name)):abs():max():item()
        end
        read("dog bites man", 1, "rope"), read("man bites dog", 1, "rope")
        read("dog bites man", 1, "roper"), read("man bites dog", 1, "roper")
        by_rope = apart("dog bites man", "man bites dog", 1, "rope")
        by_roper = apart("dog bites man", "man bites dog", 1, "roper")]],
      claims = {
        { "by_rope < 1e-12", instead = { "type = name", "type = 'roper'" } },
        { "by_roper > 0.1", instead = { "type = name", "type = 'rope'" } } },
      identity = { "dot(rotate(k, m), rotate(k, m + p)) == dot(rotate(k, m), rotate(k, m - p))",
        wrong = { { "dot(rotate(q, m), rotate(k, m + p)) == dot(rotate(q, m), rotate(k, m - p))",
          source = "for different vectors" } } },
      figure = {
        caption = [[The values at "bites", multiplied by their weights, tip to tail, and their sums.
          Dashed: dog bites man. Solid: man bites dog. Left: with RoPE, both chains end at the same
          point. Right: with RoPER, each value is rotated by its distance first, and they do not.]],
        draw = [[
          local list, sums = {}, {}
          plane = roper.position.rope{dim = 2, frequencies = {turn}}
          weights = {}
          for n = 0, 2 do weights[n + 1] = math.exp(4 * math.cos((n - 1) * turn) / 2 ^ 0.5) end
          local total = weights[1] + weights[2] + weights[3]
          local function chain(sentence, name, left)
            local dashed = sentence == "dog bites man"
            local x, y, n = left, 0, 0
            for word in sentence:gmatch("%S+") do
              local v = roper.tensor({arrow(word)}, "float64") * (weights[n + 1] / total)
              v = (name == "RoPER" and plane:rotate(v, {n - 1}) or v)[1]:totable()
              list[#list + 1] = {v[1], v[2], from = {x, y}, label = word, dashed = dashed,
                quantity = "v"}
              x, y, n = x + v[1], y + v[2], n + 1
            end
            sums[#sums + 1] = {x - left, y, from = {left, 0}, label = dashed and name,
              dashed = dashed, quantity = "o"}
          end
          for i, name in ipairs{"RoPE", "RoPER"} do
            for _, sentence in ipairs{"dog bites man", "man bites dog"} do
              chain(sentence, name, i - 1)
            end
          end
          ends = sums
          return plot.arrows(table.move(sums, 1, 4, #list + 1, list), {format = format})]],
        claims = {
          { "math.abs(ends[1][1] - ends[2][1]) + math.abs(ends[1][2] - ends[2][2]) < 1e-12",
            instead = { '(name == "RoPER" and', "(" } },
          { "math.abs(ends[3][2] - ends[4][2]) > 0.1",
            instead = { "{n - 1}", "{1}" } } } },
      exercise = {
        question = [[Find your own: set `one` and `other` to two sentences that RoPE cannot tell
          apart at word 1 and RoPER can.]],
        check = [[one ~= other and apart(one, other, 1, "rope") < 1e-9
          and apart(one, other, 1, "roper") > 1e-3]],
        sample = [[one, other = "cat sees mouse", "mouse sees cat"]],
        form = { [[one, other = "cat sees mouse", "___"]],
          { "cat sees mouse", "cat mouse sees", "mouse sees cat", "sees cat mouse" } },
        answer = [[Such as `one, other = "cat sees mouse", "mouse sees cat"`. `apart(one, other, 1,
          "rope")` is 0, up to rounding. Two words that are exchanged must be equally far from word
          1.]],
        hints = {
          { "one == nil or other == nil", "Set both: `one, other = \"...\", \"...\"`." },
          { "one == other", "These are the same sentence." },
          { "apart(one, other, 1, 'rope') > 1e-9",
            "RoPE tells these apart. Which words have another distance from word 1 now?" },
          { "apart(one, other, 1, 'roper') < 1e-3",
            "RoPER does not tell these apart either. Are the exchanged words different?" },
          "Exchange the words before and after word 1." } } },
    { title = "When the weights stay, RoPE's output stays",
      text = [[
        The example is special. What is the general rule? RoPE's output is a sum of weights times
        values. If each value keeps its weight, the output stays, whatever happened to the
        distances. RoPE can tell two sentences apart only if the exchange changes weights.

        It often does: other keys, or other distances. Then the output is another mixture of the
        same arrows. With other keys, this very attention would tell who bites whom: `aside` below
        gives the word after the query a greater score than the word before it.

        So this does not prove that RoPE cannot see the order of words. It shows when it cannot:
        when these words get the same weights. RoPER's output can change even then.]],
      predict = {
        question = [[All words have the key $(2, 0)$ again. In which sentence can RoPE's output at
          "bites" change if dog and man are exchanged?]],
        choices = { "big dog bites man today", "dog then bites poor man", "the dog bites the man" },
        expect = 3,
        answer = [[In the third, the distances are -1 and 2, so the two weights differ, and the
          exchange swaps them. In the others the distances are -1 and 1, or -2 and 2: the
          weights are equal. The code shows the changes.]],
        hints = {
          { "it == 1", "Count from \"bites\": dog is at -1, man at 1. Are their weights equal?" },
          { "it == 2", "Count from \"bites\": dog is at -2, man at 2. Are their weights equal?" },
          "How far are dog and man from \"bites\"? When do they have different weights?" } },
      code = [[
        apart("big dog bites man today", "big man bites dog today", 2, "rope")
        apart("dog then bites poor man", "man then bites poor dog", 2, "rope")
        unequal = apart("the dog bites the man", "the man bites the dog", 2,
          "rope")
        unequal
        aside = {2 * math.cos(turn), -2 * math.sin(turn)}
        function tilted(sentence)
          return attend(arrows(sentence), aside, "rope")
        end
        change = tilted("dog bites man") - tilted("man bites dog")
        sided = change[1][1][2]:abs():max():item()]],
      claims = {
        { "unequal > 0.01", instead = { "the man bites the dog", "the dog bites the man" } },
        { "sided > 0.01", instead = { "-2 * math.sin(turn)", "0" } } },
      figure = {
        caption = [[The weights of dog and man at "bites" in the three sentences of the question, by
          their distances. They differ only in the third. So only there does an exchange change the
          sum.]],
        draw = [[
          local q = roper.tensor({2, 0}, "float64"):expand{1, 1, 5, 2}
          local a = roper.attention_weights(q, q, {position = {type = "rope",
            frequencies = {turn}}})[1][1][3]
          dogs = {a[2]:item(), a[1]:item(), a[2]:item()}
          men = {a[4]:item(), a[5]:item(), a[5]:item()}
          return plot.bar({{y = dogs, label = "dog"}, {y = men, label = "man"}},
            {names = {"-1, 1", "-2, 2", "-1, 2"}, ylabel = "weight", format = format})]],
        claims = { { "math.abs(dogs[2] - men[2]) < 1e-12 and dogs[3] - men[3] > 0.01",
          instead = { "{a[2]:item(), a[1]", "{a[2]:item(), a[2]" } } },
        play = { kind = "sentence",
          caption = [[Try your own sentence, and click a word to make it the query. Then pull
            another word away. With RoPE, its weight may change, but its value arrives as it is.
            With RoPER, it also arrives turned by its distance.]] } } },
    { title = "Found, but where?",
      text = [[
        Models that write text have a causal mask: a word sees only itself and those before it. Then
        there are no equal distances on two sides. But another case is common there: attention finds
        one word and gives it nearly all of the weight.

        So let each word have two pairs of features. The first pair hardly rotates, and finds a
        word: its key matches the query, and all other keys point the other way. The second pair is
        rotated by 20 degrees per position, and contains the value. (RoPE has such slow pairs: the
        slowest of 128 features takes 54,410 positions for one turn, see `general-form`.)

        `find` returns the second pair of the output at the last word.]],
      predict = {
        { question = [["key" is 2 positions before the last word, and then 5. What does RoPE's
            output show of this?]],
          choices = { "A shorter arrow, because the weight is smaller.",
            "Nothing: the value of \"key\" as it is, in both sentences.",
            "An arrow that is rotated by 3 positions more." },
          expect = 2,
          answer = [[The weight is 1 in both sentences, up to rounding. The output is the value of
            "key", and nothing else. It shows that the word was found, but not where.]],
          hints = {
            { "it == 1", "Nearly all of the weight is on \"key\", at both distances." },
            { "it == 3", "RoPE does not rotate values." },
            "What is a mean if nearly all of the weight is on one value?" } },
        { question = [[In the second sentence, "key" is 5 positions before the last word. By how
            many degrees is its value rotated in RoPER's output? Forward is positive.]],
          expect = "-5 * math.deg(turn)",
          answer = [[-100. The distance $n - m$ is -5, at 20 degrees each. So the direction of the
            output shows the distance, if the direction of the value is known.]],
          hints = {
            { "it == 100", "The word is before the query, so $n - m$ is negative." },
            { "it == -40", "That is for the first sentence, with 2 positions." },
            { "it == 0", "That is RoPE. RoPER rotates by the distance." },
            { "it == -5", "That is the distance. Each position is 20 degrees." },
            "What is $n - m$, and how many degrees is a position?" } } },
      code = [[
        function find(sentence, word, name)
          local q, k, v = {}, {}, {}
          for one in sentence:gmatch("%S+") do
            local x, y = table.unpack(arrow(one))
            q[#q + 1] = {9, 0, 0, 0}              -- pairs: 1 and 3, 2 and 4
            k[#k + 1] = {one == word and 9 or -9, 0, 0, 0}
            v[#v + 1] = {0, x, 0, y}
          end
          local function heads(list)
            return roper.tensor(list, "float64"):view{1, 1, #list, 4}
          end
          local o = roper.attention(heads(q), heads(k), heads(v), {causal = true,
            position = {type = name, frequencies = {0.001, turn}}})[1][1][-1]
          return o[2]:item(), o[4]:item()
        end
        find("the key lies here", "key", "rope")
        find("the key under that mat lies here", "key", "rope")
        find("the key lies here", "key", "roper")
        find("the key under that mat lies here", "key", "roper")
        function direction(p, name)               -- p: the distance to "key"
          local x, y = find("key " .. ("word "):rep(p - 1) .. "here", "key", name)
          local x0, y0 = table.unpack(arrow("key"))
          return math.deg(math.atan(y, x) - math.atan(y0, x0))
        end
        off = (direction(2, "roper") - direction(5, "roper")) % 360 - 60
        still = math.abs(direction(2, "rope") - direction(5, "rope"))]],
      claims = {
        { "math.abs(off) < 1e-6",
          instead = { '(direction(2, "roper")', '(direction(3, "roper")' } },
        { "still < 1e-9", instead = { 'direction(5, "rope"))', 'direction(5, "roper"))' } } },
      figure = {
        caption = [[The direction of the output, compared with that of the value of "key", by the
          distance between "key" and the last word. RoPE's output keeps the direction of the value.
          RoPER's turns by 20 degrees per position: it shows the distance.]],
        draw = [[
          distances, kept, turned = {}, {}, {}
          for p = 1, 8 do
            distances[p] = p
            kept[p] = direction(p, "rope")
            turned[p] = -(-direction(p, "roper") % 360)
          end
          return plot.line({{x = distances, y = kept, label = "RoPE"},
            {x = distances, y = turned, label = "RoPER"}},
            {xlabel = "distance", ylabel = "degrees", format = format})]],
        claims = {
          { "math.abs(kept[8]) < 1e-6",
            instead = { 'direction(p, "rope")', 'direction(p, "roper")' } },
          { "math.abs(turned[8] + 160) < 1e-6",
            instead = { 'direction(p, "roper")', 'direction(p, "rope")' } } },
        play = { kind = "attention", beside = true, turns = { "qk", "qkvo" }, theta = 0.06,
          positions = { 20, 22 }, query = { 6, 0 }, keys = { { 6, 0 }, { -6, 0 } },
          values = { { 0.9, 0.4 }, { -0.3, 0.8 } },
          caption = [[The query of b finds a. Drag a to the left: its weight stays near 1, and
            RoPER's output turns with the distance. Choose "RoPE" and drag again: the output stays.
            ]] } } },
    { title = "What RoPER cannot tell",
      text = [[
        RoPER's output has its own blind spots. The code tries four of them.

        A full turn. With one pair of 20 degrees per position, distances that differ by 18 look the
        same. Several pairs with different frequencies help here (`general-form`).

        Word or distance? A rotated value looks like the value of another word at another distance.
        To tell them apart, one must know the direction of the value. (A model can learn to keep one
        pair the same in all values, as a pointer: its direction then shows the distance. The other
        pairs can describe the word.)

        Position in the text. If the whole sentence moves, nothing changes. That one is intended.

        A sum. The output is still one. If three arrows of equal length and weight point in
        directions 120 degrees apart, they cancel, whatever the word is. At a frequency of 120
        degrees, this happens to any word that is said three times, `ha ha ha` or `no no no`.]],
      predict = {
        { question = [[The frequency is 20 degrees. A word at distance -5 has a value with the
            direction 70 degrees. Another word, at distance -3, gives the same output. What is the
            direction of its value, in degrees?]],
          expect = "70 - 5 * 20 + 3 * 20",
          answer = [[30. The first arrow ends at $70 - 100 = -30$ degrees. The second is rotated by
            -60, so it must start at 30.]],
          hints = {
            { "it == -30", "That is where both end. Where must the second one start?" },
            { "it == 110", "That is for a word that is 2 positions farther away, not nearer." },
            { "it == 70", "Then the second would end at 10 degrees, and the first at -30." },
            { "it == -90", "Rotate back: the second is rotated by -60 from its start." },
            "At how many degrees does the first end? The second must end there, too." } },
        { question = "Which of these changes RoPER's output, but not RoPE's, in this lesson?",
          choices = { "The whole sentence moves by 100 positions.",
            "Two words with equal weights are exchanged.",
            "The word that is found moves by a full turn." },
          expect = 2,
          answer = [[Two words with equal weights: the first step. The other two leave both outputs
            as they are.]],
          hints = {
            { "it == 1", "All distances stay the same. So do both outputs." },
            { "it == 3", "A rotation by a full turn changes nothing." },
            "Which of them changes a distance, but no weight?" } } },
      code = [[
        full_turn = math.abs(direction(2, "roper") - direction(20, "roper"))
        function turned(degrees, distance)        -- where a value ends
          return degrees + distance * math.deg(turn)
        end
        turned(70, -5), turned(30, -3)
        v = arrows("dog bites man")
        function at(offset)
          local q = roper.tensor({2, 0}, "float64"):expand{1, 1, 3, 2}
          local scheme = {type = "roper", frequencies = {turn}}
          return roper.attention(q, q, v, {position = scheme, offset = offset})
        end
        moved = (at(0) - at(100)):abs():max():item()
        third = math.rad(120)
        function laugh(word)
          local zero = roper.zeros({1, 1, 3, 2}, "float64")
          local v = arrows(word .. " " .. word .. " " .. word)
          return roper.attention(zero, zero, v,
            {position = {type = "roper", frequencies = {third}}})[1][1][3]
        end
        laugh("ha"), laugh("no")
        left = laugh("ha"):abs():max():item()]],
      claims = {
        { "full_turn < 1e-9", instead = { "direction(20,", "direction(21," } },
        { "turned(70, -5) == turned(30, -3)",
          instead = { "distance * math", "2 * distance * math" } },
        { "moved < 1e-12", instead = { "(at(0) - at(100))", "(at(0) - v)" } },
        { "left < 1e-12", instead = { "math.rad(120)", "math.rad(100)" } } } },
    { title = "A second head, or a second layer",
      text = [[
        A model is more than one attention. It has several side by side, its heads, and several
        layers, each of which reads the outputs of the one before. With either, RoPE gets round the
        example.

        A second head: one whose keys prefer the word to the left. Its output at "bites" is dog in
        one sentence and man in the other.

        A second layer: let that head write into the words. After the first layer, each word also
        contains a part of its left neighbor. The second layer is the attention of the first step,
        with equal weights on both sides. Now it adds up other values in the two sentences, and so
        its output differs.

        So a model with RoPE is not bound to the limits of one attention. It spends a head, or a
        layer, on what RoPER's values show in every head: how far away each of them was. Whether
        that helps a trained model is a question for measurements. `study` has them.]],
      predict = {
        question = "What must the first layer do, so that the second can tell the sentences apart?",
        choices = { "Give dog and man different weights at \"bites\".",
          "Add something to dog and man that depends on their neighbors.",
          "Use a larger frequency." },
        expect = 2,
        answer = [[The second layer gives equal weights, so its sum can change only if the values
          change. After the first layer, man contains a part of "bites" in one sentence, and dog
          does in the other.]],
        hints = {
          { "it == 1", "The second layer is that of the first step: its weights are equal." },
          { "it == 3", "With any frequency, equal distances give equal scores here." },
          "The weights of the second layer stay equal. What else is in its sum?" } },
      code = [[
        to_the_left = {70 * math.cos(turn), 70 * math.sin(turn)}
        function head(sentence)
          return attend(arrows(sentence), to_the_left, "rope")
        end
        head("dog bites man")[1][1][2], head("man bites dog")[1][1][2]
        roper.tensor(arrow("dog")), roper.tensor(arrow("man"))
        function two_layers(sentence)
          local v = arrows(sentence)
          v = v + attend(v, to_the_left, "rope")      -- the first layer
          return attend(v, {2, 0}, "rope")            -- the second
        end
        two_layers("dog bites man")[1][1][2], two_layers("man bites dog")[1][1][2]
        change = two_layers("dog bites man") - two_layers("man bites dog")
        two_apart = change[1][1][2]:abs():max():item()]],
      claims = { { "two_apart > 0.1",
        instead = { "attend(v, to_the_left,", "attend(v, {2, 0}," } } },
    },
  },
}
