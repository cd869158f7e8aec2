class Attention(nn.Module):
    def __init__(self, config@position_argument@):
        super().__init__()
        width, self.dim = config["d_model"], config["head_dim"]  #? head_dim
        inner = self.dim * config["heads"]  #? head_dim
        width, self.dim = config["d_model"], config["d_model"] // config["heads"]  #? not head_dim
        shared = self.dim * config["kv_heads"]  #? grouped
        self.query = nn.Linear(width, @inner@@qkv_bias@)
        self.key = nn.Linear(width, @shared@@qkv_bias@)
        self.value = nn.Linear(width, @shared@@qkv_bias@)  #? not tied
        self.output = nn.Linear(@inner@, width@output_bias@)
        self.query_norm = @qk_norm_class@(config, self.dim)  #? qk_norm=head
        self.key_norm = @qk_norm_class@(config, self.dim)  #? qk_norm=head
        self.query_norm = @qk_norm_class@(config, @inner@)  #? qk_norm=all
        self.key_norm = @qk_norm_class@(config, @shared@)  #? qk_norm=all
        sizes = @shared@, config["short_convolution"]  #? short_convolution
        self.key_convolution = ShortConvolution(*sizes)  #? short_convolution
        self.value_convolution = ShortConvolution(*sizes)  #? short_convolution; not tied
        self.position = position  #? scheme
        self.dropout = config["dropout"]  #? dropout

    def forward(self, x, positions, cache=None):
        @qkv@ = (@projected@.unflatten(-1, (-1, self.dim)).transpose(1, 2)
        @blank@ for @name@ in (@projections@))
        q, k = self.query_norm(q), self.key_norm(k)  #? qk_norm=head
        k = self.key_convolution(k, cache, "key inputs")  #? short_convolution
        v = self.value_convolution(v, cache, "value inputs")  #? short_convolution; not tied
        v = k  #? tied
        if cache is not None:  # of earlier tokens
            for name, new, axis in (("k", k, 2), ("v", v, 2)@cached_input@):
                cache[name] = torch.cat((cache[name], new), axis) if name in cache else new
            k, v = cache["k"], cache["v"]  #? not reads_x
            k, v, x = cache["k"], cache["v"], cache["x"]  #? reads_x
        k, v = (y.repeat_interleave(q.shape[1] // y.shape[1], 1) for y in (k, v))  #? grouped
        terms = self.position(q, k, v, positions, x)  #? scheme
        o = attend(q, k, v@terms@@dropout_now@)
        return self.output(o.transpose(1, 2).flatten(2))
