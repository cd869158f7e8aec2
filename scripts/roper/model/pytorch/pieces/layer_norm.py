class Norm(nn.Module):  # layer normalization
    def __init__(self, config):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(config["d_model"]))
        self.bias = nn.Parameter(torch.zeros(config["d_model"]))
        self.epsilon = config["norm_epsilon"]

    def forward(self, x):
        return F.layer_norm(x, self.gain.shape, self.gain, self.bias, self.epsilon)
