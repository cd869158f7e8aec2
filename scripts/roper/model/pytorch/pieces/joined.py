class Joined(nn.Module):
    """Several position schemes in one attention."""

    def __init__(self, *parts):
        super().__init__()
        self.parts = nn.ModuleDict({str(i + 1): part for i, part in enumerate(parts)})
  #? embed
    def embed(self, x, positions):  #? embed
        for part in self.parts.values():  #? embed
            x = part.embed(x, positions) if hasattr(part, "embed") else x  #? embed
        return x  #? embed

    def forward(self, q, k, v, positions, x):
        terms = {}
        for part in self.parts.values():
            for name, value in part(q, k, v, positions, x).items():
                terms[name] = terms[name] + value if name in terms else value
        return terms
