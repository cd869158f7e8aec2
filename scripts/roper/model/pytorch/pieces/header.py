"""A causal language model with the position scheme@position@, written by roper @version@.

    model = Transformer.load(folder)     # reads config.json and model.safetensors
    logits = model(tokens)               # [batch, time], from 0, to [batch, time, vocabulary]
    loss = model.loss(tokens)            # of predicting each token from those before it
    tokens = model.generate(tokens, 20)  # the prompt and 20 more tokens, with a cache
    model.save(folder)                   # for roper: --from FOLDER/model.safetensors

`python model.py --check` compares logits, loss, gradients and a completion with those of roper.
"""
import ctypes
import json
import math
import struct
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn
