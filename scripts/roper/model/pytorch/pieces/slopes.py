def slopes(q):
    """The slopes of ALiBi for the heads of q, [heads, 1, 1]."""
    heads = q.shape[1]
    power = 2 ** int(math.log2(heads))
    rest = [2 ** (-4 * (2 * g - 1) / power) for g in range(1, heads - power + 1)]
    list_ = [2 ** (-8 * h / power) for h in range(1, power + 1)] + rest
    return torch.tensor(list_, dtype=torch.float64, device=q.device)[:, None, None]
