"""Attention in PyTorch 2, for comparison with tests/bench/case/attention.lua.

python3 tests/bench/peer_attention.py OPTIONS: OPTIONS is JSON with shape, lengths and threads;
precision "bfloat16" is that of the tensors, causal false leaves out the mask, and rotated true
turns queries and keys first, as RoPE does. A line "forward 512" on standard input times a forward
pass at this length, "both 512" one with its backward pass; the answer is seconds as JSON.
"""
import json
import signal
import sys
import time

import torch
from torch.nn.functional import scaled_dot_product_attention

from peer import rotate, rotation_table


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # end without a traceback
    options = json.loads(sys.argv[1])
    shape = options["shape"]
    torch.set_num_threads(options["threads"])
    torch.manual_seed(1)
    dtype = getattr(torch, options.get("precision", "float32"))
    is_causal, is_rotated = options.get("causal", True), options.get("rotated", False)
    features = shape["d_model"] // shape["heads"]
    tables = {length: rotation_table(length, features) for length in options["lengths"]}

    def draw(length, trained):
        size = (shape["batch"], shape["heads"], length, features)
        return torch.randn(size, dtype=dtype, requires_grad=trained)

    def attention(length, q, k, v):
        if is_rotated:
            q, k = (rotate(x, *tables[length]) for x in (q, k))
        return scaled_dot_product_attention(q, k, v, is_causal=is_causal)

    def forward(length):
        q, k, v = (draw(length, False) for _ in range(3))
        start = time.perf_counter()
        with torch.no_grad():
            attention(length, q, k, v)
        return time.perf_counter() - start

    def both(length):
        q, k, v = (draw(length, True) for _ in range(3))
        gradient = draw(length, False)
        start = time.perf_counter()
        attention(length, q, k, v).backward(gradient)
        return time.perf_counter() - start

    cases = {"forward": forward, "both": both}
    for line in sys.stdin:
        case, length = line.split()
        print(json.dumps({"result": cases[case](int(length))}), flush=True)


if __name__ == "__main__":
    main()
