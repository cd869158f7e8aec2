local file = require("roper.base.file")
local scratch = require("tests.scratch")
local sessions = require("tests.sessions")

local COLUMNS <const>, ROWS <const> = 80, 24

-- Input of a newcomer in the first hour, and its output; true if the output must only fit on the
-- terminal, with the prompt after it.
local HOUR <const> = {
  ["rotation and attention"] = {
    { "q = roper.randn{1, 1, 6, 4}", "" },
    { "rope = roper.position.rope{dim = 4}", "" },
    { "twice = rope:rotate(rope:rotate(q, 1), 2)", "" },
    { "(rope:rotate(q, 3) - twice):abs():max():item() < 1e-6", "true\n" },
    { "back = rope:unrotate(rope:rotate(q, -1.5), -1.5)", "" },
    { "(back - q):abs():max():item() < 1e-6", "true\n" },
    { "rope:rotate(q, {0, 1, 2, 3, 4, 5}):shape()", "{1, 1, 6, 4}\n" },
    { "roper.position.rope{dim = 2, frequencies = {2}}:matrix(0)", "float64 [2, 2]\n1 0\n0 1\n" },
    { 'how = {position = "roper", causal = true, weights = true}', "" },
    { "out, weights = roper.attention(q, q, q, how)", "" },
    { "plain = roper.eager.attention(q, q, q, how)", "" },
    { "(plain - out):abs():max():item() < 1e-6", "true\n" },
    { "roper.oracle.attention(q, q, q, how):dtype()", '"float64"\n' },
    { "rotary = {position = rope, causal = true}", "" },
    { "roper.linear_attention(q, q, q, rotary):shape()", "{1, 1, 6, 4}\n" },
    { "plot.heatmap(weights[1][1])", true },
    { "plot.heatmap(roper.randn(200, 200))", true },
    { 'plot.heatmap(weights[1][1], "weights.svg")', '"weights.svg"\n' },
    { 'plot.position{"rope", "alibi", "yarn"}', true },
    { "roper.position.list()", true },
    { 'roper.position.describe "yarn"', true },
    { "roper.attention(q, q, q, {postion = rope})", "error: attention: unknown option postion; did "
      .. "you mean \"position\"? It takes position, causal, bias, mask, first, dropout, seed, "
      .. "scale, offset, positions, query_positions, key_positions, weights\n" },
    { "who", true },
  },
  ["tensors"] = {
    { 'x = roper.tensor({{1, 2}, {3, 4}}, "float64")', "" },
    { "x:shape(), x:dtype()", '{2, 2}\t"float64"\n' },
    { "x[1], x[{1, 2}], x[{{1, 2}, 2}]",
      "float64 [2]\n1 2\n2 (float64)\nfloat64 [2]\n2 4\n" },
    { "x:view{4}, x:transpose(1, 2)", "float64 [4]\n1 2 3 4\nfloat64 [2, 2]\n1 3\n2 4\n" },
    { "x:narrow(1, 1, 1)", "float64 [1, 2]\n1 2\n" },
    { 'roper.save("x.npy", x)', "" },
    { 'roper.load "x.npy" == x', "true\n" },
    { "x[x:gt(3)] = 0", "" },
    { 'x[roper.tensor({2, 1}, "int32")]', "float64 [2, 2]\n3 0\n1 2\n" },
    { "x[1][2] == 2, x[1][2], x[1][2]:item() == 2", "false\t2 (float64)\ttrue\n" },
    { "x:std(), x:clamp(0, 1)", "1.291 (float64)\nfloat64 [2, 2]\n1 1\n1 0\n" },
    { "roper.arange(0, 10):topk(2)", "float32 [2]\n9 8\nint32 [2]\n10  9\n" },
    { "y = roper.tensor{{3, 1}, {2, 5}}", "" },
    { "y:var(), y:norm(1)", "2.9167 (float32)\t11 (float32)\n" },
    { "y:sort(2), y:flip(1)", true },
    { "y:tril(), y:triu()", "float32 [2, 2]\n3 0\n2 5\nfloat32 [2, 2]\n3 1\n0 5\n" },
    { "y:roll(1, 2), y:cumsum(1)", "float32 [2, 2]\n1 3\n5 2\nfloat32 [2, 2]\n3 1\n5 6\n" },
    { "y[1]:outer(y[2]), y % 2", "float32 [2, 2]\n 6 15\n 2  5\nfloat32 [2, 2]\n1 1\n0 1\n" },
    { "y:prod():item(), y:isnan():any(), y:isfinite():all()", "30.0\tfalse\ttrue\n" },
    { "roper.full({2}, 7), roper.zeros_like(y[1]), roper.ones_like(y[1])",
      "float32 [2]\n7 7\nfloat32 [2]\n0 0\nfloat32 [2]\n1 1\n" },
    { "y:unsqueeze(1):shape(), y:unsqueeze(1):squeeze():shape()", "{1, 2, 2}\t{2, 2}\n" },
    { "y:reshape(4)", "float32 [4]\n3 1 2 5\n" },
    { 'roper.einsum("ij,jk->ik", y, y) == y:matmul(y)', "true\n" },
    { "roper.ones{2, 3, 4}:sum{1, 3}", "float32 [3]\n8 8 8\n" },
    { 'roper.ones(2) + roper.tensor({1, 2}, "int32")', "float32 [2]\n2 3\n" },
    { "roper.ones(2) + x",
      "error: add: expected the same dtype, got float32 and float64; convert one with :to()\n" },
    { "x.T", "error: a tensor has no field \"T\"; PyTorch's x.T is x:transpose(1, 2) here\n" },
    { "roper.randn{2, foo = 1}",
      "error: bad argument #1 to 'randn' (unknown field foo of a list; it takes dtype)\n" },
    { "roper.gradcheck(function(a) return a:exp():sum() end, {x})", true },
    { "?item", true },
    { "?pytorch", true, is_long = true },
    { "?roper.attention", true, is_long = true },
    { "?", true },
    { 'apropos "temperature"', true },
  },
  ["tasks and models"] = {
    { "task = roper.tasks.addition{max_digits = 8, length = 641, seed = 1}", "" },
    { "tokens = task:batch(2)", "" },
    { "tokens:shape(), tokens:dtype()", '{2, 641}\t"int32"\n' },
    { "#task:decode(tokens[1])", "641\n" },
    { "question, answer = task:question()", "" },
    { "task:grade(question, answer)", "true\n" },
    { "task:floor() > 0", "true\n" },
    { "task = roper.tasks.copy{length = 33, letters = 4, seed = 1}", "" },
    { "how = {vocabulary = task:vocabulary(), d_model = 16, layers = 2}", "" },
    { 'roper.nn.Transformer{vocabulary = 9, position = {"rope", "none"}}:count() > 0', "true\n" },
    { 'how.heads, how.position = 2, "roper"', "" },
    { "model = roper.nn.Transformer(how)", "" },
    { "model", true },
    { "model:trace(task:batch(1))", true, is_long = true },
    { 'model:save "m.safetensors"', "" },
    { 'roper.load("m.safetensors"):count() == model:count()', "true\n" },
    { "question = task:question()", "" },
    { "#roper.generate(model, {question}, {task = task, limit = 3})", "1\n" },
    { 'roper.matmul_precision "bfloat16"', true }, -- with a note if it is slow here
  },
}

describe("the first hour", function()
  setup(scratch.create)
  teardown(scratch.remove)

  for about, lines in pairs(HOUR) do
    it("fits " .. about .. " on a terminal of 80 columns and 24 rows", function()
      local folder = scratch.path(about:gsub(" ", "-"))
      file.make(folder)
      local screen = sessions.start(sessions.newcomer({ PAGER = "cat" }), ("cd '%s' && "
        .. "stty cols %d rows %d && '%s/roper'"):format(folder, COLUMNS, ROWS,
        require("luv").cwd()))
      for _, line in ipairs(lines) do
        screen:type(line[1] .. "\r")
        screen:expect(line[1] .. "\n")
        local shown = screen:expect("> ")
        while shown ~= "" and shown:sub(-1) ~= "\n" do
          shown = shown .. "> " .. screen:expect("> ")
        end
        if line[2] ~= true then
          assert.equal(line[2], shown, line[1])
        else
          local count = 0
          for row in shown:gmatch("([^\n]*)\n") do
            count = count + 1
            assert.is_true(utf8.len(row) <= COLUMNS, row)
          end
          assert.is_true(count > 0 and (line.is_long or count < ROWS), line[1] .. "\n" .. shown)
          assert.falsy(shown:find("error:", 1, true), shown)
        end
      end
      sessions.leave(screen)
    end)
  end
end)
