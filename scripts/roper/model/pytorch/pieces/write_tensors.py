def write_tensors(path, tensors, metadata):
    """Writes tensors, in float32, to a safetensors file."""
    header, parts, end = {"__metadata__": metadata}, [], 0
    for name, tensor in tensors:
        tensor = tensor.detach().cpu().float().contiguous()
        parts.append(ctypes.string_at(tensor.data_ptr(), 4 * tensor.numel()))
        header[name] = {"dtype": "F32", "shape": list(tensor.shape),
                        "data_offsets": [end, end := end + len(parts[-1])]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))
