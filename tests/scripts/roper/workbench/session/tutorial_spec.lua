local scratch = require("tests.scratch")
local sessions = require("tests.sessions")

-- The first chapter of a PyTorch tutorial: its lines in Python, and the lines of a session with
-- their output. An incomplete line prints nothing.
local CHAPTER <const> = {
  { title = "tensors from data, and what they are", torch = [=[
data = [[1, 2], [3, 4]]
x = torch.tensor(data)
print(x)
print(x.shape, x.dtype)
]=], here = {
    { "data = {{1, 2}, {3, 4}}", "" },
    { "x = roper.tensor(data)", "" },
    { "x", "float32 [2, 2]\n1 2\n3 4\n" },
    { "x:shape(), x:dtype()", '{2, 2}\t"float32"\n' },
  } },
  { title = "tensors like others, of constants and of random numbers", torch = [=[
torch.manual_seed(0)
ones, zeros = torch.ones_like(x), torch.zeros(2, 3)
noise = torch.randn(2, 3)
print(ones, zeros, noise.shape)
]=], here = {
    { "roper.seed(0)", "" },
    { "ones, zeros = roper.ones_like(x), roper.zeros(2, 3)", "" },
    { "noise = roper.randn(2, 3)", "" },
    { "ones, zeros, noise:shape()", "float32 [2, 2]\n1 1\n1 1\nfloat32 [2, 3]\n0 0 0\n0 0 0\n"
      .. "{2, 3}\n" },
  } },
  { title = "indexing and slicing", torch = [=[
x = torch.ones(3, 4)
x[:, 1] = 0
x[0, 2:] = 5
x[x > 4] = 7
print(x[0], x[:, -1])
]=], here = {
    { "x = roper.ones(3, 4)", "" },
    { "x[{{}, 2}] = 0", "" },
    { "x[{1, {3, -1}}] = 5", "" },
    { "x[x:gt(4)] = 7", "" },
    { "x[1], x[{{}, -1}]", "float32 [4]\n1 0 7 7\nfloat32 [3]\n7 1 1\n" },
  } },
  { title = "joining and reshaping", torch = [=[
y = torch.cat([x, x], dim=1)
print(y.shape, torch.stack([x, x]).shape)
print(x.reshape(2, -1).shape, x.unsqueeze(0).shape)
]=], here = {
    { "y = roper.cat({x, x}, 2)", "" },
    { "y:shape(), roper.stack{x, x}:shape()", "{3, 8}\t{2, 3, 4}\n" },
    { "x:reshape(2, -1):shape(), x:unsqueeze(1):shape()", "{2, 6}\t{1, 3, 4}\n" },
  } },
  { title = "arithmetic and products of matrices", torch = [=[
a = torch.tensor([[1., 2.], [3., 4.]])
print(a @ a.T)
print(a * a % 3)
print(torch.einsum("ij,ij->i", a, a))
]=], here = {
    { "a = roper.tensor{{1, 2}, {3, 4}}", "" },
    { "a:matmul(a:transpose(1, 2))", "float32 [2, 2]\n 5 11\n11 25\n" },
    { "a * a % 3", "float32 [2, 2]\n1 1\n0 1\n" },
    { 'roper.einsum("ij,ij->i", a, a)', "float32 [2]\n 5 25\n" },
  } },
  { title = "single numbers, and sums along axes", torch = [=[
total = a.sum()
print(total, total.item() == 10)
print(a.mean(0), a.std())
values, places = a.max(1)
]=], here = {
    { "total = a:sum()", "" },
    { "total, total:item() == 10", "10 (float32)\ttrue\n" },
    { "a:mean(1), a:std()", "float32 [2]\n2 3\n1.291 (float32)\n" },
    { "values, places = a:max(2), a:argmax(2)", "" },
  } },
  { title = "gradients", torch = [=[
x, y = torch.ones(5), torch.zeros(3)
w = torch.zeros(5, 3, requires_grad=True)
loss = (x @ w - y + 1).pow(2).sum()
loss.backward()
print(loss, w.grad[0])
]=], here = {
    { "x, y = roper.ones(1, 5), roper.zeros(3)", "" },
    { "w = roper.zeros(5, 3):parameter()", "" },
    { "loss = (x:matmul(w) - y + 1):pow(2):sum()", "" },
    { "loss:backward()", "" },
    { "loss, w.grad[1]", "3 (float32)\nfloat32 [3]\n2 2 2\n" },
  } },
  { title = "a net of two layers on a toy problem", torch = [=[
x = torch.tensor([[-1., -1], [-1, 1], [1, -1], [1, 1]])
y = torch.tensor([0, 1, 1, 0])
w1 = torch.randn(2, 16, requires_grad=True)
w2 = torch.randn(16, 2, requires_grad=True)
optimizer = torch.optim.Adam([w1, w2], lr=0.05)
losses = []
for step in range(100):
    loss = F.cross_entropy((x @ w1).relu() @ w2, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print(((x @ w1).relu() @ w2).argmax(1))
]=], here = {
    { "x = roper.tensor{{-1, -1}, {-1, 1}, {1, -1}, {1, 1}}", "" },
    { 'y = roper.tensor({0, 1, 1, 0}, "int32")', "" },
    { "w1 = roper.randn(2, 16):parameter()", "" },
    { "w2 = roper.randn(16, 2):parameter()", "" },
    { "adam = roper.optim.Adam{rate = 0.05}", "" },
    { "losses = {}", "" },
    { "for step = 1, 100 do" },
    { "loss = roper.cross_entropy(x:matmul(w1):relu():matmul(w2), y)" },
    { "w1.grad, w2.grad = nil, nil" },
    { "loss:backward()" },
    { "adam:step{w1, w2}" },
    { "losses[step] = loss:item() end", "" },
    { "x:matmul(w1):relu():matmul(w2):argmax(2) - 1", "int32 [4]\n0 1 1 0\n" },
  } },
  { title = "saving and loading", torch = [=[
torch.save({"w1": w1, "w2": w2}, "net.pt")
again = torch.load("net.pt")
print(torch.equal(again["w1"], w1))
]=], here = {
    { 'roper.save("net.safetensors", {w1 = w1, w2 = w2})', "" },
    { 'again = roper.load("net.safetensors")', "" },
    { "again.w1 == w1", "true\n" },
  } },
  { title = "a plot", torch = [=[
import matplotlib.pyplot as plt
plt.plot(losses)
plt.show()
]=], here = {
    { "losses[100] < losses[1] / 10", "true\n" },
    { 'plot.line(losses, "losses.svg")', '"losses.svg"\n' },
  } },
}

local function lines_of(text)
  return select(2, text:gsub("\n", "\n"))
end

describe("the first chapter of a PyTorch tutorial", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("takes no more lines than in Python", function()
    assert.equal(10, #CHAPTER)
    local folder = scratch.path(""):match("^(.*)/$")
    local screen = sessions.start()
    sessions.enter(screen, "%cd " .. folder, folder .. "\n")
    for _, part in ipairs(CHAPTER) do
      assert.is_true(#part.here <= lines_of(part.torch), part.title)
      for _, line in ipairs(part.here) do
        if line[2] then
          sessions.enter(screen, line[1], line[2])
        else
          sessions.begin(screen, line[1])
        end
      end
    end
    sessions.leave(screen)
    assert.truthy(scratch.read(scratch.path("losses.svg")):find("<svg", 1, true))
  end)
end)
