def read_tensors(path):
    """The tensors of a safetensors file by name."""
    dtypes = {"F32": torch.float32, "F64": torch.float64, "I32": torch.int32}
    data = Path(path).read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    header, data = json.loads(data[8:start]), data[start:]
    header.pop("__metadata__", None)
    return {name: torch.frombuffer(bytearray(data[slice(*entry["data_offsets"])]),
                                   dtype=dtypes[entry["dtype"]]).view(entry["shape"])
            for name, entry in header.items()}
