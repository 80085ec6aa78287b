"""Advice on kernels: causes of lost time, each with a change of the schedule that was measured."""
