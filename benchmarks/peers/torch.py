"""PyTorch: eager, in inference mode, with the memory format that is faster."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch
from case import Array
from torch.nn import functional

from . import faster

torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
torch.inference_mode().__enter__()  # for the life of the process

VERSION = torch.__version__
Call = Callable[[], Any]


def matmul(A: Array, B: Array) -> Call:
    a, b = torch.from_numpy(A), torch.from_numpy(B)
    c = torch.empty(len(A), B.shape[1], dtype=a.dtype)
    return lambda: torch.mm(a, b, out=c).numpy()


def half_matmul(A: Array, B: Array) -> Call:
    """Of float32, float16 or bfloat16, which PyTorch knows by its bits."""
    a, b = (_tensor(x) for x in (A, B))
    c = torch.empty(len(A), B.shape[1], dtype=a.dtype)
    return lambda: torch.mm(a, b, out=c).float().numpy()


def _tensor(x: Array) -> torch.Tensor:
    if x.dtype.name != "bfloat16":
        return torch.from_numpy(x)
    return torch.from_numpy(x.view("int16")).view(torch.bfloat16)


# convolutions -----------------------------------------------------------------------------------
def convolution(image: Array, weight: Array, bias: Array) -> Call:
    b = torch.from_numpy(bias)

    def run(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return functional.conv2d(x, w, b, padding=1).relu_()

    return either_format(run, image, weight)


def pointwise(image: Array, weight: Array, bias: Array) -> Call:
    b = torch.from_numpy(bias)
    return either_format(lambda x, w: functional.conv2d(x, w, b), image, weight)


def depthwise(image: Array, weight: Array) -> Call:
    channels = len(weight)

    def run(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return functional.conv2d(x, w, padding=1, groups=channels)

    return either_format(run, image, weight[:, None])


def either_format(run: Callable[..., torch.Tensor], image: Array, weight: Array) -> Call:
    """Operands as they are, or with channels last in memory."""

    def call(memory: torch.memory_format) -> Call:
        x, w = (torch.from_numpy(a).contiguous(memory_format=memory) for a in (image, weight))
        return lambda: run(x, w).numpy()

    return faster(call(torch.contiguous_format), call(torch.channels_last))


# other layers -----------------------------------------------------------------------------------
def softmax(logit: Array) -> Call:
    x = torch.from_numpy(logit)
    out = torch.empty_like(x)
    return lambda: torch.softmax(x, 1, out=out).numpy()


def layer_norm(X: Array, gain: Array, bias: Array) -> Call:
    x, g, b = (torch.from_numpy(a) for a in (X, gain, bias))
    return lambda: functional.layer_norm(x, g.shape, g, b).numpy()


def gelu(X: Array, b: Array) -> Call:
    x, bias = torch.from_numpy(X), torch.from_numpy(b)
    v = torch.empty_like(x)

    def call() -> Array:
        torch.add(x, bias, out=v)
        return functional.gelu(v, approximate="tanh").numpy()

    return call


def attention(Q: Array, K: Array, V: Array) -> Call:
    q, k, v = (torch.from_numpy(a)[None] for a in (Q, K, V))
    return lambda: functional.scaled_dot_product_attention(q, k, v)[0].numpy()


def lstm(x: Array, W: Array, R: Array, b: Array) -> Call:
    layer = layer_of(W, R, b)
    sequence = torch.from_numpy(x)[:, None]
    return lambda: layer(sequence)[0][:, 0].numpy()


def layer_of(W: Array, R: Array, b: Array) -> torch.nn.LSTM:
    """A layer with given weights: those of its four gates in one array each."""
    units, inputs = R.shape[1], W.size // (4 * R.shape[1])
    layer = torch.nn.LSTM(inputs, units).requires_grad_(False)
    given = (W.reshape(4 * units, inputs), R.reshape(4 * units, units), b.reshape(-1))
    weights = [torch.from_numpy(a) for a in given]
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    values = (*weights, torch.zeros(4 * units))
    layer.load_state_dict(dict(zip(names, values, strict=True)))
    return layer


def running_sum(x: Array) -> Call:
    given = torch.from_numpy(x)
    out = torch.empty_like(given)
    return lambda: torch.cumsum(given, 0, out=out).numpy()
