def rotate_interleaved(x, angle):
    """The same for features 2t and 2t + 1."""
    size = 2 * angle.shape[-1]
    y = rotate(torch.cat((x[..., :size:2], x[..., 1:size:2]), -1), angle)
    return torch.cat((torch.stack(y.chunk(2, -1), -1).flatten(-2), x[..., size:]), -1)
