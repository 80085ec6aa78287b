"""PyTorch's compiler for layers of networks: `torch.compile`, whose Inductor makes C++ of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from case import Array
from torch.nn import functional

from .torch import VERSION, Call, either_format, layer_of

__all__ = ["VERSION"]

Tensor = torch.Tensor


def _compiled(run: Callable[..., Tensor], *arrays: Array) -> Call:
    """A call on arrays that do not move, compiled for their shapes."""
    made: Any = torch.compile(run, dynamic=False)
    given = [torch.from_numpy(a) for a in arrays]
    return lambda: made(*given).numpy()


def convolution(image: Array, weight: Array, bias: Array) -> Call:
    b = torch.from_numpy(bias)

    def run(x: Tensor, w: Tensor) -> Tensor:
        return functional.conv2d(x, w, b, padding=1).relu()

    return either_format(torch.compile(run, dynamic=False), image, weight)


def pointwise(image: Array, weight: Array, bias: Array) -> Call:
    b = torch.from_numpy(bias)

    def run(x: Tensor, w: Tensor) -> Tensor:
        return functional.conv2d(x, w, b)

    return either_format(torch.compile(run, dynamic=False), image, weight)


def depthwise(image: Array, weight: Array) -> Call:
    channels = len(weight)

    def run(x: Tensor, w: Tensor) -> Tensor:
        return functional.conv2d(x, w, padding=1, groups=channels)

    return either_format(torch.compile(run, dynamic=False), image, weight[:, None])


def softmax(logit: Array) -> Call:
    return _compiled(lambda x: torch.softmax(x, 1), logit)


def layer_norm(X: Array, gain: Array, bias: Array) -> Call:
    return _compiled(lambda x, g, b: functional.layer_norm(x, g.shape, g, b), X, gain, bias)


def gelu(X: Array, b: Array) -> Call:
    return _compiled(lambda x, b: functional.gelu(x + b, approximate="tanh"), X, b)


def attention(Q: Array, K: Array, V: Array) -> Call:
    run = functional.scaled_dot_product_attention
    return _compiled(lambda q, k, v: run(q[None], k[None], v[None])[0], Q, K, V)


def lstm(x: Array, W: Array, R: Array, b: Array) -> Call:
    layer = layer_of(W, R, b)
    return _compiled(lambda sequence: layer(sequence[:, None])[0][:, 0], x)
