def magnified(scheme, x, gain):
    """Multiplies the features of x that `scheme` rotates by the gain [..., pairs] of their pair."""
    both = torch.stack((gain, gain), -1 if scheme.pairing == "interleaved" else -2)  #? interleaved
    both = torch.stack((gain, gain), -2)  #? not interleaved
    factors = F.pad(both.flatten(-2), (0, x.shape[-1] - 2 * gain.shape[-1]), value=1.0)
    factors = factors.roll(-2 * gain.shape[-1], -1) if scheme.last else factors  #? last
    return x * factors.to(x)
