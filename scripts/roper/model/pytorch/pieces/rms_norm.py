class @norm_class@(nn.Module):  # root-mean-square normalization
    def __init__(self, config, features=None):  #? qk_norm
    def __init__(self, config):  #? not qk_norm
        super().__init__()
        self.gain = nn.Parameter(torch.ones(features or config["d_model"]))  #? qk_norm
        self.gain = nn.Parameter(torch.ones(config["d_model"]))  #? not qk_norm
        self.epsilon = config["norm_epsilon"]

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.epsilon) * self.gain
