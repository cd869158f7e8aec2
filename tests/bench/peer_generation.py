"""Generation by GPT-NeoX of Hugging Face's transformers, for comparison with
tests/bench/case/generation.lua.

python3 tests/bench/peer_generation.py OPTIONS: OPTIONS is JSON with shape, batch, tokens and
threads. A line "generate" on standard input generates so many tokens in each row and prints its
seconds as JSON.
"""
import json
import signal
import sys
import time

import torch
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

PROMPT = 7  # tokens


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # end without a traceback
    options = json.loads(sys.argv[1])
    shape = options["shape"]
    torch.set_num_threads(options["threads"])
    torch.manual_seed(1)
    model = GPTNeoXForCausalLM(GPTNeoXConfig(
        vocab_size=shape["vocabulary"], hidden_size=shape["d_model"],
        num_hidden_layers=shape["layers"], num_attention_heads=shape["heads"],
        intermediate_size=shape["d_ff"], hidden_act="relu", use_parallel_residual=False,
        rotary_pct=1.0, max_position_embeddings=1024, bos_token_id=None, eos_token_id=None)).eval()
    prompts = torch.randint(shape["vocabulary"], (options["batch"], PROMPT))

    def generate():
        start = time.perf_counter()
        with torch.inference_mode():
            model.generate(prompts, attention_mask=torch.ones_like(prompts), do_sample=True,
                           top_k=0, max_new_tokens=options["tokens"],
                           min_new_tokens=options["tokens"], pad_token_id=0)
        return time.perf_counter() - start

    cases = {"generate": generate}
    for line in sys.stdin:
        print(json.dumps({"result": cases[line.strip()]()}), flush=True)


if __name__ == "__main__":
    main()
