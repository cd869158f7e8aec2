def distances(positions, q):
    """Key minus query position, [1 or batch, 1, queries, keys]; the queries are the last tokens."""
    return (positions[:, None] - positions[:, -q.shape[2]:, None])[:, None]
