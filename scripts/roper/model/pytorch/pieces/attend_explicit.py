def scores_of(q, k@terms@):
    """The scores of attention, -inf for keys that a query does not see."""
    scale = @attention_scale@  #? given_scale
    scale = terms.get("scale", q.shape[-1] ** -0.5)  #? scale; not given_scale
    scale = q.shape[-1] ** -0.5  #? not scale given_scale
    q, k = terms.get("q", q), terms.get("k", k)  #? turns
    seen = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device)
    seen = seen.tril(k.shape[2] - q.shape[2])  # the queries are the last tokens  #? causal
    seen = seen & ~terms["hidden"] if "hidden" in terms else seen  #? hidden
    scores = terms["scores"] if "scores" in terms else q @ k.transpose(2, 3)  #? scores
    scores = scores * scale  #? scores
    scores = q @ k.transpose(2, 3) * scale  #? not scores
    if "query_scale" in terms:  #? query_scale
        scores = scores * terms["query_scale"](seen)  #? query_scale
    scores = torch.tanh(scores / @softcap@) * @softcap@  #? softcap
    scores = scores + scale * terms.get("products", 0.0)  #? products
    scores = scores + terms.get("bias", 0.0)  #? bias
    return scores.masked_fill(~seen, -math.inf)


def attend(q, k, v@terms@@dropout@):
@attend_doc@
    weights, v = scores_of(q, k@terms@).softmax(-1), terms.get("v", v)  #? turns
    weights = scores_of(q, k@terms@).softmax(-1)  #? not turns
    weights = F.dropout(weights, dropout)  #? dropout
    o = terms["mix"](weights, v) if "mix" in terms else weights @ v  #? mix
    o = weights @ v  #? not mix
    o = o + terms["add"](weights) if "add" in terms else o  #? add
    return terms["output"](o) if "output" in terms else o  #? output
    return o  #? not output
