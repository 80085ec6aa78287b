"""Expressions and other options of directives as JSON values, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors.errors import LanguageError
from .dtypes import ALL, INDEX, WEAK_FLOAT, WEAK_INT, bool_, concrete, unsigned
from .nodes import Const, Node, Op, Param, RVar, Size, Var, postorder
from .ops import OF_EXPANSIONS, OPS

Plain = str | int | bool | None | tuple["Plain", ...] | Node
"""The values of fields of directives."""

_TYPES: dict[str, Any] = {"index": INDEX, "int": WEAK_INT, "float": WEAK_FLOAT} | {
    t.name: t for t in ALL
}


def type_name_of(node: Node) -> str:
    """The name of the type of a typed node. TypeError where JSON has no name for it."""
    found = next((name for name, t in _TYPES.items() if node.type is t), None)
    if found is None:
        raise TypeError(f"{node!r} has no type that JSON can name")
    return found


def encoded(value: Plain) -> Any:
    """An option of a directive as a JSON value."""
    match value:
        case tuple():
            return [encoded(v) for v in value]
        case Const(value=number):
            return {"const": number, "type": type_name_of(value)}
        case Var(name=name) | RVar(name=name):
            return {"var": name}
        case Size(name=name) | Param(name=name):
            return {"symbol": name}
        case Op(op=op, operands=operands):
            return {
                "op": op,
                "of": [encoded(x) for x in operands],
                "type": type_name_of(value),
            }
        case _:
            return value


def decoded(value: Any, symbols: Mapping[str, Node]) -> Plain:
    """The option that `encoded` turned into this JSON value; sizes and Params are looked up in the
    program by name.

    Raises:
        LanguageError: `encoded` makes no such value.
    """
    match value:
        case list():
            return tuple(decoded(v, symbols) for v in value)
        case {"const": bool() | int() | float() as number, "type": str(t), **rest} if not rest:
            return constant(number, t)
        case {"var": str(name), **rest} if not rest:
            return Var(name)
        case {"symbol": str(name), **rest} if not rest:
            if name not in symbols:
                raise LanguageError(f"the program has no size or Param {name}")
            return symbols[name]
        case {"op": str(op), "of": list(operands), "type": str(t), **rest} if not rest:
            found = tuple(decoded(x, symbols) for x in operands)
            args = tuple(x for x in found if isinstance(x, Node))
            if len(args) < len(found):
                raise LanguageError(f"an operand of {op} is no expression: {value!r}")
            return typed_operator(op, args, t)
        case None | bool() | int() | float() | str():
            # A float is no option of any directive: its record refuses it, with the field by name.
            return value  # type: ignore[return-value]
    raise LanguageError(f"{value!r} is no expression that to_json wrote")


def encoded_table(roots: Sequence[Node]) -> list[Any]:
    """Expressions as one JSON value, in which each distinct node is written once: rows in which
    operators name earlier rows by number, and the numbers of the roots. TypeError where an
    expression has no type."""
    rows: list[Any] = []
    numbers: dict[Node, int] = {}
    for node in postorder(*roots):
        match node:
            case Op(op=op, operands=operands):
                of = [numbers[x] for x in operands]
                rows.append({"op": op, "of": of, "type": type_name_of(node)})
            case _:
                rows.append(encoded(node))
        numbers[node] = len(rows) - 1
    return [rows, [numbers[root] for root in roots]]


def decoded_table(value: Any, symbols: Mapping[str, Node]) -> tuple[Node, ...]:
    """The expressions that `encoded_table` turned into this JSON value.

    Raises:
        LanguageError: it makes no such value.
    """
    match value:
        case [list(rows), list(roots)]:
            found: list[Node] = []
            for row in rows:
                match row:
                    case {"op": str(op), "of": list(of), "type": str(t), **rest} if not rest:
                        made: Plain = typed_operator(op, tuple(_row(k, found) for k in of), t)
                    case _:
                        made = decoded(row, symbols)
                if not isinstance(made, Node):
                    raise LanguageError(f"{row!r} is no expression that to_json wrote")
                found.append(made)
            return tuple(_row(k, found) for k in roots)
    raise LanguageError(f"{value!r} is no table of expressions")


def _row(number: Any, rows: Sequence[Node]) -> Node:
    if type(number) is not int or not 0 <= number < len(rows):
        raise LanguageError(f"there is no row {number!r} in a table of {len(rows)} expressions")
    return rows[number]


def operator(op: str, args: tuple[Node, ...]) -> Op:
    """An operator as it is written, untyped, from JSON.

    Raises:
        LanguageError: there is no such operator of so many operands.
    """
    if op not in OPS or op in OF_EXPANSIONS or len(args) != OPS[op].arity:
        raise LanguageError(f"there is no operator {op!r} of {len(args)} operands")
    return Op(op, args, None)


def typed_operator(op: str, args: tuple[Node, ...], type_name: str) -> Op:
    """An operator of the typed language from JSON.

    Raises:
        LanguageError: it takes no such operands, or gives no such result.
    """
    untyped = operator(op, args)
    types = [x.type for x in args]
    if None in types or not _is_typed(op, types, type_of(type_name)):
        of = ", ".join("no type" if x.type is None else type_name_of(x) for x in args)
        raise LanguageError(f"{op} of {of} is no {type_name}")
    return Op(op, untyped.operands, type_of(type_name))


def constant(number: bool | int | float, type_name: str) -> Const:
    """A literal from JSON.

    Raises:
        LanguageError: it is no value of its type.
    """
    if not _is_of_type(number, type_of(type_name)):
        raise LanguageError(f"{number!r} is no {type_name}")
    return Const(number, type_of(type_name))


def _is_of_type(number: bool | int | float, t: Any) -> bool:
    """Whether a constant is one of the values of its type."""
    if isinstance(number, bool) or t == bool_:
        return isinstance(number, bool) and t == bool_
    if isinstance(number, float):
        return concrete(t).is_float
    return t is WEAK_INT or (concrete(t).is_int and concrete(t).min <= number <= concrete(t).max)


def _is_typed(op: str, operands: Sequence[Any], result: Any) -> bool:
    """Whether an operator of the typed language takes such operands, and gives such a result."""
    given, t = [concrete(x) for x in operands], concrete(result)
    match OPS[op].rule:
        case "compare":
            return t.is_bool and given[0] == given[1]
        case "select":
            return given[0].is_bool and given[1] == given[2] == t
        case "arith" | "power":
            return all(x == t for x in given) and not t.is_bool
        case "distance":
            return given[0] == given[1] and given[0].is_int and t == unsigned(given[0])
        case "widening" | "saturate":
            return False  # no typed expression has them
        case "integer" | "counted":
            return all(x == t for x in given) and t.is_int
        case "test":
            return given[0].is_float and t.is_bool
        case "lattice" | "bits" | "not" | "strict" | "round" | "fma":
            return all(x == t for x in given)
        case "divide" | "float" | "ldexp" | "sign" | "fmod":
            return all(x == t for x in given) and t.is_float
    return True


def type_of(name: str) -> Any:
    """The type of that name. LanguageError if there is none."""
    if name not in _TYPES:
        raise LanguageError(f"there is no type {name!r}")
    return _TYPES[name]
