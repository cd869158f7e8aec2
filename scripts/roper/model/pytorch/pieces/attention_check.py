def check(path):
    """Prints the differences from roper; True if all are within their bounds."""
    ok = True
    for dtype, bound, loose in @bounds@:
        known = read_tensors(Path(path).with_suffix(".safetensors"))
        ok = check_scheme(known, @scheme@, dtype, bound, loose) and ok
    return ok


if __name__ == "__main__":
    sys.exit(__doc__ if sys.argv[1:] != ["--check"] else not check(__file__))
