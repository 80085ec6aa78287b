"""The loop IR as a listing."""

from __future__ import annotations

from ...lang.nodes.nodes import Node, Var, postorder
from ...lang.nodes.printer import expr_text
from .ir import Alloc, Buffer, Call, Count, For, If, Load, Module, Prefetch, Seq, Stmt, Stores

_LONG = 400


def module_text(module: Module) -> str:
    """The listing of a kernel."""
    lines = [f"kernel {module.name}"]
    lines += [f"  {_buffer_text(b)}" for b in module.buffers]
    if module.scalars:
        lines.append("  scalars " + ", ".join(s.name for s in module.scalars))
    for function in module.functions:
        lines += ["", f"{function.name}:  # {function.title}", stmt_text(function.body, 1)]
    return "\n".join(lines)


def _buffer_text(b: Buffer) -> str:
    shape = ", ".join(node_text(e) for e in b.extents)
    origin = ", ".join(node_text(o) for o in b.origin)
    start = "" if all(node_text(o) == "0" for o in b.origin) else f" from [{origin}]"
    return f"{b.kind} {b.name}: {b.dtype}[{shape}]{start}" + (" strided" if b.strided else "")


def stmt_text(stmt: Stmt, indent: int = 0) -> str:
    """The listing of a statement, indented."""
    pad = "  " * indent
    match stmt:
        case For(var=var, lo=lo, hi=hi, step=step, body=body):
            by = "" if step == 1 else f" by {step}"
            head = f"{pad}for {var.name} in [{node_text(lo)}, {node_text(hi)}){by}:"
            return f"{head}\n{stmt_text(body, indent + 1)}"
        case Alloc(buffers=buffers, origin=origin, body=body):
            where = ", ".join(f"{var.name} = {node_text(value)}" for var, value in origin)
            names = ", ".join(b.name for b in buffers) + (f" at {where}" if where else "")
            return f"{pad}store {names}:\n{stmt_text(body, indent + 1)}"
        case If(condition=condition, body=body, otherwise=otherwise):
            found = f"{pad}if {node_text(condition)}:\n{stmt_text(body, indent + 1)}"
            if otherwise is None:
                return found
            return f"{found}\n{pad}else:\n{stmt_text(otherwise, indent + 1)}"
        case Seq(parts=parts):
            return "\n".join(stmt_text(p, indent) for p in parts)
        case Prefetch(buffer=buffer, index=ahead):
            where = ", ".join(map(node_text, ahead))
            return f"{pad}prefetch {buffer.name}[{where}]"
        case Count(counter=counter, condition=condition):
            return f"{pad}count {counter} where {node_text(condition)}"
        case Call(callback=callback, words=words, condition=condition):
            guard = "" if condition is None else f" where {node_text(condition)}"
            return f"{pad}call {callback}({', '.join(map(node_text, words))}){guard}"
        case Stores(stores=stores, lanes=lanes):
            lines = []
            if lanes is not None:
                by = "" if lanes.step == 1 else f" by {lanes.step}"
                what = "fold" if lanes.folds else "lanes"
                end = f"{node_text(lanes.lo)} + {lanes.count * lanes.step}"
                lines.append(f"{pad}{what} {lanes.var.name} in [{node_text(lanes.lo)}, {end}){by}:")
                pad += "  "
            for s in stores:
                guard = "" if s.guard is None else f" where {node_text(s.guard)}"
                index = ", ".join(map(node_text, s.index))
                lines.append(f"{pad}{s.buffer.name}[{index}] = {node_text(s.value)}{guard}")
            return "\n".join(lines)


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


__all__ = ["module_text", "node_text", "stmt_text"]
