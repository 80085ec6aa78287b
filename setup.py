"""Lists the packages, the one thing pyproject.toml cannot say: `polysched` lives in `sched/`."""

from setuptools import find_packages, setup

setup(packages=["polysched", *(f"polysched.{name}" for name in find_packages("sched"))])
