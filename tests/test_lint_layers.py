"""The layer check finds each kind of forbidden import, and lets the allowed ones pass."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import lint_layers
import pytest

ROOMS = (
    "lang",
    "poly",
    "poly/sets",
    "poly/nests",
    "poly/schedule",
    "codegen",
    "codegen/llvm",
    "codegen/passes",
    "interp",
    "testing",
    "show",
    "checking",
)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package folder whose rooms are empty, with leaf modules `errors` and `steps` at its top."""
    root = tmp_path / "sched"
    for folder in ("", *ROOMS):
        (root / folder).mkdir(parents=True, exist_ok=True)
        (root / folder / "__init__.py").write_text("")
    (root / "errors.py").write_text("import enum\n")
    (root / "steps.py").write_text("from .errors import Error\n")
    (root / "face.py").write_text("from .lang import a\n")
    (root / "about.py").write_text("from .face import a\n")
    (root / "poly" / "nests" / "knows_sets.py").write_text("from ..sets.isl import Set\n")
    late = "from ..sets.linear import x\nif TYPE_CHECKING:\n    from . import knows_sets\n"
    (root / "poly" / "nests" / "knows_late.py").write_text(late)
    (root / "poly" / "sets" / "linear.py").write_text("from ...lang import index\n")
    return root


def write(root: Path, module: str, source: str) -> None:
    path = root / module
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)


FORBIDDEN = [
    # What has a function of its own.
    ("poly/sets/a.py", "def f(x): return x.coalesce()", "only poly/sets/isl.py calls coalesce"),
    # One way between the rooms.
    ("lang/nodes/a.py", "from ...poly import deps", "lang imports no other room, not ...poly.deps"),
    ("lang/nodes/a.py", "from ... import poly", "lang imports no other room, not ...poly"),
    ("lang/nodes/a.py", "from ...interp.run import evaluate", "lang imports no other room"),
    ("poly/sets/a.py", "from ...codegen import lower", "poly imports cache lang targets, not"),
    ("poly/sets/a.py", "from ...interp import run", "poly imports cache lang targets, not"),
    ("interp/a.py", "from ..poly import isl", "interp imports lang, not ..poly.isl"),
    (
        "codegen/lower.py",
        "from ..testing import check",
        "codegen imports cache lang poly targets, not",
    ),
    (
        "codegen/lower.py",
        "from ..interp import run",
        "codegen imports cache lang poly targets, not",
    ),
    (
        "codegen/passes/a.py",
        "from ...show import text",
        "codegen imports cache lang poly targets, not",
    ),
    (
        "codegen/passes/check.py",
        "from ...interp import run",
        "codegen imports cache lang poly targets, not",
    ),
    (
        "show/a.py",
        "from ..testing import check",
        "show imports cache checking codegen interp lang poly targets",
    ),
    (
        "tune/auto.py",
        "from ..graph import load",
        "tune imports cache checking codegen interp lang poly targets",
    ),
    (
        "codegen/lower.py",
        "from ..checking import run",
        "codegen imports cache lang poly targets, not",
    ),
    # No sets in codegen.
    (
        "codegen/lower.py",
        "from ..poly.sets.isl import Set",
        "codegen reaches poly/sets/isl.py through",
    ),
    ("codegen/lower.py", "from ..poly.sets import isl", "codegen reaches poly/sets/isl.py through"),
    (
        "codegen/lower.py",
        "from ..poly.nests.knows_sets import f",
        "codegen reaches poly/sets/isl.py",
    ),
    (
        "codegen/lower.py",
        "from ..poly.nests.knows_late import f",
        "codegen reaches poly/sets/isl.py",
    ),
    (
        "codegen/lower.py",
        "def f():\n    from ..poly.nests import knows_late",
        "codegen reaches poly/sets/isl",
    ),
    # The rooms of poly in their order.
    ("poly/sets/a.py", "from ..nests.nests import f", "poly/sets comes before poly/nests, and"),
    (
        "poly/nests/a.py",
        "def f():\n    from ..schedule import g",
        "poly/nests comes before poly/sch",
    ),
    (
        "poly/sets/a.py",
        "if TYPE_CHECKING:\n    from ..nests import g",
        "poly/sets comes before poly/n",
    ),
    ("codegen/ir/a.py", "from ..build import b", "codegen/ir comes before codegen/build, and"),
    ("codegen/llvm/text/a.py", "from ...lower import b", "codegen/llvm comes before codegen/lower"),
    (
        "codegen/llvm/text/a.py",
        "from ..vectors import b",
        "codegen/llvm/text comes before codegen/llvm/vectors, and",
    ),
    ("codegen/llvm/a.py", "import ast", "stands in none of the rooms of codegen/llvm/: text, "),
    ("tune/model/a.py", "from ..search import b", "tune/model comes before tune/search, and"),
    ("codegen/lower.py", "from .runtime import b", "codegen/lower comes before codegen/runtime"),
    ("codegen/other.py", "import ast", "stands in none of the rooms of codegen/: ir, "),
    ("poly/a.py", "import ast", "stands in none of the rooms of poly/: sets, "),
    ("poly/other/a.py", "import ast", "stands in none of the rooms of poly/: sets, "),
    # However the import is written.
    ("lang/nodes/a.py", "def f():\n    from ...poly import deps", "lang imports no other room"),
    (
        "lang/nodes/a.py",
        "if TYPE_CHECKING:\n    from ...poly import deps",
        "lang imports no other room",
    ),
    ("lang/nodes/a.py", "import_module('...poly', __package__)", "lang imports no other room"),
    (
        "lang/nodes/a.py",
        "importlib.import_module('...poly', __package__)",
        "lang imports no other room",
    ),
    # The public face and what is above it.
    ("poly/sets/a.py", "from ... import Schedule", "no room imports the public face (...Schedule)"),
    ("poly/sets/a.py", "from ...face import a", "no room imports the public face (...face.a)"),
    ("poly/sets/a.py", "from ...about import a", "no room imports the public face (...about.a)"),
    ("poly/sets/a.py", "from ... import *", "no room imports the public face"),
    ("poly/sets/a.py", "from .... import x", "...x leaves the package"),
    ("poly/sets/a.py", "import polysched.lang", "imports of polysched itself are relative here"),
    (
        "poly/sets/a.py",
        "from sched.lang import types",
        "imports of polysched itself are relative here",
    ),
    ("face.py", "from polysched import lang", "imports of polysched itself are relative here"),
    # Packages with one owner.
    ("poly/sets/deps.py", "import islpy as isl", "only poly/sets/isl.py imports islpy"),
    ("poly/nests/isl.py", "import islpy", "only poly/sets/isl.py imports islpy"),
    ("codegen/lower.py", "def f():\n    import islpy", "only poly/sets/isl.py imports islpy"),
    ("face.py", "__import__('islpy')", "only poly/sets/isl.py imports islpy"),
    (
        "codegen/runtime/kernel.py",
        "import llvmlite.binding",
        "only codegen/llvm/machine/ and targets/processor.py imports llvmlite",
    ),
    (
        "codegen/llvm.py",
        "import llvmlite",
        "only codegen/llvm/machine/ and targets/processor.py imports llvmlite",
    ),
    (
        "show/a.py",
        "from llvmlite import binding",
        "only codegen/llvm/machine/ and targets/processor.py imports llvmlite",
    ),
    ("interp/a.py", "import hypothesis", "only testing/ imports hypothesis"),
    ("face.py", "if TYPE_CHECKING:\n    import hypothesis", "only testing/ imports hypothesis"),
    # Optional packages.
    ("show/a.py", "import matplotlib.pyplot as plt", "matplotlib is optional"),
    ("show/a.py", "from IPython.display import SVG", "IPython is optional"),
    ("testing/a.py", "from skimage import data", "skimage is optional"),
    (
        "face.py",
        "try:\n    import torch\nexcept ImportError:\n    pass",
        "torch is optional",
    ),
    ("show/a.py", "class C:\n    import scipy", "scipy is optional"),
    ("show/a.py", "if not TYPE_CHECKING:\n    import scipy", "scipy is optional"),
    ("show/a.py", "if TYPE_CHECKING:\n    pass\nelse:\n    import scipy", "scipy is optional"),
    # Files the check cannot vouch for.
    ("attic/a.py", "", "attic/ is a room without a rule"),
    ("lang/nodes/a.py", "def", "cannot be parsed"),
]


@pytest.mark.parametrize(("module", "source", "rule"), FORBIDDEN)
def test_forbidden(package: Path, module: str, source: str, rule: str) -> None:
    write(package, module, source)
    (package / module).with_name("__init__.py").touch()
    assert any(f"{module}:" in breach and rule in breach for breach in lint_layers.check(package))


ALLOWED = [
    ("poly/sets/a.py", "from ...lang import types\nfrom . import isl\nfrom .isl import Set"),
    ("poly/__init__.py", "from .isl import Set\nfrom ..lang.types import float32"),
    ("poly/sets/isl.py", "import islpy as isl"),
    ("poly/schedule/a.py", "from ..nests.knows_late import x\nfrom ..sets import linear"),
    (
        "codegen/lower.py",
        "from ..lang import types\nfrom ..poly import deps\nfrom .llvm import emit",
    ),
    ("checking/examine.py", "from ..interp import instances"),
    ("codegen/passes/a.py", "from ...poly.sets.linear import expanded\nfrom ..ir import Loop"),
    (
        "codegen/llvm/machine/emit.py",
        "import llvmlite.binding as llvm\nfrom llvmlite import binding",
    ),
    ("interp/a.py", "from ..lang import types\nimport numpy as np"),
    ("testing/a.py", "from hypothesis import strategies\nfrom ..interp import run"),
    ("show/a.py", "from .. import codegen, interp, lang, poly"),
    ("show/a.py", "def f():\n    import matplotlib.pyplot as plt\n    from IPython import display"),
    ("show/a.py", "if TYPE_CHECKING:\n    from matplotlib.axes import Axes"),
    ("show/a.py", "if typing.TYPE_CHECKING:\n    from matplotlib.axes import Axes"),
    ("tune/auto.py", "from ..codegen import lower"),
    ("lang/nodes/a.py", "from ...errors import LanguageError\nfrom ... import errors"),
    ("lang/nodes/a.py", "from ...steps import Log\nfrom ... import steps"),
    (
        "lang/nodes/a.py",
        "import ast, os.path\nfrom collections.abc import Iterator\nimport numpy.typing",
    ),
    ("face.py", "from . import codegen, interp, lang, poly, show, testing\nfrom .errors import E"),
    ("__main__.py", "def main():\n    import_module('.show', __package__)\n    import torch"),
    ("lang/nodes/a.py", "import_module(name)\nprint('import islpy')"),
]


@pytest.mark.parametrize(("module", "source"), ALLOWED)
def test_allowed(package: Path, module: str, source: str) -> None:
    write(package, module, source)
    (package / module).with_name("__init__.py").touch()
    assert lint_layers.check(package) == []


def test_folder_without_init(package: Path) -> None:
    write(package, "poly/legality/flow.py", "")
    (breach,) = lint_layers.check(package)
    assert breach.endswith("poly/legality:1: has no __init__.py, so it is not installed")


def test_command_line_names_file_line_and_rule(package: Path) -> None:
    write(package, "poly/sets/a.py", "import enum\n\nimport islpy\n")
    run = subprocess.run(
        [sys.executable, lint_layers.__file__, package.name],
        cwd=package.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert run.stdout == "sched/poly/sets/a.py:3: only poly/sets/isl.py imports islpy\n"


def test_command_line_shows_the_order_of_the_rooms_when_all_is_well(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lint_layers.main([str(package)]) == 0
    assert "poly: sets < program < model < tree" in capsys.readouterr().out
