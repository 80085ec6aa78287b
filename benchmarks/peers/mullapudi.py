"""Halide with the schedules of Mullapudi and others, 2016."""

from .autoscheduled import VERSION, by, threads

__all__ = ["VERSION", "implementation"]

implementation = by("autoschedule_mullapudi2016", "Mullapudi2016", {"parallelism": threads()})
