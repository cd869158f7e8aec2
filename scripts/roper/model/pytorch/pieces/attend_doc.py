    """The output of attention, [batch, heads, queries, features].

    `terms` has what the position scheme changes:

        q, k, v      replace queries, keys and values  #? turns
        output       a function of the output  #? output
        bias         is added to the scores, [batch, heads, queries, keys]  #? bias
        products     are added to the products q.k, before they are scaled  #? products
        scale        the factor of q.k, by default d^-0.5  #? scale
        query_scale  a function from the visible keys, boolean, to factors of the scores  #? query_scale
        hidden       True for keys that a query does not see  #? hidden
        scores       replace the products q.k, before they are scaled  #? scores
        add          a function from the weights to what is added to the output  #? add
        mix          a function of weights and values in place of their product  #? mix
    """
