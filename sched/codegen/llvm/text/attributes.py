"""The attributes of LLVM's functions that say which machine they are for."""

from __future__ import annotations

from ....targets.target import Target

PLAIN = '"polysched-plain"'
"""Of functions that find what others need and call them: LLVM's passes before code generation can
simplify nothing of them, so they are left out. Other tools do not know this attribute."""

SHORT = "noinline optnone"
"""Of those among them that pass on so little that the quickest of LLVM's code generators makes the
same instructions as the best one."""


def machine_attributes(target: Target, more: str = "") -> str:
    """The processor whose instructions a function may use, and the one that it is tuned for.

    Args:
        more: a feature of LLVM's that the function has, or has not, beside those of the target.
    """
    tune = f' "tune-cpu"="{target.tune}"' if target.tune else ""
    features = ",".join(x for x in (target.feature_text, more) if x)
    return f'"target-cpu"="{target.cpu}" "target-features"="{features}"{tune}'


def stack_alignment(target: Target) -> str:
    """The attribute by which the frame of a function begins where a vector may lie. Without it LLVM
    keeps vectors in frames at multiples of 16 bytes: some lie in two cache lines then, and one that
    lies in two pages makes each streaming store wait until the one before it is in memory."""
    return f"alignstack={target.vector_bytes} " if target.vector_bytes > 16 else ""
