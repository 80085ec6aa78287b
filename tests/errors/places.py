"""Where the package writes the message of an error, and which of these places made a text.

A place is a call that makes one of the errors of `sched/lang/errors/errors.py` or of a subclass,
or a call of a function that only passes a message on to one, such as `malformed`. Its message is
known as literal fragments with holes between them. An InternalError is nobody's to provoke, and no
place.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path

from polysched.lang.errors.codes import code_at

ROOT = Path(__file__).resolve().parents[2]
BASE, FAULT, PAIR = "PolyschedError", "InternalError", "Fault"
MOST_WORDINGS = 200

#: Literal fragments, and None for what is filled in.
Wording = tuple[str | None, ...]


@dataclass(frozen=True)
class Place:
    """One message: the file where it is written, and its wordings, of which it has several where
    a part is one of two texts. The function is named with the classes and functions around it."""

    file: str
    line: int
    wordings: tuple[Wording, ...]
    function: str = field(default="", compare=False)
    said_code: str | None = field(default=None, compare=False)

    @property
    def code(self) -> str | None:
        """The code of the errors that it makes: what it says, or what is said of its function."""
        module = self.file.removeprefix("sched/").removesuffix(".py").replace("/", ".")
        return self.said_code or code_at(module, self.function)

    @cached_property
    def name(self) -> str:
        """What it is called in lists: the file and the message, with `{}` for what is filled in.
        Lines are no part of it, for they move."""
        return f"{self.file}: " + " | ".join(map(_shown, self.wordings))

    @cached_property
    def patterns(self) -> list[tuple[int, Wording, re.Pattern[str]]]:
        """Of each wording how many characters are written here, and what it matches."""
        return [(sum(map(len, filter(None, w))), w, _pattern(w)) for w in self.wordings]

    @property
    def is_bare(self) -> bool:
        """Whether nothing or nearly nothing of the message is written here."""
        return min(map(_letters, self.wordings)) < 4


def _shown(wording: Wording) -> str:
    return "".join("{}" if part is None else part for part in wording)


def _letters(wording: Wording) -> int:
    return sum(len(re.findall(r"\w", part)) for part in wording if part is not None)


def _pattern(wording: Wording) -> re.Pattern[str]:
    """What is made of it: a directive may stand before it, and what it was part of behind it."""
    parts = (".*?" if part is None else re.escape(part) for part in wording)
    return re.compile("(.*?: )?" + "".join(parts) + r"((, |; | \().*)?", re.S)


def said(text: str) -> str:
    """A text without the place in the user's source and the hint."""
    return re.split(r"\n  (?:at|hint:) ", text)[0]


def covered(places: Iterable[Place], texts: Iterable[str]) -> set[Place]:
    """The places that can have made some of the texts. Of several that can, those of which most
    words stand in the text."""
    patterns = [
        (length, max(filter(None, wording), key=len, default=""), pattern, place)
        for place in places
        for length, wording, pattern in place.patterns
    ]
    patterns.sort(key=lambda found: found[0], reverse=True)
    found: set[Place] = set()
    for text in {said(text) for text in texts}:
        most = -1
        for length, _, pattern, place in [p for p in patterns if p[1] in text]:
            if length < most:
                break
            if pattern.fullmatch(text):
                most = length
                found.add(place)
    return found


# finding ----------------------------------------------------------------------------------------
def places(root: Path = ROOT / "sched") -> list[Place]:
    """All of a package."""
    return Package({str(p.relative_to(root.parent)): p.read_text() for p in root.rglob("*.py")}).all


class Package:
    """Sources by their paths. What passes messages on is found first, by its name; what names
    neither that nor an error is not parsed."""

    def __init__(self, sources: dict[str, str]) -> None:
        self.sources = dict(sorted(sources.items()))
        self.errors = self._subclasses(BASE) - self._subclasses(FAULT)
        self.files: dict[str, File] = {}
        #: The position of the message among the arguments, by the name of what is called; what is
        #: private to a file stands with its path.
        self.passing: dict[tuple[str, str], int] = {}
        while self._parse() or self._find_passing():
            pass

    def _subclasses(self, base: str) -> set[str]:
        above = defaultdict(set)
        for text in self.sources.values():
            for name, bases in re.findall(r"^\s*class (\w+)\((.*)\)", text, re.M):
                above[name] |= set(re.findall(r"\w+", bases))
        found = {base}
        while more := {name for name, bases in above.items() if bases & found} - found:
            found |= more
        return found

    def _parse(self) -> bool:
        """Whether there are files that have not been parsed."""
        names = "|".join(self.errors | {name for _, name in self.passing})
        said = re.compile(rf"\b({names})\(|\bclass \w+\(.*\b({names})\b|\b{PAIR}\b")
        more = {p: t for p, t in self.sources.items() if p not in self.files and said.search(t)}
        self.files |= {path: File(path, ast.parse(text)) for path, text in more.items()}
        return bool(more)

    def _find_passing(self) -> bool:
        known = len(self.passing)
        for file in self.files.values():
            for call, at in self._calls(file):
                function = file.function[call]
                if isinstance(function, ast.FunctionDef) and isinstance(at, ast.Name):
                    names = [name for name in parameters(function) if name != "self"]
                    if at.id in names and not file.assigned(function, at.id):
                        self._enter(file, function, names.index(at.id))
        return len(self.passing) > known

    def _enter(self, file: File, function: ast.FunctionDef, position: int) -> None:
        name = function.name
        if name == "__init__":
            name = file.owner[function]
        self.passing[file.path if name.startswith("_") else "", name] = position

    def _calls(self, file: File) -> Iterator[tuple[ast.Call, ast.expr]]:
        """The calls that make an error or pass a message on, each with the message."""
        for call in file.calls:
            name = name_of(call.func)
            if name == "__init__":
                name = self._base_of(file, call)
            position = self._position(file, name)
            if position is None or file.owner.get(file.function[call]) == BASE:
                continue
            named = [k.value for k in call.keywords if k.arg in ("what", "message")]
            if position < len(call.args):
                yield call, call.args[position]
            elif named:
                yield call, named[0]

    def _position(self, file: File, name: str) -> int | None:
        for key in (file.path, name), ("", name):
            if key in self.passing:
                return self.passing[key]
        if name == BASE or (name in self.errors and not self._has_own_words(name)):
            return 0
        return None

    def _has_own_words(self, name: str) -> bool:
        return any(name in f.constructors for f in self.files.values())

    def _base_of(self, file: File, call: ast.Call) -> str:
        """The class whose `__init__` is called in that of an error."""
        owner = file.owner.get(file.function[call], "")
        return BASE if owner in self.errors else ""

    @cached_property
    def all(self) -> list[Place]:
        found = [
            Place(
                file.path,
                call.lineno,
                tuple(file.wordings(one, call)),
                file.qualified(call),
                said_code(call),
            )
            for file in self.files.values()
            for call, message in self._calls(file)
            if not self._is_passed(file, call, message)
            for one in file.messages(message, call)
        ]
        return found + [place for file in self.files.values() for place in file.pairs()]

    def _is_passed(self, file: File, call: ast.Call, message: ast.expr) -> bool:
        function = file.function[call]
        if not isinstance(message, ast.Name) or not isinstance(function, ast.FunctionDef):
            return False
        return message.id in parameters(function) and not file.assigned(function, message.id)


class File:
    """A file of the package: its calls, and which function and class each is in."""

    def __init__(self, path: str, tree: ast.Module) -> None:
        self.path = path
        self.tree = tree
        self.calls: list[ast.Call] = []
        self.returned: list[ast.Tuple] = []
        self.function: dict[ast.AST, ast.AST] = {}
        self.owner: dict[ast.AST, str] = {}
        self.constructors: set[str] = set()
        self._visit(tree, tree, "")

    def _visit(self, node: ast.AST, function: ast.AST, owner: str) -> None:
        for name in node._fields:
            children = getattr(node, name)
            for child in children if isinstance(children, list) else (children,):
                if isinstance(child, ast.AST) and child._fields:
                    self.function[child] = function
                    self._enter(child, function, owner)

    def _enter(self, node: ast.AST, function: ast.AST, owner: str) -> None:
        match node:
            case ast.Call():
                self.calls.append(node)
            case ast.Return(value=ast.Tuple() as value):
                self.returned.append(value)
            case ast.ClassDef(name=owner):
                pass
            case ast.FunctionDef():
                function = node
                self.owner[node] = owner
                if node.name == "__init__":
                    self.constructors.add(owner)
        self._visit(node, function, owner)

    def qualified(self, node: ast.AST) -> str:
        """The name of the function that a node is in, as its code object has it."""
        function = self.function[node]
        if not isinstance(function, ast.FunctionDef):
            return ""
        around = self.function[function]
        if isinstance(around, ast.FunctionDef):
            return f"{self.qualified(function)}.<locals>.{function.name}"
        owner = self.owner[function]
        return f"{owner}.{function.name}" if owner else function.name

    def assigned(self, function: ast.AST, name: str) -> list[ast.expr]:
        """What a name is set to in a function, one by one."""
        return [
            node.value
            for node in ast.walk(function)
            if isinstance(node, ast.Assign) and any(name_of(t) == name for t in node.targets)
        ]

    def _constant(self, name: str) -> list[ast.expr]:
        """What a name of the module is set to."""
        sets = (node for node in self.tree.body if isinstance(node, ast.Assign))
        return [node.value for node in sets if name_of(node.targets[0]) == name]

    def _is_parameter(self, at: ast.AST, name: str) -> bool:
        function = self.function[at]
        return isinstance(function, ast.FunctionDef) and name in parameters(function)

    def messages(self, message: ast.expr, at: ast.AST) -> list[ast.expr]:
        """The messages apart: those of both branches, and all that a variable may hold."""
        if isinstance(message, ast.IfExp):
            return [*self.messages(message.body, at), *self.messages(message.orelse, at)]
        if isinstance(message, ast.Name):
            held = [x for x in self.assigned(self.function[at], message.id) if _is_text(x)]
            return [one for x in held for one in self.messages(x, x)] or [message]
        return [message]

    def wordings(self, message: ast.expr, at: ast.AST) -> list[Wording]:
        """The literal fragments of a message."""
        match message:
            case ast.Constant(value=str(text)):
                return [(text,)]
            case ast.FormattedValue(value=ast.IfExp() | ast.Name() | ast.Constant() as value):
                return self.wordings(value, at)
            case ast.JoinedStr(values=parts):
                return _joined([self.wordings(part, at) for part in parts])
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return _joined([self.wordings(left, at), self.wordings(right, at)])
            case ast.IfExp(body=body, orelse=other):
                return [*self.wordings(body, at), *self.wordings(other, at)]
            case ast.Name(id=name):
                held = self.assigned(self.function[at], name) or self._constant(name)
                if held and all(map(_is_text, held)) and not self._is_parameter(at, name):
                    return [one for x in held for one in self.wordings(x, x)]
        return [(None,)]

    def pairs(self) -> list[Place]:
        """The messages that functions return with their hints, for another one to raise."""
        return [
            Place(
                self.path,
                found.lineno,
                tuple(self.wordings(found.elts[0], found)),
                self.qualified(found),
            )
            for found in self.returned
            if PAIR
            in ast.unparse(getattr(self.function[found], "returns", None) or ast.Constant(""))
        ]


def said_code(call: ast.Call) -> str | None:
    """The code that a call gives itself; a code from elsewhere is none."""
    for keyword in call.keywords:
        if keyword.arg == "code" and isinstance(keyword.value, ast.Constant):
            return str(keyword.value.value)
    return None


def name_of(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def parameters(function: ast.FunctionDef) -> list[str]:
    return [a.arg for a in function.args.args]


def _is_text(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=str()) | ast.JoinedStr():
            return True
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _is_text(left) or _is_text(right)
        case ast.IfExp(body=body, orelse=other):
            return _is_text(body) or _is_text(other)
    return False


def _joined(parts: list[list[Wording]]) -> list[Wording]:
    count = 1
    for wordings in parts:
        count *= len(wordings)
    if count > MOST_WORDINGS:
        parts = [[(None,)] if len(wordings) > 1 else wordings for wordings in parts]
    return [sum(chosen, ()) for chosen in product(*parts)]
