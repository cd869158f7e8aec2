def check_scheme(known, scheme, dtype, bound, loose):
    """Prints how far attention with a scheme is from roper; True if it is within its bounds."""
    inputs = {name: known[name].to(dtype).requires_grad_() for name in "qkvx" if name in known}
    q, k, v, x = (inputs.get(name) for name in "qkvx")
    with torch.no_grad():
        for name, tensor in [*scheme.named_parameters(), *scheme.named_buffers()]:
            tensor.copy_(known["tensor " + name])
    terms = scheme.to(dtype)(q, k, v, known["positions"], x)
    found = {"output": attend(q, k, v, terms)}
    (found["output"] * known["gradient of output"]).sum().backward()
    inputs.update(scheme.named_parameters())
    found["scores"] = scores_of(q, k, terms)[known["scores"] > -math.inf]  #? explicit
    known["scores"] = known["scores"][known["scores"] > -math.inf]  #? explicit
    for name, x in inputs.items():
        found["gradient " + name] = torch.zeros_like(x) if x.grad is None else x.grad
    ok, least = True, 1e-2 * known["gradient v"].abs().max()
    for name, x in found.items():
        scale = known[name].abs().max().clamp(min=least if name[:9] == "gradient " else 0)
        far = ((x - known[name]).abs().max() / scale).item()
        limit = loose if name[:9] == "gradient " else bound
        ok = ok and far <= limit  # False for NaN
        print(str(dtype)[6:], f"{far:.1e}", "within" if far <= limit else "ABOVE",
              f"{limit:g}  {name}")
    return ok
