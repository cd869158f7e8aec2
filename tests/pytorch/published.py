"""Random models of published families, their training in transformers, and models that roper wrote.

    python3 published.py make FOLDER COUNT FAMILY...
    python3 published.py open FOLDER FAMILY...

`make` writes COUNT models of each family to FOLDER/FAMILY/NUMBER and, to NUMBER.safetensors beside
it, tokens, logits, a greedy completion, and the losses and logits of a training. `open` reads the
models of FOLDER/FAMILY with transformers and compares their logits with those in
NUMBER.safetensors; it prints for each family the largest difference, and the number of models with
other parameters or logits. published.lua calls both. Needs torch, transformers and safetensors.
"""
import pathlib
import random
import sys
from random import choice

import torch
from safetensors.torch import load_file, save_file
from torch.nn.functional import cross_entropy
from transformers import AutoConfig, AutoModelForCausalLM, logging

TRAINED, STEPS, NEW = 4, 20, 8  # models of a family to train, steps, tokens of a completion


def flip():
    return choice([False, True])


def rope(features, *kinds):
    kind = choice(kinds)
    fields = {"default": {}, "linear": {"factor": choice([2.0, 4.0])},
              "dynamic": {"factor": choice([1.5, 2.0])},
              "yarn": {"factor": 4.0, "beta_fast": choice([4.0, 32.0]), "beta_slow": 1.0},
              "llama3": {"factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
              "longrope": {"short_factor": [1 + 0.1 * i for i in range(features // 2)],
                           "long_factor": [1 + 0.7 * i for i in range(features // 2)]}}[kind]
    if kind in ("yarn", "llama3", "longrope"):
        fields["original_max_position_embeddings"] = choice([8, 32])
    return dict(fields, rope_type=kind, rope_theta=choice([100.0, 10000.0, 500000.0]))


def config_of(family):
    heads, layers, head_dim = choice([1, 2, 4]), choice([1, 2, 3, 4, 5]), choice([4, 8, 16])
    kv_heads = choice([n for n in (1, 2, 4) if heads % n == 0])
    window, fraction = choice([1, 2, 3, 5, 8]), choice([0.5, 1.0])
    kinds = [choice(["full_attention", "sliding_attention"]) for _ in range(layers)]
    common = {"vocab_size": choice([11, 17, 32]), "num_hidden_layers": layers,
              "num_attention_heads": heads, "intermediate_size": choice([8, 20, 32]),
              "hidden_size": heads * head_dim, "max_position_embeddings": choice([32, 64]),
              "tie_word_embeddings": flip(), "bos_token_id": 0, "eos_token_id": None}
    llama = dict(common, num_key_value_heads=kv_heads, rms_norm_eps=choice([1e-6, 1e-5, 1e-3]),
                 pad_token_id=None, rope_parameters=rope(head_dim, "default", "linear", "yarn",
                                                         "llama3", "longrope"))
    wide = dict(llama, head_dim=head_dim, hidden_size=heads * choice([4, 6, 8, 16]))
    qwen = dict(wide, use_sliding_window=flip(), sliding_window=window,
                max_window_layers=choice(range(layers + 1)))
    if qwen["use_sliding_window"] and flip():
        qwen["layer_types"] = kinds
    if family == "llama":
        fields = dict(wide, attention_bias=flip(), mlp_bias=flip(),
                      hidden_act=choice(["silu", "gelu", "gelu_pytorch_tanh"]))
        if choice(range(6)) == 0:
            fields["rope_parameters"] = rope(head_dim, "dynamic")
    elif family == "mistral":
        fields = dict(wide, sliding_window=choice([None, window]))
    elif family == "qwen2":
        fields = qwen
    elif family == "qwen3":
        fields = dict(qwen, attention_bias=flip())
    elif family == "phi3":
        rotation = rope(int(head_dim * fraction), "default", "longrope")
        trained = rotation.get("original_max_position_embeddings", 32)
        fields = dict(llama, sliding_window=choice([None, window]),
                      original_max_position_embeddings=trained,
                      rope_parameters=dict(rotation, partial_rotary_factor=fraction))
    elif family == "gemma2":
        fields = dict(wide, attn_logit_softcapping=choice([None, 1.0, 5.0, 50.0]),
                      final_logit_softcapping=choice([None, 2.0, 30.0]), sliding_window=window,
                      query_pre_attn_scalar=choice([4, 7, 16, 256]), attention_bias=flip(),
                      hidden_activation=choice(["gelu_pytorch_tanh", "gelu"]))
        if flip():
            fields["layer_types"] = kinds
    elif family == "smollm3":
        fields = dict(llama, use_sliding_window=flip(), sliding_window=choice([None, window]),
                      attention_bias=flip(), mlp_bias=flip(),
                      no_rope_layer_interval=choice([1, 2, 3, 4]))
        if flip():
            fields["no_rope_layers"] = [choice([0, 1]) for _ in range(layers)]
    elif family == "olmo2":
        fields = dict(llama, attention_bias=flip())
    elif family == "gpt_neox":
        rotation = dict(rope(head_dim, "default", "linear"), partial_rotary_factor=fraction)
        fields = dict(common, use_parallel_residual=flip(), attention_bias=flip(),
                      hidden_act=choice(["gelu", "relu", "gelu_new"]),
                      layer_norm_eps=choice([1e-5, 1e-3]), rope_parameters=rotation)
    elif family == "gpt2":
        fields = {"vocab_size": common["vocab_size"], "n_positions": 64, "n_embd": heads * head_dim,
                  "n_layer": layers, "n_head": heads, "n_inner": choice([None, 20]),
                  "activation_function": choice(["gelu_new", "relu", "gelu"]),
                  "layer_norm_epsilon": choice([1e-5, 1e-3]), "tie_word_embeddings": flip(),
                  "attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0, "bos_token_id": 0,
                  "eos_token_id": None}
    return AutoConfig.for_model(family, **fields)


def stir(model):
    """Random parameters, also where models begin with 0 and 1."""
    for name, x in model.named_parameters():
        is_gain = ("norm" in name or "ln_" in name) and name.endswith("weight")
        spread = 0.2 if x.dim() == 1 else choice([0.2, 0.4])
        x.data = torch.randn(x.shape) * spread
        x.data += 1 if is_gain and model.config.model_type != "gemma2" else 0


def read(folder, dtype=torch.float32):
    return AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, attn_implementation="eager")


def completion(model, tokens):
    """The greedy completion, and by how much each of its tokens is more likely than the next."""
    margins = []
    for _ in range(NEW):
        best = model(tokens).logits[:, -1].topk(2)
        tokens = torch.cat((tokens, best.indices[:, :1]), 1)
        margins.append(best.values[:, 0] - best.values[:, 1])
    return tokens[:, -NEW:], torch.stack(margins, 1)


def train(model, rows):
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=3e-3), []
    for batch in rows:
        loss = cross_entropy(model(batch[:, :-1]).logits.transpose(1, 2), batch[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        return torch.tensor(losses), model(rows[0]).logits


def make(folder, family, index):
    random.seed(f"{family} {index}")
    torch.manual_seed(index)
    model = AutoModelForCausalLM.from_config(config_of(family), attn_implementation="eager").eval()
    stir(model)
    model.save_pretrained(folder)
    tokens = torch.randint(model.config.vocab_size, (2, choice([1, 7, 20])))
    rows = torch.randint(model.config.vocab_size, (STEPS, 4, 17))
    rows[:, :, 8:] = rows[:, :, :9]  # something to learn
    exact = read(folder, torch.float64).eval()
    with torch.no_grad():
        found = {"tokens": tokens, "logits": model(tokens).logits, "exact": exact(tokens).logits}
        found["completion"], found["margins"] = completion(exact, tokens)
    if index < TRAINED:
        found["rows"], (found["losses"], found["trained"]) = rows, train(model, rows)
        found["trained_exact"] = train(exact, rows)[1]
    save_file({name: x.int() if x.dtype == torch.int64 else x.contiguous()
               for name, x in found.items()}, f"{folder}.safetensors")


def open_all(folder):
    worst, other = 0.0, 0
    for path in sorted(folder.glob("*.safetensors")):
        known = load_file(path)
        model, about = AutoModelForCausalLM.from_pretrained(
            path.with_suffix(""), attn_implementation="eager", output_loading_info=True)
        tokens, scale = known["tokens"].long(), known["logits"].abs().max().clamp(min=1e-3)
        with torch.no_grad():
            logits = model.eval()(tokens).logits
            own = ((model.double()(tokens).logits - logits).abs().max() / scale).item()
        far = ((logits - known["logits"]).abs().max() / scale).item()
        worst = max(worst, far)
        keys = any(about[f"{what}_keys"] for what in ("missing", "unexpected", "mismatched"))
        other += keys or not far <= max(1e-5, 10 * own)  # True for NaN
    return worst, other


logging.set_verbosity_error()
logging.disable_progress_bar()
torch.set_num_threads(1)
root = pathlib.Path(sys.argv[2])
if sys.argv[1] == "make":
    for name in sys.argv[4:]:
        (root / name).mkdir(parents=True)
        for number in range(int(sys.argv[3])):
            make(root / name / f"{number:03d}", name, number)
else:
    for name in sys.argv[3:]:
        print(name, *open_all(root / name), flush=True)
