"""Checks that the imports of `sched/` keep its rooms apart.

    python tests/lint_layers.py            # the sched/ beside this folder
    python tests/lint_layers.py a/folder   # another package folder

The rules:

* (cache, lang) <- targets <- poly <- codegen <- checking <- (testing, show, tune, graph, scale);
  interp needs lang only (`MAY_IMPORT`). An import inside a function or under TYPE_CHECKING counts
  as any other.
* The rooms of lang, of poly, of codegen, of codegen/llvm and of tune are folders in an order
  (`ORDER`), and each imports only itself and those before it. No module stands beside them.
* codegen knows no sets: it imports nothing of poly that imports isl, however many files further on
  (`WITHOUT`).
* Modules directly in sched/ may import every room. No room imports them back, except those that
  import nothing of polysched themselves but each other.
* Imports of the package's own modules are relative.
* islpy, llvmlite and hypothesis have few owners (`OWNERS`).
* Only `coalesced` calls isl's `coalesce`, which can end the process (`METHODS`).
* Beyond these, only the standard library and NumPy are imported when a module is loaded; optional
  packages are imported inside functions.
* Each folder with modules has an `__init__.py`; without one it would not be installed.

It prints `file:line: the broken rule` for each breach and exits with 1; if there is none it prints
the order of the rooms and exits with 0.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

BELOW = frozenset({"cache", "lang", "targets", "poly", "codegen", "interp", "checking"})
MAY_IMPORT: dict[str, frozenset[str]] = {
    "cache": frozenset(),
    "lang": frozenset(),
    "interp": frozenset({"lang"}),
    "targets": frozenset({"cache", "lang"}),
    "poly": frozenset({"cache", "lang", "targets"}),
    "codegen": frozenset({"cache", "lang", "targets", "poly"}),
    "checking": frozenset({"lang", "targets", "poly", "codegen", "interp"}),
    "testing": BELOW,
    "show": BELOW,
    "tune": BELOW,
    "graph": BELOW,
    "scale": BELOW,
}
# The rooms inside of a folder, each above those that it may import.
ORDER: dict[str, tuple[str, ...]] = {
    "lang": (
        "errors", "nodes", "arithmetic", "expr", "tensors", "arguments", "program", "call",
        "travel",
    ),
    "poly": (
        "sets", "program", "model", "tree", "recurrence", "placement", "proof", "nests", "state",
        "directives", "legality", "report", "schedule",
    ),
    "codegen": ("ir", "build", "passes", "llvm", "lower", "runtime"),
    "codegen/llvm": (
        "text", "operators", "vectors", "functions", "threads", "calls", "machine",
    ),
    "tune": (
        "facts", "plans", "model", "search", "realise", "classes", "kept_plans", "calibrate",
        "auto",
    ),
}  # fmt: skip
# What a room does not reach through another one.
WITHOUT = {("codegen", "poly"): ("poly", "sets", "isl")}
# The only importers: a file, or all files of a folder (a slash at the end).
OWNERS = {
    "islpy": ("poly/sets/isl.py",),
    "llvmlite": ("codegen/llvm/machine/", "targets/processor.py"),
    "hypothesis": ("testing/",),
}
# Methods of isl that one file has a function for, which all others call.
METHODS = {"coalesce": ("poly/sets/isl.py", "coalesced")}
ON_LOAD = frozenset(sys.stdlib_module_names) | {"numpy"}
OWN_NAMES = ("polysched", "sched")


@dataclass(frozen=True, slots=True)
class Reference:
    """An imported name. `inside` is its path from the package's root, or None if it is foreign."""

    line: int
    name: str
    inside: tuple[str, ...] | None
    lazy: bool


def check(root: Path) -> list[str]:
    """All breaches in the package folder `root`, as `file:line: rule`."""
    files = sorted(root.rglob("*.py"))
    breaches = [
        f"{_shown(path)}:{line}: {rule}"
        for path in files
        for line, rule in _breaches(root, PurePosixPath(path.relative_to(root).as_posix()))
    ]
    for folder in sorted({path.parent for path in files}):
        if not (folder / "__init__.py").exists():
            breaches.append(f"{_shown(folder)}:1: has no __init__.py, so it is not installed")
    return breaches


def _breaches(root: Path, module: PurePosixPath) -> Iterator[tuple[int, str]]:
    room = module.parts[0] if len(module.parts) > 1 else None
    if room is not None and room not in MAY_IMPORT:
        yield 1, f"{room}/ is a room without a rule: add it to MAY_IMPORT"
        return
    for folder, rooms in ORDER.items():
        if module.is_relative_to(folder) and _place(module, folder) not in (*rooms, "__init__"):
            yield 1, f"stands in none of the rooms of {folder}/: {', '.join(rooms)}"
            return
    try:
        references = list(_references(root, module))
    except SyntaxError as error:
        yield error.lineno or 1, f"cannot be parsed: {error.msg}"
        return
    for ref in references:
        rule = _foreign(module, ref) if ref.inside is None else _own(root, module, room, ref)
        if rule is not None:
            yield ref.line, rule
    yield from _asked(root, module)


def _asked(root: Path, module: PurePosixPath) -> Iterator[tuple[int, str]]:
    """Where a method of isl is named for which there is a function."""
    for node in ast.walk(ast.parse((root / module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            owner, function = METHODS[node.attr]
            if str(module) != owner:
                yield node.lineno, f"only {owner} calls {node.attr} of isl: call {function}"


def _place(module: PurePosixPath, folder: str) -> str:
    """Which folder of a folder a module is in, or what it is called there."""
    return module.relative_to(folder).parts[0].removesuffix(".py")


def _own(root: Path, module: PurePosixPath, room: str | None, ref: Reference) -> str | None:
    """The rule that an import from inside the package breaks, if any."""
    assert ref.inside is not None
    if ref.name.startswith(OWN_NAMES):
        return f"imports of polysched itself are relative here (not {ref.name})"
    if not ref.inside:
        return f"{ref.name} leaves the package"
    target = ref.inside[0]
    if room is not None and target == room:
        return _in_order(module, ref.inside)
    if room is None:
        return None
    if target in MAY_IMPORT:
        allowed = MAY_IMPORT[room]
        if target in allowed:
            hidden = WITHOUT.get((room, target))
            if hidden is not None and _reaches(root, ref.inside, hidden):
                return f"{room} reaches {'/'.join(hidden)}.py through {ref.name}"
            return None
        return f"{room} imports {' '.join(sorted(allowed)) or 'no other room'}, not {ref.name}"
    if _is_leaf(root, target):
        return None
    return f"no room imports the public face ({ref.name})"


def _in_order(module: PurePosixPath, inside: tuple[str, ...]) -> str | None:
    """The rule that an import between the rooms of a folder breaks, if any."""
    imported = PurePosixPath(*inside)
    for folder, order in ORDER.items():
        if module.is_relative_to(folder) and PurePosixPath(folder) in imported.parents:
            own, other = _place(module, folder), _place(imported, folder)
            if own in order and other in order and order.index(other) > order.index(own):
                return f"{folder}/{own} comes before {folder}/{other}, and imports it"
    return None


def _foreign(module: PurePosixPath, ref: Reference) -> str | None:
    """The rule that an import from outside the package breaks, if any."""
    package = ref.name.partition(".")[0]
    owner = OWNERS.get(package)
    if owner is not None:
        path = str(module)
        owned = any(path == x or (x.endswith("/") and path.startswith(x)) for x in owner)
        return None if owned else f"only {' and '.join(owner)} imports {package}"
    if ref.lazy or package in ON_LOAD:
        return None
    return f"{package} is optional: import it inside the function that needs it"


def _reaches(root: Path, inside: tuple[str, ...], end: tuple[str, ...]) -> bool:
    """Whether a module of one room imports another one there, directly or through others."""
    seen: set[PurePosixPath] = set()
    waiting = [inside]
    while waiting:
        path = waiting.pop()
        if path[: len(end)] == end:
            return True
        module = _module(root, path)
        if module is not None and module not in seen:
            seen.add(module)
            found = (ref.inside for ref in _references(root, module))
            waiting += [x for x in found if x and x[0] == end[0]]
    return False


def _module(root: Path, path: tuple[str, ...]) -> PurePosixPath | None:
    """The file of a module, or of a name in one; that of a package, where it is one."""
    for count in (len(path), len(path) - 1):
        stem = PurePosixPath(*path[:count])
        for module in (stem.with_suffix(".py"), stem / "__init__.py"):
            if count and (root / module).is_file():
                return module
    return None


def _is_leaf(root: Path, name: str, above: frozenset[str] = frozenset()) -> bool:
    """Whether sched/name.py exists and imports nothing of polysched but leaves."""
    module = PurePosixPath(f"{name}.py")
    if not (root / module).is_file():
        return False
    above |= {name}
    return all(
        ref.inside is None
        or (ref.inside and ref.inside[0] not in above and _is_leaf(root, ref.inside[0], above))
        for ref in _references(root, module)
    )


def _references(root: Path, module: PurePosixPath) -> Iterator[Reference]:
    package = module.parent.parts
    tree = ast.parse((root / module).read_text(encoding="utf-8"), filename=str(module))
    for node, lazy in _imports(tree, lazy=False):
        for name in _imported(node):
            yield Reference(node.lineno, name, _inside(name, package), lazy)


def _inside(name: str, package: tuple[str, ...]) -> tuple[str, ...] | None:
    """The path from the package's root; () for a name that is above it or spelt in full."""
    level = len(name) - len(name.lstrip("."))
    if level == 0:
        return () if name.partition(".")[0] in OWN_NAMES else None
    up = len(package) - (level - 1)
    return () if up < 0 else (*package[:up], *name[level:].split("."))


Import = ast.Import | ast.ImportFrom | ast.Call


def _imports(node: ast.AST, *, lazy: bool) -> Iterator[tuple[Import, bool]]:
    """The imports below a node, and whether loading the module leaves them alone."""
    if isinstance(node, Import):
        yield node, lazy
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        lazy = True
    unread = node.body if isinstance(node, ast.If) and _is_type_checking(node.test) else []
    for child in ast.iter_child_nodes(node):
        yield from _imports(child, lazy=lazy or child in unread)


def _is_type_checking(test: ast.expr) -> bool:
    match test:
        case ast.Name("TYPE_CHECKING") | ast.Attribute(ast.Name("typing"), "TYPE_CHECKING"):
            return True
    return False


def _imported(node: Import) -> list[str]:
    """The names that a node imports, with their leading dots; none for other calls."""
    match node:
        case ast.Import(names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module, names, level):
            start = "." * level + (f"{module}." if module else "")
            return [start + alias.name for alias in names]
        case ast.Call(
            ast.Name("__import__" | "import_module") | ast.Attribute(_, "import_module"),
            [ast.Constant(str(name)), *_],
        ):
            return [name]
    return []


def _shown(path: Path) -> Path:
    path, here = path.resolve(), Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def main(arguments: list[str]) -> int:
    """The command line."""
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent / "sched"
    breaches = check(root)
    print(*(breaches or _order_text()), sep="\n")
    return 1 if breaches else 0


def _order_text() -> Iterator[str]:
    """The rooms, each below those that may import it."""
    above = "testing, show, tune, graph, scale"
    yield f"lang < interp; cache, lang < targets < poly < codegen < checking < {above}"
    for room, inside in ORDER.items():
        yield f"{room}: {' < '.join(inside)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
