"""Attention with the position scheme@position@, written by roper @version@.

    o = attention(q, k, v, positions@x@)

q is [batch, heads, queries, features]. k and v are [batch, heads, keys, features], or have fewer
heads, which are shared. positions is [1 or batch, keys]; the queries are the last tokens.
x is the input of the layer, [batch, keys, d_model].  #? reads_x
Every layer needs trained tensors of its own: pass scheme=new_scheme().  #? trained

In the layout of nn.MultiheadAttention with batch_first, where q, k, v are [batch, time, width]:

    q, k, v = (y.unflatten(-1, (heads, -1)).transpose(1, 2) for y in (q, k, v))
    o = attention(q, k, v, torch.arange(q.shape[2])[None]@x@).transpose(1, 2).flatten(2)

In a model of transformers, in place of apply_rotary_pos_emb and the attention that follows it
(of new tokens, position_ids must contain the positions of those in the cache, too):

    attn_output = attention(q, k, v, position_ids@x@).transpose(1, 2).contiguous()

`python @file@ --check` compares output, scores and gradients with those of roper.  #? explicit
`python @file@ --check` compares output and gradients with those of roper.  #? not explicit
It needs PyTorch 1.13 or later, and nothing else.
"""
import json
import math
import struct
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn
