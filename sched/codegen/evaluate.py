"""Integer expressions over sizes and Params, as Python functions: extents, origins, conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..lang.errors import InternalError
from ..lang.nodes import Const, Node, Op, Param, Size, postorder

Compiled = Callable[[Mapping[str, int]], tuple[int, ...]]

_TEMPLATES = {
    "add": "({0} + {1})", "sub": "({0} - {1})", "mul": "({0} * {1})", "neg": "(-{0})",
    "floordiv": "({0} // {1} if {1} else 0)", "mod": "({0} % {1} if {1} else 0)",
    "min": "min({0}, {1})", "max": "max({0}, {1})", "abs": "abs({0})",
    "select": "({1} if {0} else {2})", "cast": "({0})", "strict": "({0})",
    "lt": "({0} < {1})", "le": "({0} <= {1})", "gt": "({0} > {1})", "ge": "({0} >= {1})",
    "eq": "({0} == {1})", "ne": "({0} != {1})",
    "and": "({0} & {1})", "or": "({0} | {1})", "xor": "({0} ^ {1})", "not": "(not {0})",
    "shl": "({0} << {1})", "shr": "({0} >> {1})",
}  # fmt: skip


def compile_nodes(nodes: Sequence[Node]) -> Compiled:
    """A function from the values of sizes and Params to the values of the expressions."""
    names: dict[Node, str] = {}
    lines: list[str] = []
    for node in postorder(*nodes):
        names[node] = f"v{len(names)}"
        lines.append(f"    {names[node]} = {_line(node, names)}")
    result = "".join(f"{names[n]}, " for n in nodes)
    source = "\n".join(["def compiled(s):", *lines, f"    return ({result})"])
    scope: dict[str, Compiled] = {}
    exec(source, {"min": min, "max": max, "abs": abs}, scope)
    return scope["compiled"]


def _line(node: Node, names: dict[Node, str]) -> str:
    match node:
        case Const(value=value):
            return repr(value)
        case Size() | Param():
            return f"s[{node.name!r}]"
        case Op(op=op, operands=operands) if op in _TEMPLATES:
            return _TEMPLATES[op].format(*(names[a] for a in operands))
        case _:
            raise InternalError(f"{type(node).__name__} cannot be evaluated before the call")
