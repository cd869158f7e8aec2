"""The model of tests/bench/training.lua in PyTorch, for comparison.

python3 tests/bench/peer.py OPTIONS: OPTIONS is JSON with shape and threads; precision "bfloat16"
asks for autocast, is_compiled for torch.compile. A line "step" on standard input runs training
steps, shape["steps"] or 1, and prints the seconds of one as JSON; "count" prints the number of
parameters.
"""
import json
import signal
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F


def rotation_table(length, features):
    """Cosines and sines [length, features / 2] of position times theta."""
    theta = 10000.0 ** (-torch.arange(0, features, 2, dtype=torch.float64) / features)
    angles = torch.arange(length, dtype=torch.float64)[:, None] * theta
    return angles.cos().float(), angles.sin().float()


def rotate(x, cosine, sine):
    """Turn feature i with feature i + d / 2, in the precision of x."""
    cosine, sine = cosine.to(x.dtype), sine.to(x.dtype)
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cosine - b * sine, b * cosine + a * sine), dim=-1)


def causal_attention(q, k, v, mask):
    """[batch, heads, time, features]; `mask` is -inf above the diagonal."""
    if hasattr(F, "scaled_dot_product_attention"):  # from PyTorch 2.0 on
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    flat = [x.flatten(0, 1) for x in (q * q.shape[-1] ** -0.5, k, v)]
    weights = torch.baddbmm(mask, flat[0], flat[1].transpose(1, 2)).softmax(dim=-1)
    return torch.bmm(weights, flat[2]).view_as(q)


class Attention(nn.Module):
    """Causal self-attention with RoPER: q, k and v turned, the output turned back."""

    def __init__(self, shape):
        super().__init__()
        d, length, self.heads = shape["d_model"], shape["length"], shape["heads"]
        self.query, self.key, self.value, self.output = (nn.Linear(d, d) for _ in range(4))
        cosine, sine = rotation_table(length, d // self.heads)
        mask = torch.full((length, length), float("-inf")).triu(1)
        for name, table in (("cosine", cosine), ("sine", sine), ("mask", mask)):
            self.register_buffer(name, table)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x):
        q, k, v = (rotate(self.split(f(x)), self.cosine, self.sine)
                   for f in (self.query, self.key, self.value))
        o = rotate(causal_attention(q, k, v, self.mask), self.cosine, -self.sine)
        return self.output(o.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """Attention and feed-forward with the norm before ("pre") or after ("post") each."""

    def __init__(self, shape):
        super().__init__()
        d, f = shape["d_model"], shape["d_ff"]
        self.is_pre = shape["norm"] == "pre"
        self.parts = nn.ModuleList(
            [Attention(shape), nn.Sequential(nn.Linear(d, f), nn.ReLU(), nn.Linear(f, d))])
        self.norms = nn.ModuleList([nn.LayerNorm(d), nn.LayerNorm(d)])

    def forward(self, x):
        for part, norm in zip(self.parts, self.norms):
            x = x + part(norm(x)) if self.is_pre else norm(x + part(x))
        return x


def transformer(shape):
    d, count = shape["d_model"], shape["vocabulary"]
    layers = [Layer(shape) for _ in range(shape["layers"])]
    last = [nn.LayerNorm(d)] if shape["norm"] == "pre" else []
    return nn.Sequential(nn.Embedding(count, d), *layers, *last, nn.Linear(d, count))


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # end without a traceback
    options = json.loads(sys.argv[1])
    shape = options["shape"]
    torch.set_num_threads(options["threads"])
    torch.manual_seed(1)
    model = transformer(shape)
    fused = {"fused": True} if torch.__version__ >= (2, 4) else {}  # since then on CPUs too
    optimizer = torch.optim.Adam(model.parameters(), lr=2.5e-4, **fused)
    tokens = torch.randint(shape["vocabulary"], (shape["batch"], shape["length"] + 1))

    def loss():
        with torch.autocast("cpu", torch.bfloat16, options.get("precision") == "bfloat16"):
            logits = model(tokens[:, :-1])
            return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())

    if options.get("is_compiled"):
        loss = torch.compile(loss)

    steps = shape.get("steps", 1)

    def step():
        start = time.perf_counter()
        for _ in range(steps):
            optimizer.zero_grad(set_to_none=True)
            loss().backward()
            optimizer.step()
        return (time.perf_counter() - start) / steps

    def count():
        return sum(p.numel() for p in model.parameters())

    cases = {"step": step, "count": count}
    for line in sys.stdin:
        print(json.dumps({"result": cases[line.strip()]()}), flush=True)


if __name__ == "__main__":
    main()
