"""How a loop runs."""

from __future__ import annotations

from typing import Literal

Kind = Literal["serial", "parallel", "vector", "unrolled"]
