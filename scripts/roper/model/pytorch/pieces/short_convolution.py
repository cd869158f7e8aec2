class ShortConvolution(nn.Module):  # causal, of each feature, with a residual connection
    def __init__(self, features, width):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(features, width).uniform_(-width**-0.5, width**-0.5))

    def forward(self, x, cache, name):  # [batch, heads, time, features of a head]
        y = x.transpose(2, 3).flatten(1, 2)
        before = y.new_zeros(*y.shape[:2], self.weight.shape[1] - 1)
        before = before if cache is None else cache.get(name, before)
        whole = torch.cat((before, y), 2)
        if cache is not None:
            cache[name] = whole[:, :, y.shape[2]:]
        y = F.conv1d(whole, self.weight[:, None], groups=y.shape[1])
        return x + y.unflatten(1, (x.shape[1], -1)).transpose(2, 3)
