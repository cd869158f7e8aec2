def rotate(x, angle):
    """Rotates features t and t + pairs of x by the angles [..., pairs] of its tokens, the last."""
    angle, pairs = angle[:, :, -x.shape[2]:], angle.shape[-1]
    cosine, sine = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., :pairs], x[..., pairs:2 * pairs]
    return torch.cat((a * cosine - b * sine, a * sine + b * cosine, x[..., 2 * pairs:]), -1)
