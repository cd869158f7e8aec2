--- Translations from PyTorch and Python, for the page `?pytorch` and the hints of habits.lua. The
--- tests compare the results of the rows with those of PyTorch.
local d = require "roper.text.document"
local tables = require "roper.base.tables"

local M = {}

---@class Translation
---@field [1] string in Python
---@field [2] string in Lua
---@field language? string "PyTorch" by default
---@field note? string
---@field syntax? string pattern of lines with this Python syntax, which do not compile in Lua
---@field kind? "indices"|"random"|"other" how the tests compare the results, by default by value.
---   indices: those of Lua count from 1; random: only the shapes; other: not at all

---@class Translations
---@field title string
---@field rows Translation[]

--- The variables in the rows.
M.NAMES = [[
x, y = roper.tensor{{1, 5, 3}, {7, 2, 6}}, roper.tensor{{2, 0, 1}, {4, 4, 4}}
v, s = roper.tensor{3, 1, 2}, roper.tensor{{1, 2}, {3, 4}}
i = roper.tensor({2, 1}, "int32")               -- indices, from 1
j = roper.tensor({{3}, {1}}, "int32")
t = roper.tensor({2, 0}, "int32")               -- tokens or classes, from 0
w, b = roper.ones(2, 3):parameter(), roper.zeros(2)
n, list = 2, {5, 6}
]]

--- Names under which Python programs usually import modules.
M.modules = { torch = true, nn = true, F = true, optim = true, np = true, numpy = true, plt = true }

local DEVICE <const> = "all tensors are on the CPU"

--- All rows.
---@type Translations[]
M.groups = {
  { title = "New tensors", rows = {
    { "torch.tensor([[1., 2.], [3., 4.]])", "roper.tensor{{1, 2}, {3, 4}}" },
    { "torch.tensor([1, 2])", 'roper.tensor({1, 2}, "int32")' },
    { "np.array([1, 2])", "roper.tensor{1, 2}", kind = "other" },
    { "torch.zeros(2, 3)", "roper.zeros(2, 3)" },
    { "torch.ones((2, 3), dtype=torch.float64)", 'roper.ones({2, 3}, "float64")' },
    { "torch.full((2, 3), 7.)", "roper.full({2, 3}, 7)" },
    { "torch.zeros_like(x)", "roper.zeros_like(x)" },
    { "torch.ones_like(x)", "roper.ones_like(x)" },
    { "torch.eye(3)", "roper.eye(3)" },
    { "torch.arange(5.)", "roper.arange(0, 5)" },
    { "torch.arange(5)", 'roper.arange(0, 5, 1, "int32")' },
    { "torch.linspace(0, 1, 5)", "roper.linspace(0, 1, 5)" },
    { "torch.rand(2, 3)", "roper.rand(2, 3)", kind = "random" },
    { "torch.randn(2, 3)", "roper.randn(2, 3)", kind = "random" },
    { "torch.randint(0, 10, (3,))", "roper.randint(0, 9, {3})", kind = "random" },
    { "torch.manual_seed(1)", "roper.seed(1)", kind = "other" },
    { "x.clone()", "x:clone()" },
    { "x.detach()", "x:detach()" },
  } },
  { title = "Shape, type and value", rows = {
    { "x.shape", "x:shape()" },
    { "x.size()", "x:shape()" },
    { "x.size(0)", "x:size(1)" },
    { "len(x)", "#x" },
    { "x.dim()", "x:rank()" },
    { "x.ndim", "x:rank()" },
    { "x.numel()", "x:numel()" },
    { "x.dtype", "x:dtype()", kind = "other" },
    { "x.double()", 'x:to "float64"' },
    { "x.float()", 'x:to "float32"' },
    { "x.int()", 'x:to "int32"' },
    { "x.long()", 'x:to "int32"' },
    { "x.tolist()", "x:totable()" },
    { "x.numpy()", "x:totable()" },
    { "x.cuda(), x.cpu(), x.device", "x", kind = "other", note = DEVICE },
    { "x.to('cuda')", "x", kind = "other", note = DEVICE },
    { "x.requires_grad", "x:is_parameter()", kind = "other" },
    { "x.requires_grad_()", "x:parameter()", kind = "other" },
    { "x[0, 1].item()", "x[{1, 2}]:item()" },
    { "x.is_contiguous()", "x:is_contiguous()" },
  } },
  { title = "Indexing", rows = {
    { "x[0]", "x[1]" },
    { "x[-1]", "x[-1]" },
    { "x[0, 1]", "x[{1, 2}]", syntax = "[%w_)]%[%s*%-?[%w_]+%s*,[^:%]]*%]" },
    { "x[:, 1]", "x[{{}, 2}]", syntax = "%[%s*:%s*,%s*%-?[%w_]+%s*%]" },
    { "x[:, 0:2]", "x[{{}, {1, 2}}]", syntax = "%[[^%]]*%d:%d" },
    { "x[:, 1:]", "x[{{}, {2, -1}}]", syntax = "%[[^%]]*:" },
    { "x[i]", "x[i]" },
    { "x[:, i]", "x[{{}, i}]" },
    { "x[torch.arange(2), i]", 'x[{roper.arange(1, 3, 1, "int32"), i}]' },
    { "x[x > 4]", "x[x:gt(4)]" },
    { "x[(x > 1) & ~(x > 5)]", "x[x:gt(1) & ~x:gt(5)]" },
    { "x.index_select(1, i)", "x:index_select(2, i)" },
    { "x.gather(1, j)", "x:gather(2, j)" },
    { "torch.where(x > y, x, y)", "roper.where(x:gt(y), x, y)" },
    { "x.masked_fill(x > 5, 0)", "roper.where(x:gt(5), 0, x)" },
    { "x[x > 5] = 0", "x[x:gt(5)] = 0" },
    { "x[:, i] = 0", "x[{{}, i}] = 0" },
    { "x[0] = v", "x[1] = v" },
    { "x.copy_(y)", "x:copy(y)" },
    { "x.zero_()", "x:fill(0)" },
    { "x += 1", "x:copy(x + 1)" },
    { "x.add_(1)", "x:copy(x + 1)" },
  } },
  { title = "Shapes", rows = {
    { "x.view(3, 2)", "x:view(3, 2)" },
    { "x.reshape(-1)", "x:reshape(-1)" },
    { "x.flatten()", "x:view(-1)" },
    { "x.T", "x:transpose(1, 2)" },
    { "x.t()", "x:transpose(1, 2)" },
    { "x.permute(1, 0)", "x:permute(2, 1)" },
    { "x.unsqueeze(0)", "x:unsqueeze(1)" },
    { "x[:1].squeeze()", "x[{{1, 1}}]:squeeze()" },
    { "v.expand(2, 3)", "v:expand(2, 3)" },
    { "x.repeat(2, 1)", "roper.cat({x, x}, 1)", syntax = "%.repeat%f[^%w_]" },
    { "torch.cat([x, y], dim=1)", "roper.cat({x, y}, 2)" },
    { "torch.stack([x, y])", "roper.stack{x, y}" },
    { "x.narrow(1, 0, 2)", "x:narrow(2, 1, 2)" },
    { "x.chunk(3, dim=1)[0]", "x:narrow(2, 1, 1)" },
    { "x.flip(1)", "x:flip(2)" },
    { "x.roll(1, 1)", "x:roll(1, 2)" },
    { "x.tril(), x.triu(1)", "x:tril(), x:triu(1)" },
    { "s.diagonal()", 'roper.einsum("ii->i", s)' },
    { "x.contiguous()", "x:contiguous()" },
  } },
  { title = "Arithmetic", rows = {
    { "x * y + 1", "x * y + 1" },
    { "x ** 2", "x ^ 2", syntax = "%*%*" },
    { "x % 2", "x % 2" },
    { "x @ y.T", "x:matmul(y:transpose(1, 2))", syntax = "@" },
    { "x.mm(y.T)", "x:matmul(y:transpose(1, 2))" },
    { "torch.einsum('ij,kj->ik', x, y)", 'roper.einsum("ij,kj->ik", x, y)' },
    { "torch.outer(v, v)", "v:outer(v)" },
    { "torch.dot(v, v)", "(v * v):sum()" },
    { "x.exp().log().abs().sqrt()", "x:exp():log():abs():sqrt()" },
    { "x.sin(), x.tanh(), x.sigmoid()", "x:sin(), x:tanh(), x:sigmoid()" },
    { "x.clamp(0, 4)", "x:clamp(0, 4)" },
    { "torch.maximum(x, y)", "roper.maximum(x, y)" },
  } },
  { title = "Along axes", rows = {
    { "x.sum()", "x:sum()" },
    { "x.sum(0)", "x:sum(1)" },
    { "x.sum((0, 1))", "x:sum{1, 2}" },
    { "x.mean(1, keepdim=True)", "x:mean(2, true)" },
    { "x.std(1)", "x:std(2)" },
    { "x.var(1, unbiased=False)", "x:var(2, false, 0)" },
    { "x.norm()", "x:norm()" },
    { "x.norm(dim=1)", "x:norm(2, 2)" },
    { "x.prod(1)", "x:prod(2)" },
    { "x.max()", "x:max()" },
    { "x.max(1).values", "x:max(2)" },
    { "x.argmax(1)", "x:argmax(2)", kind = "indices" },
    { "x.cumsum(1)", "x:cumsum(2)" },
    { "x.sort(1).values", "x:sort(2)" },
    { "x.argsort(1)", "x:argsort(2)", kind = "indices" },
    { "x.topk(2).values", "x:topk(2)" },
    { "(x > 4).any()", "x:gt(4):any()" },
    { "(x > 4).all(1)", "x:gt(4):all(2)" },
  } },
  { title = "Comparisons", rows = {
    { "x > 4, x == y", "x:gt(4), x:eq(y)" },
    { "x[0, 0] == 1", "x[{1, 1}]:item() == 1" },
    { "x.sum() > 3", "x:sum() > 3" },
    { "torch.equal(x, y)", "x == y" },
    { "torch.allclose(x, y, 0, 1e-5)", "(x - y):abs():le(1e-5):all()" },
    { "torch.isnan(x), torch.isfinite(x)", "x:isnan(), x:isfinite()" },
  } },
  { title = "Gradients", rows = {
    { "torch.ones(3, requires_grad=True)", "roper.ones(3):parameter()" },
    { "(w * x).sum().backward(); w.grad", "(w * x):sum():backward(); return w.grad" },
    { "w.grad = None", "w.grad = nil", kind = "other" },
    { "with torch.no_grad(): y = w * x", "roper.no_grad(function() y = w * x end)",
      kind = "other" },
    { "torch.autograd.Function", "roper.differentiable", kind = "other" },
    { "torch.autograd.gradcheck(torch.sin, w)", "roper.gradcheck(roper.sin, {w})",
      kind = "other" },
  } },
  { title = "Networks", rows = {
    { "F.relu(x), F.gelu(x)", "x:relu(), x:gelu()" },
    { "F.gelu(x, approximate=\"tanh\")", "x:gelu_tanh()" },
    { "F.softmax(x, dim=1)", "x:softmax(2)" },
    { "F.log_softmax(x, dim=0)", "x:log_softmax(1)" },
    { "F.linear(x, w, b)", "roper.linear(x, w, b)" },
    { "F.layer_norm(x, (3,), v, v)", "roper.layer_norm(x, v, v)" },
    { "F.conv1d(x, w, padding=1, groups=3)",
      "roper.causal_convolution(x:unsqueeze(1), w:transpose(1, 2))", kind = "other" },
    { "F.embedding(t, s.repeat(2, 1))", "roper.embedding(roper.cat{s, s}, t)" },
    { "F.cross_entropy(x, t)", "roper.cross_entropy(x, t)" },
    { "F.mse_loss(x, y)", "(x - y):square():mean()" },
    { "F.dropout(x, 0.5)", "roper.dropout(x, 0.5)", kind = "random" },
    { "nn.ReLU()(x), nn.GELU()(x)", "roper.nn.ReLU()(x), roper.nn.GELU()(x)" },
    { "nn.Dropout(0.1)(x)", "roper.nn.Dropout{p = 0.1}(x)", kind = "random" },
    { "nn.Sequential(nn.ReLU())(x)", "roper.nn.Sequential{roper.nn.ReLU()}(x)" },
    { "nn.Linear(3, 2)(x)", "roper.nn.Linear{inputs = 3, outputs = 2}(x)", kind = "random" },
    { "nn.LayerNorm(3)(x)", "roper.nn.LayerNorm{features = 3}(x)" },
    { "nn.Embedding(9, 4)(t)", "roper.nn.Embedding{count = 9, features = 4}(t)", kind = "random" },
    { "class Net(nn.Module): ...", 'Net = roper.nn.class "Net"', kind = "other" },
    { "model.state_dict()", "model:named_parameters()", kind = "other" },
    { "list(model.parameters())", "model:parameters()", kind = "other" },
    { "model.zero_grad()", "model:zero_gradients()", kind = "other" },
    { "adam.zero_grad()", "model:zero_gradients()", kind = "other" },
    { "model.register_forward_hook(f)", "model:with_hooks({Linear = print}, model, x)",
      kind = "other" },
    { "outputs of all modules", "model:trace(x)", kind = "other" },
    { "torch.optim.Adam([w], lr=1e-3)", "adam = roper.optim.Adam{rate = 1e-3}", kind = "other" },
    { "torch.optim.AdamW([w], lr=1e-3)", "adam = roper.optim.AdamW{rate = 1e-3}", kind = "other" },
    { "torch.optim.SGD([w], lr=1e-2)", "sgd = roper.optim.SGD{rate = 1e-2}", kind = "other" },
    { "adam.step()", "adam:step{w}", kind = "other" },
    { "F.scaled_dot_product_attention(q, k, k)", "roper.attention(q, k, k)", kind = "other" },
    { "torch.save(x, PATH)", "roper.save(PATH, x)", kind = "other" },
    { "torch.load(PATH)", "roper.load(PATH)", kind = "other" },
    { "model.train(), model.eval()", "model:training(), model:training(false)", kind = "other" },
    { "torch.save(model.state_dict(), PATH)", "model:save(PATH)", kind = "other" },
    { "model.load_state_dict(torch.load(PATH))", "model:load(PATH)", kind = "other" },
    { "AutoModelForCausalLM.from_pretrained(FOLDER)", "roper.import(FOLDER)", kind = "other" },
    { "plt.imshow(x)", "plot.heatmap(x)", kind = "other" },
    { "plt.plot(v)", "plot.line(v)", kind = "other" },
  } },
  { title = "Python and Lua", rows = {
    { "# a comment", "-- a comment", syntax = "^%s*#" },
    { "n  # a comment", "n -- a comment", syntax = "%s#%s" },
    { "import torch", 'roper = require "roper"', syntax = "^%s*import%s" },
    { "from torch import nn", "nn = roper.nn", syntax = "^%s*from%s" },
    { "True, False, None", "true, false, nil" },
    { "[1, 2, 3]", "{1, 2, 3}", syntax = "%f[%[]%[%s*['\"%d%-.%]]" },
    { "{'a': 1}", "{a = 1}", syntax = "{[^}]*:" },
    { "n != 3", "n ~= 3", syntax = "!=" },
    { "n += 1", "n = n + 1", syntax = "[-+*/]=" },
    { "x is None", "x == nil", syntax = "%sis%s" },
    { "1 if n > 2 else 0", "n > 2 and 1 or 0", syntax = "%sif%s.*%selse%s" },
    { "def twice(n): return 2 * n", "function twice(n) return 2 * n end", syntax = "^%s*def%s" },
    { "lambda n: 2 * n", "function(n) return 2 * n end", syntax = "%f[%w_]lambda%f[^%w_]" },
    { "class Net(nn.Module): pass", 'Net = roper.nn.class "Net"', syntax = "^%s*class%s" },
    { "for k in range(3): print(k)", "for k = 0, 2 do print(k) end",
      syntax = "^%s*for%s.*%sin%s+range" },
    { "for v in list: print(v)", "for _, v in ipairs(list) do print(v) end",
      syntax = "^%s*for%s.*%sin%s.*:" },
    { "while n < 3: n *= 2", "while n < 3 do n = n * 2 end", syntax = "^%s*while%s.*:" },
    { "if n: print(n)", "if n then print(n) end", syntax = "^%s*if%s.*:" },
    { "elif n:", "if n < 2 then n = 2 elseif n then n = 1 end", syntax = "^%s*elif%s" },
    { "with open(PATH) as f:", "f = io.open(PATH)", syntax = "^%s*with%s" },
    { "try: risky()", "ok, message = pcall(risky)", syntax = "^%s*try%s*:" },
    { "print(f'n = {n}')", "print(('n = %d'):format(n))" },
    { "str(n), int(n), float(n)", "tostring(n), math.tointeger(n), n + 0.0" },
    { "abs(n), min(n, 3), max(n, 3)", "math.abs(n), math.min(n, 3), math.max(n, 3)" },
    { "range(3)", "for k = 0, 2 do print(k) end" },
    { "enumerate(list)", "ipairs(list)" },
    { "list.append(7)", "table.insert(list, 7)" },
    { "isinstance(x, torch.Tensor)", "roper.format.is_tensor(x)" },
    { "del x", "x = nil", syntax = "^%s*del%s" },
    { "null", "nil" },
  } },
}
for _, row in ipairs(M.groups[#M.groups].rows) do
  row.language, row.kind = "Python", "other"
end

---@class StorageRow
---@field [1] string expressions in Lua
---@field [2] "shares"|"copies" whether writing to their results changes the tensors in them
---@field [3]? string

--- Which operations share the storage of their argument.
---@type StorageRow[]
M.storage = {
  { "x[1], x[-1], x[{{}, {1, 2}}]", "shares" },
  { "x:transpose(1, 2), x:permute(2, 1)", "shares" },
  { "x:narrow(2, 1, 2), v:expand(2, 3)", "shares" },
  { "x:squeeze(), x:unsqueeze(1)", "shares" },
  { "x:view(3, 2), x:reshape(-1)", "shares", "if the strides allow a view" },
  { "x:transpose(1, 2):view(-1)", "copies", "otherwise" },
  { "x:as_strided({2}, {3})", "shares", "if x is contiguous" },
  { "x:transpose(1, 2):as_strided({2}, {3})", "copies", "otherwise" },
  { "x:detach(), x:parameter()", "shares" },
  { "x:contiguous()", "shares", "x itself, if it is contiguous" },
  { "x:transpose(1, 2):contiguous()", "copies", "otherwise" },
  { 'x:to "float32"', "shares", "x itself, if it has this dtype" },
  { 'x:to "float64"', "copies", "otherwise" },
  { "roper.nn.Dropout{p = 0}(x)", "shares", "x itself: the module changes nothing" },
  { "x:clone(), roper.tensor(x)", "copies" },
  { "x[i], x[x:gt(0)]", "copies" },
  { "x:flip(2), x:roll(1, 1)", "copies" },
  { 'roper.einsum("ij->ji", x)', "copies", "PyTorch: shares" },
  { 'roper.einsum("ii->i", s)', "copies", "PyTorch: shares, as diagonal" },
  { "roper.cat({x}, 1), roper.stack{x}", "copies" },
  { "x[{{1, 1}}]:sum(1)", "copies", "all reductions" },
  { "x[{{1, 1}}]:prod(1)", "copies" },
  { "x + 0, x:clamp(0), roper.dropout(x, 0)", "copies", "all arithmetic" },
}

local HEAD <const> = [[
Axes and indices count from 1, and ranges include their end; tokens, classes and positions count
from 0. Index tensors are int32. Comparisons return masks; `x:ne(0)` converts zeros and ones to a
mask. `x:f(y)` is the same as `roper.f(x, y)` if both exist. Every tensor is true in an `if`;
`x:any()` and `x:all()` without an axis return booleans. Variables in the rows:]]

local STORAGE <const> = [[
Writing to the result of an operation that shares storage changes its argument. Operations that are
not in this table return new storage, even if they change nothing.]]

--- The page `?pytorch`.
---@return table tree
function M.page()
  return { d.heading "From PyTorch", d.paragraph(d.prose(HEAD)), d.listing(M.NAMES:sub(1, -2)),
    tables.map(M.groups, function(group)
      return { d.heading(group.title, 3), d.table { sides = "ll",
        rows = tables.map(group.rows, function(row)
          return { row[1], row[2] .. (row.note and "  -- " .. row.note or "") }
        end) } }
    end),
    d.heading("Shared storage and copies", 3), d.paragraph(d.prose(STORAGE)),
    d.table { sides = "lll", rows = tables.map(M.storage, function(row)
      return { row[1], row[2], row[3] or "" }
    end) } }
end

return M
