def powers(base, rotated, device):
    """The frequencies base^(-2t / rotated) of the pairs t of rotated features."""
    return base ** (-torch.arange(0, rotated, 2, device=device).double() / rotated)
