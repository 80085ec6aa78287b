"""The loop IR as a listing."""

from __future__ import annotations

from collections.abc import Iterator

from ...lang.nodes.nodes import Node, Var, postorder
from ...lang.nodes.printer import expr_text
from .ir import (
    Alloc,
    Buffer,
    Call,
    Count,
    For,
    Function,
    If,
    Load,
    Mark,
    Module,
    Prefetch,
    Seq,
    Stmt,
    Stores,
)

_LONG = 400


def module_text(module: Module) -> str:
    """The listing of a kernel."""
    return "\n".join(line for line, _ in module_lines(module))


def module_lines(module: Module) -> Iterator[tuple[str, Function | Stmt | None]]:
    """The lines of the listing of a kernel, each with the function or the statement that it shows,
    or a part of."""
    yield f"kernel {module.name}", None
    for b in module.buffers:
        yield f"  {_buffer_text(b)}", None
    if module.scalars:
        yield "  scalars " + ", ".join(s.name for s in module.scalars), None
    for function in module.functions:
        yield "", None
        yield f"{function.name}:  # {function.title}", function
        yield from stmt_lines(function.body, 1)


def _buffer_text(b: Buffer) -> str:
    shape = ", ".join(node_text(e) for e in b.extents)
    origin = ", ".join(node_text(o) for o in b.origin)
    start = "" if all(node_text(o) == "0" for o in b.origin) else f" from [{origin}]"
    return f"{b.kind} {b.name}: {b.dtype}[{shape}]{start}" + (" strided" if b.strided else "")


def stmt_text(stmt: Stmt, indent: int = 0) -> str:
    """The listing of a statement, indented."""
    return "\n".join(line for line, _ in stmt_lines(stmt, indent))


def stmt_lines(stmt: Stmt, indent: int = 0) -> Iterator[tuple[str, Stmt]]:
    """The lines of the listing of a statement, each with the statement that it shows."""
    pad = "  " * indent
    match stmt:
        case For(var=var, lo=lo, hi=hi, step=step, body=body):
            by = "" if step == 1 else f" by {step}"
            yield f"{pad}for {var.name} in [{node_text(lo)}, {node_text(hi)}){by}:", stmt
            yield from stmt_lines(body, indent + 1)
        case Alloc(buffers=buffers, origin=origin, body=body):
            where = ", ".join(f"{var.name} = {node_text(value)}" for var, value in origin)
            names = ", ".join(b.name for b in buffers) + (f" at {where}" if where else "")
            yield f"{pad}store {names}:", stmt
            yield from stmt_lines(body, indent + 1)
        case If(condition=condition, body=body, otherwise=otherwise):
            yield f"{pad}if {node_text(condition)}:", stmt
            yield from stmt_lines(body, indent + 1)
            if otherwise is not None:
                yield f"{pad}else:", stmt
                yield from stmt_lines(otherwise, indent + 1)
        case Seq(parts=()):
            yield "", stmt
        case Seq(parts=parts):
            for part in parts:
                yield from stmt_lines(part, indent)
        case Stores():
            for line in _stores_lines(stmt, pad):
                yield line, stmt
        case _:
            yield pad + _line(stmt), stmt


def _line(stmt: Prefetch | Count | Call | Mark) -> str:
    """A statement that stands on one line."""
    match stmt:
        case Prefetch(buffer=buffer, index=ahead):
            return f"prefetch {buffer.name}[{', '.join(map(node_text, ahead))}]"
        case Count(counter=counter, condition=condition):
            return f"count {counter} where {node_text(condition)}"
        case Call(callback=callback, words=words, condition=holds):
            guard = "" if holds is None else f" where {node_text(holds)}"
            return f"call {callback}({', '.join(map(node_text, words))}){guard}"
        case Mark(region=region, clock=clock):
            return f"mark {region}" + ("" if clock else " without a clock")


def _stores_lines(stmt: Stores, pad: str) -> Iterator[str]:
    lanes = stmt.lanes
    if lanes is not None:
        by = "" if lanes.step == 1 else f" by {lanes.step}"
        what = "fold" if lanes.folds else "lanes"
        end = f"{node_text(lanes.lo)} + {lanes.count * lanes.step}"
        yield f"{pad}{what} {lanes.var.name} in [{node_text(lanes.lo)}, {end}){by}:"
        pad += "  "
    for s in stmt.stores:
        guard = "" if s.guard is None else f" where {node_text(s.guard)}"
        index = ", ".join(map(node_text, s.index))
        yield f"{pad}{s.buffer.name}[{index}] = {node_text(s.value)}{guard}"


def node_text(root: Node) -> str:
    """An expression with loads; a very long one is cut."""
    found: dict[Node, Node] = {}
    for node in postorder(root):
        args = tuple(found[a] for a in node.args)
        if isinstance(node, Load):
            index = ", ".join(expr_text(a) for a in args[: len(node.index)])
            guard = f" if {expr_text(args[-1])}" if node.guard is not None else ""
            found[node] = Var(f"{node.buffer.name}[{index}{guard}]")
        else:
            found[node] = node.with_args(args)
    text = expr_text(found[root])
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."


__all__ = ["module_lines", "module_text", "node_text", "stmt_lines", "stmt_text"]
