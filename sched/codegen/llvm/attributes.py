"""The attributes of LLVM's functions that say which machine they are for."""

from __future__ import annotations

from ...targets.target import Target


def machine_attributes(target: Target) -> str:
    """The processor whose instructions a function may use, and the one that it is tuned for."""
    tune = f' "tune-cpu"="{target.tune}"' if target.tune else ""
    return f'"target-cpu"="{target.cpu}" "target-features"="{target.feature_text}"{tune}'
