class Transformer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config["vocabulary"], config["d_model"])
@schemes@
        self.layers = nn.ModuleDict(  # named from 1, as in roper
            {str(i + 1): Layer(config@scheme_of_layer@) for i in range(config["layers"])})
        self.norm = Norm(config)  #? not norm=post
        self.logits = nn.Linear(config["d_model"], config["vocabulary"]@logits_bias@)
        self.logits.weight = self.embedding.weight  #? tied_embeddings

    def forward(self, tokens, positions=None, caches=None):
        """Logits of the token after each; `positions` [1 or batch, keys] count up by default."""
        if positions is None:
            past = caches[0]["k"].shape[2] if caches and caches[0] else 0
            positions = torch.arange(past + tokens.shape[1], device=tokens.device)[None]
        x, positions = self.embedding(tokens)@embedding_scale@, positions.double()
        for scheme in dict.fromkeys(layer.attention.position for layer in self.layers.values()):  #? embed
            x = scheme.embed(x, positions[:, -x.shape[1]:]) if hasattr(scheme, "embed") else x  #? embed
        for i, layer in enumerate(self.layers.values()):
            x = layer(x, positions, caches[i] if caches else None)
        return @logits@

    def loss(self, tokens, positions=None):
        """The mean cross-entropy of each token given those before it."""
        return F.cross_entropy(self(tokens, positions)[:, :-1].transpose(1, 2), tokens[:, 1:])

    @torch.no_grad()
    def generate(self, tokens, count, temperature=0.0):
        """tokens [batch, time] and `count` more: the most likely ones, or samples."""
        caches, new = [{} for _ in self.layers], tokens
        for _ in range(count):
            logits = self(new, caches=caches)[:, -1]
            new = (torch.multinomial((logits / temperature).softmax(-1), 1) if temperature
                   else logits.argmax(-1, keepdim=True))
            tokens = torch.cat((tokens, new), 1)
        return tokens

    @classmethod
    def load(cls, folder):
        model = cls(json.loads((Path(folder) / "config.json").read_text()))
        tensors = read_tensors(Path(folder) / "model.safetensors")
        tensors.update(read_tensors(Path(folder) / "constants.safetensors"))  #? constants
        with torch.no_grad():
            for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
                tensor.copy_(tensors[name])
        return model

    def save(self, folder):
        folder, metadata = Path(folder), self.config["metadata"]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(self.config, indent=2) + "\n")
        write_tensors(folder / "model.safetensors", self.named_parameters(), metadata)
        write_tensors(folder / "constants.safetensors", self.named_buffers(), {})  #? constants
