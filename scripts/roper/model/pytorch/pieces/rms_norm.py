class Norm(nn.Module):  # root-mean-square normalization
    def __init__(self, config):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(config["d_model"]))
        self.epsilon = config["norm_epsilon"]

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.epsilon) * self.gain
