"""Halide with the schedules of Adams and others, 2019, which its own model of costs chooses."""

from .autoscheduled import VERSION, by, threads

__all__ = ["VERSION", "implementation"]

implementation = by(
    "autoschedule_adams2019", "Adams2019", {"parallelism": threads(), "random_dropout_seed": "1"}
)
