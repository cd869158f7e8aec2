def check(folder):
    """Prints the largest differences from roper; True if all are within their bounds."""
    known = read_tensors(Path(folder) / "check.safetensors")
    tokens, positions, prompt = known["tokens"].long(), known["positions"], known["prompt"].long()
    count, ok = known["completion"].shape[1] - prompt.shape[1], True
    least = 1e-2 * max(x.abs().max() for name, x in known.items() if name[:9] == "gradient ")
    of_scheme = {name[7:]: x for name, x in known.items() if name[:7] == "scheme "}  #? own
    for dtype, bound, loose in @bounds@:
        ok = check_scheme(dict(of_scheme), @own_scheme@, dtype, bound, loose) and ok  #? own
        model = Transformer.load(folder).to(dtype).eval()
        found = {"logits": model(tokens, positions), "loss": model.loss(tokens, positions)}
        (found["loss"] + 0 * sum(x.sum() for x in model.parameters())).backward()
        found.update(("gradient " + name, x.grad) for name, x in model.named_parameters())
        far = {name: ((x - known[name]).abs().max() / known[name].abs().max().clamp(
            min=least if name[:9] == "gradient " else 0)).item() for name, x in found.items()}
        worst = max(list(far)[2:], key=far.get)
        far["completion"] = (model.generate(prompt, count) != known["completion"]).sum().item()
        for name, limit in (("logits", bound), ("loss", bound), (worst, loose), ("completion", 0)):
            ok = ok and far[name] <= limit  # False for NaN
            print(str(dtype)[6:], f"{far[name]:.1e}", "within" if far[name] <= limit else "ABOVE",
                  f"{limit:g}  {name}")
    return ok


if __name__ == "__main__":
    try:  #? stub
        sys.exit(__doc__ if sys.argv[1:] != ["--check"] else not check(Path(__file__).parent))  #? stub
    except NotImplementedError as error:  #? stub
        sys.exit(f"model.py: {error}")  #? stub
    sys.exit(__doc__ if sys.argv[1:] != ["--check"] else not check(Path(__file__).parent))  #? not stub
