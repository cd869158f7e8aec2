def attend(q, k, v@terms@@dropout@):
@attend_doc@
    scale = @attention_scale@  #? given_scale
    scale = terms.get("scale", q.shape[-1] ** -0.5)  #? scale; not given_scale
    scale = q.shape[-1] ** -0.5  #? products; not scale given_scale
    q, k, v = (terms.get(name, x) for name, x in (("q", q), ("k", k), ("v", v)))  #? turns
    seen = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device)
    seen = seen.tril(k.shape[2] - q.shape[2])  # the queries are the last tokens  #? causal
    seen = seen & ~terms["hidden"] if "hidden" in terms else seen  #? hidden
    q = q * terms["query_scale"](seen) if "query_scale" in terms else q  #? query_scale
    q = q * (scale * q.shape[-1] ** 0.5)  # the functions below multiply by d^-0.5  #? scale given_scale
    bias = terms.get("bias", q.new_zeros(()))  #? bias
    bias = q.new_zeros(())  #? products hidden; not bias
    bias = bias + scale * terms.get("products", 0.0)  #? products
    mask = torch.where(seen, bias, q.new_tensor(-math.inf))  #? bias products hidden
    whole = q.shape[2] == k.shape[2]  #? plain; causal
    if hasattr(F, "scaled_dot_product_attention"):
        mask = None if whole else seen  #? plain; causal; dropout
        o = F.scaled_dot_product_attention(q, k, v, mask, dropout, whole)  #? plain; causal; dropout
        o = F.scaled_dot_product_attention(q, k, v, None if whole else seen, is_causal=whole)  #? plain; causal; not dropout
        o = F.scaled_dot_product_attention(q, k, v, mask@dropout_p@)  #? bias products hidden
        o = F.scaled_dot_product_attention(q, k, v@dropout_p@)  #? plain; not causal
    else:  # before PyTorch 2.0
        scores = q @ k.transpose(2, 3) * q.shape[-1] ** -0.5
        scores = scores + mask  #? bias products hidden
        scores = scores.masked_fill(~seen, -math.inf)  #? plain
        o = F.dropout(scores.softmax(-1), dropout) @ v  #? dropout
        o = scores.softmax(-1) @ v  #? not dropout
    return terms["output"](o) if "output" in terms else o  #? output
    return o  #? not output
