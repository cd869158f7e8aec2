class Layer(nn.Module):
    def __init__(self, config@position_argument@):
        super().__init__()
        self.attention, self.feed_forward = Attention(config@position_argument@), FeedForward(config)
        self.attention_norm, self.feed_forward_norm = Norm(config), Norm(config)
        self.attention_norm_after = Norm(config)  #? norm=sandwich
        self.feed_forward_norm_after = Norm(config)  #? norm=sandwich
        self.dropout = nn.Dropout(config["dropout"])  #? dropout

    def forward(self, x, positions, cache=None):
        y = x + @open@self.attention(self.attention_norm(x), positions, cache)@close@  #? norm=pre
        return y + @open@self.feed_forward(self.feed_forward_norm(x))@close@  #? parallel_residual
        return y + @open@self.feed_forward(self.feed_forward_norm(y))@close@  #? norm=pre; not parallel_residual
        y = self.attention(x, positions, cache)  #? norm=reordered
        y = x + @open@self.attention_norm(y)@close@  #? norm=reordered
        return y + @open@self.feed_forward_norm(self.feed_forward(y))@close@  #? norm=reordered
        y = self.attention(self.attention_norm(x), positions, cache)  #? norm=sandwich
        x = x + @open@self.attention_norm_after(y)@close@  #? norm=sandwich
        y = self.feed_forward(self.feed_forward_norm(x))  #? norm=sandwich
        return x + @open@self.feed_forward_norm_after(y)@close@  #? norm=sandwich
        y = self.attention_norm(x + @open@self.attention(x, positions, cache)@close@)  #? norm=post
        return self.feed_forward_norm(y + @open@self.feed_forward(y)@close@)  #? norm=post
