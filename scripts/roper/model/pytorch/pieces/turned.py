def turned(scheme, q, k, v, angle):
    """Rotates by the angles [..., keys, pairs] of the tokens@what@."""
    def turn(x, angle):  #? interleaved last
        function = rotate_interleaved if scheme.pairing == "interleaved" else rotate  #? interleaved
        size = 2 * angle.shape[-1] if scheme.last else 0  # the last features are rotated  #? last
        return @function@(x.roll(size, -1), angle).roll(-size, -1)  #? last
        return function(x, angle)  #? interleaved; not last
  #? interleaved last
    parts = {"q": @turn@(q, angle), "k": @turn@(k, angle), "v": @turn@(v, angle),  #? mixed
             "output": lambda o: @turn@(o, -angle)}  #? mixed
    return {name: part for name, part in parts.items() if name[0] in scheme.rotate}  #? mixed
    return {@parts@}  #? not mixed
