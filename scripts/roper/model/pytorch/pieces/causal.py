def causal(q, k):
    """The keys that each query sees, [queries, keys]; the queries are the last tokens."""
    seen = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device)
    return seen.tril(k.shape[2] - q.shape[2])
