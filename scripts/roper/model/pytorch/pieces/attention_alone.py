def new_scheme():  #? trained
    """The position scheme with the tensors that roper gives it, for one layer."""  #? trained
    scheme, known = @scheme@, read_tensors(Path(__file__).with_suffix(".safetensors"))  #? trained
    with torch.no_grad():  #? trained
        for name, tensor in [*scheme.named_parameters(), *scheme.named_buffers()]:  #? trained
            tensor.copy_(known["initial " + name])  #? trained
    return scheme  #? trained
  #? trained
  #? trained
SCHEME = new_scheme()  #? trained
SCHEME = @scheme@  #? not trained


def attention(q, k, v, positions@x_argument@, scheme=SCHEME):
    k, v = (y.repeat_interleave(q.shape[1] // y.shape[1], 1) for y in (k, v))
    return attend(q, k, v, scheme(q, k, v, positions.double(), @x_or_none@))
