"""How many threads kernels run on."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.codegen.runtime.threads import cgroup_quota
from threads.processes import run


@pytest.mark.slow
def test_numbers_set_and_scoped() -> None:
    before = ps.get_num_threads()
    with ps.threads(3):
        assert ps.get_num_threads() == 3
        with ps.threads(np.int64(5)):
            assert ps.get_num_threads() == 5
            with ThreadPoolExecutor(1) as executor:  # it holds for this thread only
                assert executor.submit(ps.get_num_threads).result() == before
        assert ps.get_num_threads() == 3
    assert ps.get_num_threads() == before
    code = "import polysched as ps; ps.set_num_threads(7); print(ps.get_num_threads())"
    assert run(code).split() == ["7"]


@pytest.mark.parametrize("wrong", [0, -1, 1025])
def test_numbers_out_of_range(wrong: int) -> None:
    with pytest.raises(
        ValueError, match=rf"set_num_threads\(n\): n must be from 1 to 1024, not {wrong}"
    ):
        ps.set_num_threads(wrong)
    with pytest.raises(ValueError, match=r"^threads\(n\): n must be from 1 to 1024"):
        ps.threads(wrong)


@pytest.mark.parametrize("wrong", [1.0, "2", None, True])
def test_numbers_that_are_none(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"set_num_threads\(n\): n must be an integer, not"):
        ps.set_num_threads(wrong)
    with pytest.raises(TypeError, match=r"^threads\(n\): n must be an integer"):
        ps.threads(wrong)


NUMBER = "import polysched as ps; print(ps.get_num_threads())"


@pytest.mark.slow
def test_numbers_from_the_environment() -> None:
    assert run(NUMBER, POLYSCHED_NUM_THREADS="5", OMP_NUM_THREADS="3").split() == ["5"]
    assert run(NUMBER, OMP_NUM_THREADS="3").split() == ["3"]
    assert run(NUMBER, OMP_NUM_THREADS="4,2").split() == ["4"]
    assert run(NUMBER, POLYSCHED_NUM_THREADS="", OMP_NUM_THREADS="dynamic").split() == [
        run(NUMBER).strip()
    ]


@pytest.mark.slow
@pytest.mark.parametrize("text", ["0", "-2", "many", "1.5"])
def test_wrong_numbers_in_the_environment(text: str) -> None:
    code = """
        import polysched as ps
        try:
            ps.get_num_threads()
        except ValueError as error:
            print(error)
    """
    wanted = f"POLYSCHED_NUM_THREADS must be an integer from 1 to 1024, not {text!r}\n"
    assert run(code, POLYSCHED_NUM_THREADS=text) == wanted


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="affinity is Linux's")
def test_numbers_from_the_affinity() -> None:
    code = f"import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); {NUMBER}"
    assert run(code).split() == ["1"]


def test_quotas_of_cgroups(tmp_path: Path) -> None:
    groups, root = tmp_path / "cgroup", tmp_path / "fs"
    inner = root / "a" / "b"
    inner.mkdir(parents=True)
    groups.write_text("0::/a/b\n")
    assert cgroup_quota(groups, root) is None
    (inner / "cpu.max").write_text("max 100000\n")
    assert cgroup_quota(groups, root) is None
    (root / "a" / "cpu.max").write_text("150000 100000\n")
    assert cgroup_quota(groups, root) == 2
    (inner / "cpu.max").write_text("50000 100000\n")
    assert cgroup_quota(groups, root) == 1
    groups.write_text("0::/elsewhere\n")  # a container sees its own group as the root
    (root / "cpu.max").write_text("300000 100000\n")
    assert cgroup_quota(groups, root) == 3
    assert cgroup_quota(tmp_path / "none", root) is None


def test_quotas_of_older_cgroups(tmp_path: Path) -> None:
    groups, root = tmp_path / "cgroup", tmp_path / "fs"
    group = root / "cpu,cpuacct" / "docker" / "x"
    group.mkdir(parents=True)
    groups.write_text("5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n")
    (group / "cpu.cfs_period_us").write_text("100000\n")
    (group / "cpu.cfs_quota_us").write_text("-1\n")
    assert cgroup_quota(groups, root) is None
    (group / "cpu.cfs_quota_us").write_text("250000\n")
    assert cgroup_quota(groups, root) == 3


@pytest.mark.slow
def test_one_thread_inside_of_workers_of_joblib_and_dask() -> None:
    """With stand-ins that look like what these packages have."""
    code = """
        import sys, types
        import polysched as ps
        joblib = types.ModuleType("joblib")
        level = types.SimpleNamespace(nesting_level=0)
        joblib.parallel = types.SimpleNamespace(get_active_backend=lambda: (level, 1))
        sys.modules["joblib"] = joblib
        default = ps.get_num_threads()
        level.nesting_level = 1
        print(ps.get_num_threads())
        level.nesting_level = 0
        assert ps.get_num_threads() == default
        sys.modules["dask"] = types.ModuleType("dask")
        sys.modules["distributed"] = distributed = types.ModuleType("distributed")
        distributed.get_worker = lambda: "a worker"
        print(ps.get_num_threads())
        with ps.threads(3):
            print(ps.get_num_threads())
    """
    assert run(code, OMP_NUM_THREADS="4").split() == ["1", "1", "3"]
