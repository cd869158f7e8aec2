class FeedForward(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.inner = nn.Linear(config["d_model"], config["d_ff"]@feed_forward_bias@)
        self.outer = nn.Linear(config["d_ff"], config["d_model"]@feed_forward_bias@)
        self.gate = nn.Linear(config["d_model"], config["d_ff"]@feed_forward_bias@)  #? gate
        self.dropout = nn.Dropout(config["dropout"])  #? dropout

    def forward(self, x):
        return self.outer(@hidden@)
