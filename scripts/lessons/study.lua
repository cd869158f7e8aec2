return roper.lesson {
  order = 19,
  title = "The study: three puzzles, and what came of them",
  before = "You know what RoPER does with values, and what for (`why-values`).",
  after = [[You can solve the three tasks of RoPER's study by hand, read its table, and say what
    this project found when it repeated them, and what it could not tell.]],
  summary = "Solve the study's three puzzles by hand, and read its results.",
  minutes = 40,
  needs = { "why-values" },
  notation = {
    { "p", "the probability of a difference at least this large if the method did not matter" },
    { "n", "the number of pairs of runs" },
    { "±", "the standard error of the mean" },
  },
  steps = {
    { title = "Substring by Index",
      text = [[
        RoPER's study ([Harik and Jayasiri 2022](https://research.labml.ai/RoPER.html)) trains small
        models on three tasks. A model reads one character after the other and predicts the next.
        This lesson gives you the tasks first. They are made by the same code that trains models
        here.

        In Substring by Index, there is a string of 13 letters and an index, counted from 0. The
        answer is the rest of the string, from the index on. In a row of text, one problem follows
        the other.

        A model that answers must first find the letter at the index. Where is it? `reach` computes
        how far it is from the character before the answer, where attention has to find it. After
        that, each letter of the answer copies the next letter of the string, always from the same
        distance.]],
      predict = {
        { question = "What completes `?s='xrgtgelmwfhqk'; s[5:]=='`?",
          choices = { "gelmwfhqk'#", "elmwfhqk'#", "wfhqk'#", "xrgtg'#" },
          expect = 2,
          answer = "elmwfhqk'#: counted from 0, x is 0, r is 1, and e is 5.",
          hints = {
            { "it == 1", "That counts from 1. The first letter, x, has the index 0." },
            { "it == 3", "Those are the last 5 letters. The index says where to begin." },
            { "it == 4", "That is the part before the index." },
            "Count the letters from 0 up to 5. The answer begins there." } },
        { question = [[In this problem, e is 18 positions before the character before the answer.
            Now the index is 6, and the rest is the same. How many positions is it to the first
            letter of the answer?]],
          expect = "reach(6)",
          answer = [[17. One index further is one letter nearer. So the distance to look back
            depends on a digit that the model reads: the content determines the distance.]],
          hints = {
            { "it == 19", "A greater index is further right in the string: is that nearer?" },
            { "it == 18", "That is for the index 5." },
            { "it == 6", "That is the index. Count positions back from the end of the question." },
            "The letter at 6 is right of the letter at 5. How far is it from the end?" } } },
      code = [[
        index = roper.tasks.substring_index{seed = 1}
        puzzle, solution = index:question()
        puzzle, solution
        function reach(i)                 -- from the last character of a question
          local asked = ("?s='xrgtgelmwfhqk'; s[%d:]=='"):format(i)
          local text = asked .. index:answer(asked)
          local _, sources = index:explain(index:encode(text):view{1, #text})
          return #asked - 1 - sources[1][#asked + 1]:item()
        end
        reach(5), reach(6), reach(12)]],
      claims = {
        { [[puzzle == "?s='xrgtgelmwfhqk'; s[5:]=='" and solution == "elmwfhqk'#"]],
          instead = { "seed = 1", "seed = 2" } },
        { "reach(5) == 18 and reach(6) == 17", instead = { "#asked - 1 -", "#asked + 1 -" } } },
      figure = {
        caption = [[The distance back to the first letter of the answer, by the index. It falls with
          the index; with two digits (from 10 on) the question is one character longer.]],
        draw = [[
          indices, distances = {}, {}
          for i = 0, 12 do indices[i + 1], distances[i + 1] = i, reach(i) end
          return plot.scatter({x = indices, y = distances}, {xlabel = "index",
            ylabel = "distance", format = format})]],
        claims = { { "distances[1] == 23 and distances[13] == 12",
          instead = { "reach(i)", "i" } } } },
      exercise = {
        question = [[Solve another: `index:question()` gives one, and `index:grade(puzzle, "...")`
          says whether an answer is right. Grade a right answer to the puzzle of this step.]],
        check = "it == true",
        sample = [[index:grade(puzzle, "elmwfhqk'#")]],
        form = { [[index:grade(puzzle, "___")]],
          { "elmwfhqk", "lmwfhqk'#", "elmwfhqk'#", "gelmwfhqk'#" } },
        answer = [[`index:grade(puzzle, "elmwfhqk'#")`. The quote and the # belong to the answer:
          they end it.]],
        hints = {
          { "it == false", "That is graded as wrong. Does it end in `'#`?" },
          "Type the answer as a text in quotes, with its end `'#`." } } },
    { title = "Substring by Prefix",
      text = [[
        The second task has only 4 letters, so letters repeat all the time. A row is a random
        string, then >, then a piece of what came before, then a random string, and so on. The
        pieces have a fixed length; here it is 8, and the random strings have 4 letters. The > do
        not count as letters of the text.

        After the first letters of a piece, a model has to find where they occurred, and continue
        from there. The first letters cannot be known. The library knows the best prediction for
        each character: `nats` is minus the logarithm of its probability, 0 if it is certain. (The
        mean over all characters is the floor: the lowest loss that a model can be expected to
        reach.)]],
      predict = {
        { question = [[`dcadaabb>dcadaabbabcb>abbd`: the piece after the last > has 8 letters. Which
            four are missing?]],
          choices = { "cada", "abcb", "abdc", "dcad" },
          expect = 1,
          answer = [[cada. Without the >, `abbd` occurs once before: `dcada` `abbd` `cada…`, across
            the first >. `cada` follows it there.]],
          hints = {
            { "it == 2", "That is the end of the text so far. Where is `abbd`, and what follows?" },
            { "it == 3", "Look for `abbd` itself, across the first >." },
            { "it == 4", "`dcad` begins with the d of `abbd`. What comes after that d?" },
            "Find `abbd` in the text before. The > are not letters of it." } },
        { question = [[The 8 letters of this piece are `abbdcada`. From which of them on, counted
            from 1, is the best prediction certain?]],
          expect = "known",
          answer = [[The third: its `nats` are 0, and so are all that follow. After `ab`, the rest
            is clear: of all places with
            `ab`, only one has 8 letters. The two letters before cost 0.96 and 1.61.]],
          hints = {
            { "it == 1", "The first letter could be any, so it is not certain." },
            { "it == 2", "In the text before, `a` is followed by a, b and d. Is `b` certain?" },
            { "it == 4", [[Both `abb` and `abc` have occurred. But a piece has 8 letters. After
              which of them are there enough?]] },
            { "it == 5", "Four letters are enough. Is it certain even earlier?" },
            "Which letters followed `a`, `ab` and `abb` in the text before?" } } },
      code = [[
        prefix = roper.tasks.substring_prefix{substring_length = 8,
          random_length = 4, length = 30, seed = 1}
        row = prefix:batch(1)
        text = prefix:decode(row[1])
        text
        nats = prefix:explain(row)[1]
        nats:narrow(1, 23, 8)
        known = 1
        while nats[22 + known]:item() > 0 do known = known + 1 end]],
      claims = {
        { "text == 'dcadaabb>dcadaabbabcb>abbdcada'", instead = { "seed = 1", "seed = 2" } },
        { "known == 3", instead = { "nats[22", "nats[21" } } } },
    { title = "Arithmetic Addition",
      text = [[
        The third task is addition, as at school: place by place from the right, with a carry. For
        each place, the text writes the digits of both numbers, the carry and the sum, each with its
        place: `4e1` is a 4 in the tens. At the end comes `d==` and the result. In the study the
        numbers have up to 8 digits; here they have 2.]],
      predict = {
        { question = [[`?d=49+75; 9e0+5e0+0e0==14e0 and 4e1+7e1+` is followed by a digit and `e1`.
            Which digit?]],
          expect = "1",
          answer = [[1, the carry: $9 + 5 = 14$ has a ten. To find it, the model must look back to
            the sum of the place before, and only at its first digit.]],
          hints = {
            { "it == 4", "That is the last digit of 14. Which one is carried?" },
            { "it == 0", "The ones add up to 14, so there is a carry." },
            { "it == 12", "That is the sum of this place. What comes before `==`?" },
            { "it == 14", "That is the sum of the ones. Only its tens are carried." },
            "What is the carry of $9 + 5$?" } },
        { question = "Which digit does this place contribute to the result, 124?",
          expect = "2",
          answer = "The tens: $4 + 7 + 1 = 12$, so 2, and 1 is carried.",
          hints = {
            { "it == 1", "That is carried to the hundreds." },
            { "it == 4", "That is from the ones." },
            { "it == 12", "That is its sum. One digit stays, the other is carried." },
            "What is $4 + 7 + 1$? Which of its digits stays in the tens?" } } },
      code = [[
        addition = roper.tasks.addition{max_digits = 2, length = 97, seed = 5}
        sum, steps = addition:question()
        sum
        steps]],
      claims = {
        { 'sum == "?d=49+75;" and steps:find("4e1+7e1+1e1==12e1", 1, true) ~= nil',
          instead = { "seed = 5", "seed = 4" } } } },
    { title = "The study's table",
      text = [[
        The study trains both methods ten times on each task, removes the worst run of each, and
        gives the mean of the other nine. Index and Addition are measured by correct answers of 128,
        after 5,000 steps of a model with 20 million parameters. Prefix is measured by the loss
        after 65,000 steps, with 0.6 million parameters: the mean of minus the logarithm of the
        probability of each next character, so less is better.

        The page also trains one language model of 200 million parameters with each method, and
        finds similar losses. Its charts show the loss of single runs, but no number says how much
        the results of runs differ. So we can read a difference from the table, but not whether
        other runs would show it again.

        `trim` below removes the worst of ten numbers, as the study does.]],
      predict = {
        { question = [[On Substring by Index, RoPE has 62.00 correct of 128 and RoPER 96.11. How
            many percentage points is that, of 128? (One digit after the point.)]],
          expect = "100 * (96.11 - 62.00) / 128",
          answer = "$34.11 / 128$ is 26.6 percentage points, the largest difference of the three.",
          hints = {
            { "math.abs(it - 34.11) < 0.1", "That is in problems. Divide by 128." },
            { "math.abs(it - 55) < 0.5", "That is relative to RoPE's 62. Divide by 128." },
            { "math.abs(it - 0.266) < 0.001", "Give it in percent." },
            "How many problems is it? How many are there?" } },
        { question = "What does removing the worst run do to the mean of correct answers?",
          choices = { "It raises it, or leaves it as it is.", "It lowers it.",
            "It depends on the method." },
          expect = 1,
          answer = [[The worst is at most as large as the mean, so the mean of the others is at
            least as large. The more the runs of a method vary, the more it gains.]],
          hints = {
            { "it == 2", "The smallest number is taken away. What happens to the mean?" },
            { "it == 3", "By how much depends on it. In which direction?" },
            "Take 10, 90, 100 and remove the smallest. What happens to the mean?" } } },
      code = [[
        published = {
          {"Arithmetic Addition, correct of 128", rope = 124.33, roper = 126.33},
          {"Substring by Index, correct of 128", rope = 62.00, roper = 96.11},
          {"Substring by Prefix, loss", rope = 0.3329, roper = 0.3205}}
        function trim(list, worst) return (roper.statistics.trim(list, worst)) end
        mean = roper.statistics.mean
        some = {12, 80, 85, 88, 90, 91, 93, 95, 96, 97}    -- an example
        mean(some), mean(trim(some, "smallest"))
        gain = mean(trim(some, "smallest")) - mean(some)
        index_gap = published[2].roper - published[2].rope
        prefix_gap = published[3].roper - published[3].rope]],
      claims = {
        { "gain > 0",
          instead = { '(trim(some, "smallest")) - mean', '(trim(some, "largest")) - mean' } },
        { "math.abs(index_gap - 34.11) < 1e-9", instead = { "roper = 96.11", "roper = 96" } },
        { "prefix_gap < 0", instead = { "published[3].roper - ", "" } } } },
    { title = "Repeated: Index",
      text = [[
        This project repeated the three tasks at a size that two cores train in minutes. Every run
        is recorded in scripts/experiments/pairs. Here is Index: 409,261 parameters, ten runs of
        each method, with the same ten seeds. A seed determines the first weights and the order of
        problems, so two runs with the same seed form a pair.

        After how many steps do 90 % of the characters of answers come out right? For each seed, the
        numbers are below. RoPER needs fewer in all ten pairs.

        Could that be chance? If the method did not matter, each difference could as well have had
        the other sign. So take all $2^{10}$ choices of signs, and count how many have a mean at
        least as far from 0 as the measured one. Their share is $p$. (The study makes five tests
        and corrects for that: $p$ and intervals of this lesson are those of single tests.)]],
      predict = {
        { question = [[For $n = 6$ pairs that all have the same sign, what is $p$? Only all plus and
            all minus are at least as far from 0.]],
          expect = "2 / 2 ^ 6",
          answer = [[$2/64 = 0.031$. With 6 pairs, no result can have a smaller $p$. With 5 it would
            be 0.0625: five pairs can never be below the usual 0.05.]],
          hints = {
            { "math.abs(it - 1 / 64) < 0.001", "That is one of the two: all plus. And all minus?" },
            { "it == 2", "That is how many. How many choices of signs are there?" },
            { "it == 64", "That is how many there are. How many of them are as extreme?" },
            { "math.abs(it - 1 / 6) < 0.01 or math.abs(it - 1 / 3) < 0.01",
              "Each of the 6 signs can be plus or minus: how many choices is that?" },
            "Of the 64 choices of signs, how many are at least as extreme?" } },
        { question = [[After 650 steps, RoPER has 36.0 more correct of 128 ($p = 0.035$). Training
            goes on to 1,300 steps. What would you expect?]],
          choices = { "The difference stays.", "It shrinks until it could be chance.",
            "It doubles." },
          expect = 2,
          answer = [[RoPE has 124.3 ± 1.3 then and RoPER 116.4 ± 4.5: RoPER - RoPE is -7.9, with a
            95 % interval from -19.5 to 3.3 ($p = 0.195$). So RoPER learned sooner here, but which
            of them ends better cannot be told from these runs. The figure shows how the difference
            comes and goes.]],
          hints = {
            { "it == 1", "RoPE is still learning at step 650. Look at the figure's end." },
            { "it == 3", "There are only 128 problems, and RoPER already solves 99.4." },
            "Is RoPE still learning after 650 steps?" } } },
      code = [[
        steps_to_90 = {
          rope = {525, 600, 675, 675, 575, 675, 575, 600, 625, 875},
          roper = {425, 475, 425, 525, 550, 300, 300, 500, 525, 650}}
        mean(steps_to_90.rope), mean(steps_to_90.roper)
        differences = {}
        for i = 1, 10 do
          differences[i] = steps_to_90.roper[i] - steps_to_90.rope[i]
        end
        mean(differences)
        p = roper.statistics.permutation_test(differences)
        p
        roper.statistics.interval(differences)
        accuracy = {
          step = {200, 300, 400, 500, 550, 600, 650, 700, 750, 800, 1000, 1300},
          rope = {0.242, 0.298, 0.356, 0.473, 0.621, 0.756, 0.879, 0.910,
            0.915, 0.923, 0.994, 0.999},
          roper = {0.263, 0.430, 0.527, 0.848, 0.913, 0.924, 0.977, 0.982,
            0.985, 0.986, 0.990, 0.991}}]],
      claims = {
        { "mean(differences) == -172.5", instead = { "300, 300,", "300, 400," } },
        { "math.abs(p - 0.002) < 0.0005", instead = { "300, 300,", "800, 900," } } },
      figure = {
        caption = [[Accuracy on the characters of answers, mean of ten runs each. RoPER rises
          sooner. At step 500 the difference is 0.375, at 1,300 it is gone. So the result depends on
          when training stops.]],
        draw = [[
          gaps = {}
          for i, value in ipairs(accuracy.roper) do gaps[i] = value - accuracy.rope[i] end
          return plot.line({{x = accuracy.step, y = accuracy.rope, label = "RoPE"},
            {x = accuracy.step, y = accuracy.roper, label = "RoPER"},
            {x = accuracy.step, y = gaps, label = "difference", thin = true}},
            {xlabel = "step", ylabel = "accuracy", format = format})]],
        claims = { { "math.abs(gaps[4] - 0.375) < 1e-9 and math.abs(gaps[12] + 0.008) < 1e-9",
          instead = { "value - accuracy.rope[i]", "value - 0.5" } } } } },
    { title = "Repeated: Prefix and Addition",
      text = [[
        Prefix: 398,085 parameters, 2,000 steps, six seeds. The loss of RoPER is lower for each of
        the six, by 0.0362 in the mean (95 % interval 0.0333 to 0.0388, $p = 0.031$). RoPE was still
        falling when training stopped, so the final difference is not known.

        Addition, with numbers of up to 4 digits: 600,212 parameters, five seeds. RoPE has 116.4 ±
        5.3 of 128 correct and RoPER 112.8 ± 7.0 ($p = 0.562$). After ± is the standard error of the
        mean: how far it is typically off, judged by how much the five runs differ.

        At the study's own size on Prefix, six pairs were trained for 6,000 steps with a falling
        rate (scripts/experiments/lead). After 600 steps, RoPER's loss is lower by 0.5565: RoPE's
        has hardly begun to fall. At the end, it is lower by 0.0065. For this change, $p = 0.031$;
        without one pair whose end was known beforehand, it is 0.062. The study has 0.3329 and
        0.3205 at its end.

        A language model of a million parameters was trained with three seeds. These runs were not
        recorded, so their losses are not given here.]],
      predict = {
        { question = "What do the runs of Addition show?",
          choices = { "RoPE adds better.", "Both add equally well.",
            "At this size, they cannot tell." },
          expect = 3,
          answer = [[The means differ by 3.6 problems, but runs of one method differ by more. And
            with five pairs, $p$ cannot be below 0.0625 anyway. That is not the same as "no
            difference": more pairs, or longer numbers, might show one.]],
          hints = {
            { "it == 1", "116.4 and 112.8, with errors of 5.3 and 7.0: is that a difference?" },
            { "it == 2", "A difference that these runs cannot show may still exist." },
            "By how much do the runs of one method differ?" } },
        { question = [[The language model has three pairs. What is the smallest $p$ that three pairs
            can give?]],
          expect = "2 / 2 ^ 3",
          answer = [[$2/8 = 0.25$. Whatever the three differences are, they cannot be significant.
            So three pairs neither show harm by RoPER nor rule it out.]],
          hints = {
            { "math.abs(it - 1 / 8) < 0.001", "That is all plus. All minus is as extreme." },
            { "math.abs(it - 0.031) < 0.001", "That is for six pairs." },
            "Of the $2^3$ choices of signs, two are the most extreme." } } },
      code = [[
        least = roper.statistics.least_p
        least(3), least(5), least(6), least(10)
        repeated = {
          {"Index, steps to 90 %", rope = "640.0 ± 30.6", roper = "467.5 ± 34.6",
            pairs = 10, p = 0.002},
          {"Index, correct after 650 steps", rope = "63.4 ± 13.2",
            roper = "99.4 ± 5.4", pairs = 10, p = 0.035},
          {"Index, correct after 1,300 steps", rope = "124.3 ± 1.3",
            roper = "116.4 ± 4.5", pairs = 10, p = 0.195},
          {"Prefix, loss after 2,000 steps", rope = "0.5245 ± 0.0009",
            roper = "0.4883 ± 0.0005", pairs = 6, p = 0.031},
          {"Addition, correct", rope = "116.4 ± 5.3", roper = "112.8 ± 7.0",
            pairs = 5, p = 0.5625}}
        possible = 0                     -- how many p are at least the smallest
        for _, row in ipairs(repeated) do
          possible = possible + (row.p > least(row.pairs) - 0.0005 and 1 or 0)
        end
        paper_gap, our_gap = 0.3329 - 0.3205, 0.0065]],
      claims = {
        { "possible == #repeated", instead = { "pairs = 6", "pairs = 5" } },
        { "our_gap < paper_gap", instead = { "0.0065", "0.065" } } },
      exercise = {
        question = [[You plan your own comparison of two methods, and want to be able to find
          $p < 0.01$. How many pairs of runs do you need at least?]],
        expect = "8", within = 0,
        answer = [[8: $2^{-7} = 0.0078$. With 7 it is 0.0156. And that is only enough if all eight
          agree. Two more things count: say before the first run what you will measure and when
          training stops, and report the runs that show nothing.]],
        hints = {
          { "it == 7", "That gives $2^{-6} = 0.0156$. One more." },
          { "it == 100", "That would be enough, but far fewer are possible." },
          { "it == 6", "That gives 0.031." },
          "The smallest $p$ of $n$ pairs is $2/2^n$. For which $n$ is it below 0.01?" } } },
    { title = "What the results say",
      text = [[
        In these runs, RoPER learned two of three tasks sooner; on the third, no difference was
        found. Corrected for five tests, only the steps to 90 % on Index differ significantly.
        The study agrees where the two can be compared. None of this says that RoPER ends better:
        on Index the difference is gone when both have learned the task, and on Prefix at the
        study's size it is far smaller at the end than at a tenth of the steps.

        Four limits hold for all of them. The sizes and the numbers of steps were chosen after
        seeing earlier runs. There is one learning rate. The norms are before each part of a layer,
        where the study has them after it on two tasks. And the models are 33 to 49 times smaller
        than the study's on Addition and Index.

        `why-values` shows what RoPER's output can express. These runs show what small models made
        of it. Neither replaces the other. The next step is yours: `./roper sweep substring_index
        position=rope,roper seed=1..10` repeats the runs of Index.]],
      predict = {
        question = "Which statement do the runs support?",
        choices = { "RoPER is better than RoPE.",
          "On Index, small models with RoPER reach 90 % in fewer steps than with RoPE.",
          "RoPE and RoPER are equal in the end." },
        expect = 2,
        answer = [[It names the task, the size, the measure and the direction, and ten pairs give
          $p = 0.002$. The first says more than was measured. The third takes "cannot tell" for
          "equal".]],
        hints = {
          { "it == 1", "On which task, at which size, by which measure?" },
          { "it == 3", "The interval after 1,300 steps contains -19 as well as 0." },
          "Which of them names what was measured?" } },
      code = [[
        sooner = 0
        for _, difference in ipairs(differences) do
          sooner = sooner + (difference < 0 and 1 or 0)
        end
        sooner, #differences]],
      claims = { { "sooner == 10", instead = { "difference < 0", "difference > 0" } } } },
  },
}
