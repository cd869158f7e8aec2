def places(positions, coordinates):
    """The position by which each pair is rotated, [1 or batch, 1, keys, pairs]."""
    if positions.dim() == 2:  # one number for all coordinates
        return positions[:, None, :, None]
    return positions[:, None, :, coordinates]
