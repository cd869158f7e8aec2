class Layer(nn.Module):
    def __init__(self, config@position_argument@):
        super().__init__()
        self.attention, self.feed_forward = Attention(config@position_argument@), FeedForward(config)
        self.attention_norm, self.feed_forward_norm = Norm(config), Norm(config)
        self.dropout = nn.Dropout(config["dropout"])  #? dropout

    def forward(self, x, positions, cache=None):
        y = x + @open@self.attention(self.attention_norm(x), positions, cache)@close@  #? norm=pre
        return y + @open@self.feed_forward(self.feed_forward_norm(x))@close@  #? parallel_residual
        return y + @open@self.feed_forward(self.feed_forward_norm(y))@close@  #? norm=pre; not parallel_residual
        y = self.attention_norm(x + @open@self.attention(x, positions, cache)@close@)  #? norm=post
        return self.feed_forward_norm(y + @open@self.feed_forward(y)@close@)  #? norm=post
