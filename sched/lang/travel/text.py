"""Programs as JSON, and back: everything that they are made of, in one text.

The text says nothing of when and where the program was made: it is the same for equal programs that
are written in the same order.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ...records import dataclass
from ..errors.errors import LanguageError, LanguageTypeError
from ..nodes.serials import reserved
from ..program.program import Program
from ..tensors.asked import outputs_of
from ..tensors.inout import Initial, InOut
from ..tensors.tensors import Func, Input
from .functions import HINT, function_at, place_of
from .reader import Reader
from .tables import array_of, text_of
from .things import Thing, things_in
from .writer import Entry, Writer

FORMAT = 1
"""The version of the format. It grows where older versions cannot read what this one writes."""


@dataclass(frozen=True, eq=False)
class Read:
    """What a text says.

    Attributes:
        kind: what was written: "func", "funcs", "program" or "schedule".
        outputs: the Funcs that are computed.
        args: the Inputs in the order of a call, if that was written.
        schedule: what was said to a schedule, as its own JSON, if it was one.
    """

    kind: str
    outputs: tuple[Func, ...]
    args: tuple[Input | InOut, ...] | None
    schedule: str | None

    @property
    def program(self) -> Program:
        """The program of these outputs.

        Raises:
            LanguageError: it is ill-formed.
        """
        return Program(self.outputs, self.args)


KINDS = ("func", "funcs", "program", "schedule")


def written(
    kind: str,
    outputs: Func | Sequence[Func],
    args: Sequence[Input | InOut] | None = None,
    schedule: str | None = None,
) -> str:
    """The text that `read` reads."""
    funcs = outputs_of(outputs)
    given = tuple(args or ())
    things = in_order([*funcs, *(a.array if isinstance(a, Initial) else a for a in given)])
    writer = Writer(lambda thing: None, text_of, function_text, places=False)
    number = dict(zip(map(id, things), writer.things(things), strict=True))
    whole = {
        "polysched": kind,
        "format": FORMAT,
        "entries": renumbered(writer.entries),
        "outputs": [number[id(f)] for f in funcs],
    }
    if args is not None:
        whole["args"] = [number[id(a.array if isinstance(a, Initial) else a)] for a in given]
    if schedule is not None:
        whole["schedule"] = json.loads(schedule)
    return json.dumps(whole)


def function_text(name: str, function: Any) -> list[str]:
    """How the function of an extern stage stands in a text: its module and its name there.

    Raises:
        LanguageError: others cannot find it by these.
    """
    module, path = place_of(name, function)
    if module == "__main__":
        raise LanguageError(
            f"the extern stage {name} calls {path} of the script that runs, which is none of the "
            "modules that others can import",
            hint=HINT,
        )
    return [module, path]


def in_order(roots: Sequence[Thing]) -> list[Thing]:
    """Things and all that they need. Those that have serials come in the order of these."""
    found = dict.fromkeys(t for root in roots for t in things_in(root))
    return sorted(found, key=lambda t: getattr(t, "serial", -1))


def renumbered(entries: Sequence[Entry]) -> list[Entry]:
    """Entries whose serials are 0, 1, 2 and so on, in the same order."""
    every = sorted(n for e in entries for n in e.get("serials", ()))
    new = {n: k for k, n in enumerate(every)}
    return [e | {"serials": [new[n] for n in e["serials"]]} if "serials" in e else e
            for e in entries]  # fmt: skip


def read(text: object) -> Read:
    """What `written` wrote.

    Raises:
        LanguageError: it is something else, or was written by a version that is newer, or the
            program is ill-formed.
    """
    data = _loaded(text)
    entries, kind = data.get("entries"), data["polysched"]
    match data:
        case {"entries": list(entries), "outputs": list(outputs), **rest} if set(rest) <= _REST:
            count = sum(len(e.get("serials", ())) for e in entries if _has_serials(e))
            first = reserved(count)
            own = range(first, first + count)
            reader = Reader((), lambda n: own[n] if n < count else None, array_of, _found)
            reader.read(entries)
            funcs = tuple(_item(reader.table, x, Func) for x in outputs)
            args = data.get("args")
            if isinstance(args, list | None) and funcs and (kind != "func" or len(funcs) == 1):
                given = None if args is None else tuple(_argument(reader.table, x) for x in args)
                said = data.get("schedule")
                return Read(kind, funcs, given, None if said is None else json.dumps(said))
    raise LanguageError("this is no program that to_json wrote")


_REST = {"polysched", "format", "args", "schedule"}


def _loaded(text: object) -> dict[str, Any]:
    if not isinstance(text, (str, bytes, bytearray)):
        raise LanguageTypeError(
            f"from_json reads a text, not {text!r:.60}", hint="ps.to_json(f) writes one"
        )
    try:
        data: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise LanguageError(f"this is no JSON: {error}", hint="ps.to_json(f) writes it") from None
    match data:
        case {"polysched": str(kind), "format": number} if kind in KINDS:
            if number != FORMAT or isinstance(number, bool):
                raise LanguageError(
                    f"this program is written in format {number!r}, and this version reads "
                    f"{FORMAT}",
                    hint="a newer version of polysched reads it",
                    code="PS0502",
                )
            return data
        case {"steps": _, "default": _}:
            raise LanguageError(
                "this is a schedule without its program",
                hint="ps.Schedule.from_json(f, text) reads it; ps.to_json(s) writes both",
            )
    raise LanguageError("this is no program that to_json wrote")


def _has_serials(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("serials", ()), list | tuple)


def _found(written: Any) -> Any:
    match written:
        case [str(module), str(path)]:
            return function_at(module, path)
    raise LanguageError(f"{written!r:.60} is no module and name of a function")


def _item(table: Sequence[object], at: Any, *kinds: type[Any]) -> Any:
    inside = isinstance(at, int) and not isinstance(at, bool) and 0 <= at < len(table)
    if not inside or not isinstance(table[at], kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise LanguageError(f"{at!r:.60} is no {wanted} of the program")
    return table[at]


def _argument(table: Sequence[object], at: Any) -> Input | InOut:
    found: Input | InOut = _item(table, at, Input, InOut)
    return found
