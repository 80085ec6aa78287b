"""What was accepted of a program before, in this process or in another one.

A journal is a tree. Its root stands for the program as written, which was found well-formed; an
edge is a directive that was accepted in the state behind the directives above it, or a bracket
around several that are proven together; and a node has answers to questions that were asked about
its state, where these are plain data. So a script that ran before finds each of its directives
and lookups here, in order, and needs no state to be made.

The key of a journal covers all that a proof reads: the program with its names, how it begins, and
the versions of everything that took part. Refusals are never kept: what is not here is proven.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ... import forks
from ...cache import keys, store
from ...cache.place import is_on
from ...lang.program.program import Program
from ..program.rule import Rule, once_a_consumer, without_recomputation

FORMAT = 1
"""The version of the form in which journals are stored."""

KIND = "journal"

MOST = 1024
"""So many nodes has a journal at most; one that grows beyond keeps what was said last."""

RULES: dict[Rule, str] = {once_a_consumer: "", without_recomputation: "default"}
"""How a schedule may begin; of others nothing is kept."""

Answer = str | int | list[str]
"""An answer that a node keeps."""

_lock = forks.reentrant()


class Reached:
    """A state that was reached.

    Attributes:
        made: the names of what the directive returned that led here.
        funcs: the names of the Funcs that it added, each with its types.
        answers: what is known of the state, by question.
        children: what was reached from here, by directive or bracket.
        is_new: whether some of it has not been stored yet.
    """

    __slots__ = ("answers", "children", "funcs", "is_new", "made")

    def __init__(
        self,
        made: tuple[str, ...] = (),
        funcs: tuple[tuple[str, tuple[str, ...]], ...] = (),
        is_new: bool = True,
    ) -> None:
        self.made, self.funcs, self.is_new = made, funcs, is_new
        self.answers: dict[str, Answer] = {}
        self.children: dict[str, Reached] = {}

    def note(self, question: str, answer: Answer) -> None:
        """Keeps an answer."""
        self.answers[question] = answer
        self.is_new = True


class Journal:
    """What is known of one program.

    Attributes:
        root: None where the program itself is not known to be well-formed.
    """

    def __init__(self, key: str, root: Reached | None) -> None:
        self._key = key
        self.root = root

    def keep(self, path: Iterable[tuple[str, Reached]]) -> None:
        """Stores what a schedule has found out.

        Args:
            path: from the root, each node with the event that led to it.
        """
        given = list(path)
        if not any(node.is_new for _, node in given):
            return
        with _lock:
            root = self.root = self.root or given[0][1]
            # What other processes have stored meanwhile stays.
            stored = _stored(self._key)
            if stored is not None:
                _merge(root, stored)
            _graft(root, given)
            if sum(1 for _ in _walked(root)) > MOST:
                root = self.root = _alone(given)
            if keys.is_current():
                store.write(KIND, self._key, written(root))
            for _, _, node in _walked(root):
                node.is_new = False
            for _, node in given:
                node.is_new = False


def _graft(root: Reached, path: list[tuple[str, Reached]]) -> None:
    """Adds a path of nodes to a tree."""
    at = root
    _add_answers(at, path[0][1])
    for event, node in path[1:]:
        below = at.children.setdefault(event, node)
        _add_answers(below, node)
        at = below


def _add_answers(to: Reached, of: Reached) -> None:
    if to is not of:
        to.answers.update(of.answers)


def _merge(root: Reached, other: Reached) -> None:
    """Adds all of a tree to another one."""
    waiting = [(root, other)]
    while waiting:
        at, new = waiting.pop()
        _add_answers(at, new)
        for event, node in new.children.items():
            known = at.children.setdefault(event, node)
            if known is not node:
                waiting.append((known, node))


def _alone(path: list[tuple[str, Reached]]) -> Reached:
    """A tree of one path only."""
    nodes = [Reached(x.made, x.funcs) for _, x in path]
    for node, (_, x) in zip(nodes, path, strict=True):
        node.answers.update(x.answers)
    for above, below, (event, _) in zip(nodes, nodes[1:], path[1:], strict=False):
        above.children[event] = below
    return nodes[0]


# stored journals ---------------------------------------------------------------------------------
def _walked(root: Reached) -> Iterator[tuple[int, str, Reached]]:
    """Every node, each behind the one above it: the number of that one, the event, the node."""
    waiting: list[tuple[int, str, Reached]] = [(-1, "", root)]
    for number, (_, _, node) in enumerate(waiting):  # which grows meanwhile
        waiting += [(number, event, below) for event, below in list(node.children.items())]
    yield from waiting


def written(root: Reached) -> dict[str, Any]:
    """A tree as data for JSON: by columns, so it may be deep, and is read quickly. Most nodes have
    neither answers nor Funcs, so those that have are said by their numbers."""
    rows = list(_walked(root))
    return {
        "format": FORMAT,
        "above": [above for above, _, _ in rows],
        "events": [event for _, event, _ in rows],
        "made": {str(k): list(x.made) for k, (_, _, x) in enumerate(rows) if x.made},
        "funcs": {
            str(k): [[name, list(types)] for name, types in x.funcs]
            for k, (_, _, x) in enumerate(rows)
            if x.funcs
        },
        "answers": {str(k): dict(x.answers) for k, (_, _, x) in enumerate(rows) if x.answers},
    }


def read(data: Any) -> Reached | None:
    """The tree that was written; None for anything else."""
    match data:
        case {
            "format": int(number),
            "above": list(above),
            "events": list(events),
            "made": dict(made),
            "funcs": dict(funcs),
            "answers": dict(answers),
        } if number == FORMAT and len(above) == len(events) > 0:
            pass
        case _:
            return None
    # Each node is behind the one above it, and only the first one has none.
    if not _are(int, above) or above[0] != -1 or not _are(str, events):
        return None
    if not all(0 <= at < k for k, at in enumerate(above[1:], 1)):
        return None
    numbers = {str(k) for k in range(len(above))}
    if not (numbers >= made.keys() and numbers >= funcs.keys() and numbers >= answers.keys()):
        return None
    if not (all(map(_are_texts, made.values())) and all(map(_are_funcs, funcs.values()))):
        return None
    if not all(map(_are_answers, answers.values())):
        return None
    found: list[Reached] = [Reached(is_new=False) for _ in above]
    for at, event, node in zip(above[1:], events[1:], found[1:], strict=True):
        found[at].children[event] = node
    for k, names in made.items():
        found[int(k)].made = tuple(names)
    for k, added in funcs.items():
        found[int(k)].funcs = tuple((name, tuple(types)) for name, types in added)
    for k, known in answers.items():
        found[int(k)].answers = known
    return found[0]


def _are(kind: type, values: list[Any]) -> bool:
    return set(map(type, values)) == {kind}


def _are_texts(value: Any) -> bool:
    return type(value) is list and all(type(x) is str for x in value)


def _are_answers(value: Any) -> bool:
    return type(value) is dict and all(
        type(x) in (str, int, bool) or _are_texts(x) for x in value.values()
    )


def _are_funcs(value: Any) -> bool:
    return type(value) is list and all(map(_is_func, value))


def _is_func(value: Any) -> bool:
    match value:
        case [str(), [_, *_] as types]:
            return _are_texts(types)
    return False


# journals of programs ----------------------------------------------------------------------------
def journal_of(program: Program, rule: Rule) -> Journal | None:
    """What is known of a program; None where nothing is to be kept of it."""
    if rule not in RULES or not is_on() or any(d.opaque for d in program.definitions):
        return None
    digest = program.digest
    # A Func is also found by the name that its user gave it, which others may have, too.
    names = tuple(f.name for f in program.funcs)
    key = None if digest is None else keys.key_of(KIND, FORMAT, digest, names, RULES[rule])
    return None if key is None else Journal(key, _stored(key))


def _stored(key: str) -> Reached | None:
    entry = store.read(KIND, key)
    if entry is None:
        return None
    root = read(entry.header)
    if root is None:
        store.remove(KIND, key)
    return root
