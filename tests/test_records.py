"""Classes of fields behave as those of the standard library do, whatever they are made of."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import itertools
import pickle
from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar

import pytest

import polysched.records as records

MAKERS: dict[str, Callable[..., Any]] = {
    "standard": dataclasses.dataclass,
    "ours": vars(records)["dataclass"],
}


def family(make: Callable[..., Any], frozen: bool, slots: bool, eq: bool) -> Any:
    """A namespace of classes that inherit from each other, made by one of both."""
    options = {"frozen": frozen, "slots": slots, "eq": eq}

    @make(**options)
    class Base:
        """Has a default, and what does not count when two are compared."""

        kind: ClassVar[str] = "base"
        a: int
        b: Any = 7
        note: str = field(default="", compare=False, repr=False, kw_only=True)

        def doubled(self) -> int:
            return 2 * self.a

    @make(**options)
    class Derived(Base):
        c: list[int] = field(default_factory=list, hash=False)
        d: int = field(init=False, default=3)

        def __repr__(self) -> str:
            return f"D{self.a}"

    @make(**options)
    class Checked:
        x: int

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("negative")

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Checked) and abs(self.x) == abs(other.x)

        def __hash__(self) -> int:
            return 5

    @make(**options)
    class Empty:
        pass

    return Base, Derived, Checked, Empty


@pytest.mark.parametrize(
    ("frozen", "slots", "eq"), list(itertools.product((False, True), repeat=3))
)
def test_ours_do_what_standard_ones_do(frozen: bool, slots: bool, eq: bool) -> None:
    found = {name: seen(*family(make, frozen, slots, eq)) for name, make in MAKERS.items()}
    assert found["ours"] == found["standard"]


def seen(base: Any, derived: Any, checked: Any, empty: Any) -> list[Any]:
    """What can be seen of four classes and their instances, or how it fails."""
    one, other = base(1), base(1, note="x")
    more = derived(2, b=5, c=[1])
    tries: list[Callable[[], Any]] = [
        lambda: [str(inspect.signature(c)) for c in (base, derived, checked, empty)],
        lambda: [(f.name, f.type, f.default) for f in dataclasses.fields(derived)],
        lambda: [c.__match_args__ for c in (base, derived, empty)],
        lambda: [hasattr(one, "__dict__"), base.kind, one.doubled()],
        lambda: [repr(one), repr(more), repr(empty()), repr(checked(3))],
        lambda: [one == other, one == base(2), one == derived(1), one != 1, empty() == empty()],
        lambda: hash(one) == hash(other),
        lambda: [hash(one) == hash((1, 7)), hash(empty()) == hash(())],
        lambda: hash(more) == hash(derived(2, b=5)),
        lambda: [hash(checked(1)), checked(1) == checked(1)],
        lambda: [more.c, more.d, derived(1).c is derived(1).c],
        lambda: dataclasses.asdict(more),
        lambda: dataclasses.astuple(one),
        lambda: repr(dataclasses.replace(other, b=9)) + dataclasses.replace(other, b=9).note,
        lambda: checked(-1),
        lambda: base(),
        lambda: base(1, 2, "note"),
        lambda: base(1, wrong=2),
        lambda: setattr(one, "a", 5),
        lambda: setattr(one, "new", 5) if hasattr(one, "__dict__") else None,
        lambda: delattr(one, "a"),
        lambda: vars(copy.deepcopy(more)) if hasattr(more, "__dict__") else copy.copy(more).c,
    ]  # fmt: skip
    return [outcome(attempt) for attempt in tries]


def outcome(attempt: Callable[[], Any]) -> Any:
    try:
        return attempt()
    except Exception as error:
        return type(error).__name__, str(error).split(".")[-1]


def test_all_slots_travel() -> None:
    """As instances of a class that can be found by its name."""
    again = pickle.loads(pickle.dumps(Travels(1, "x")))
    assert again == Travels(1, "x")
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'a'"):
        again.a = 2  # type: ignore[misc]


def test_an_instance_that_holds_itself_is_shown() -> None:
    one = Travels(1, [])
    one.b.append(one)
    assert repr(one) == "Travels(a=1, b=[...])"


def test_standard_classes_inherit_from_ours() -> None:
    @dataclasses.dataclass(frozen=True)
    class Theirs(Travels):
        c: int = 0

    assert repr(Theirs(1, 2, 3)).endswith("Theirs(a=1, b=2, c=3)")
    with pytest.raises(TypeError, match="cannot inherit non-frozen dataclass from a frozen one"):
        dataclasses.dataclass(type("Loose", (Travels,), {}))


def test_one_text_is_compiled_for_a_class_that_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    monkeypatch.setattr(records, "exec", lambda *a: (compiled.append(a), exec(*a)), raising=False)
    base, _, checked, _ = family(MAKERS["ours"], True, True, True)
    assert base(1, note="by name") == base(1)
    assert hash(base(1)) == hash(base(1))
    checked(1)
    assert not compiled
    with pytest.raises(TypeError, match="unexpected keyword argument 'more'"):
        base(1, more=2)  # which the compiled function says
    assert len(compiled) == 1
    assert {checked(k).x for k in range(records.FEW + 1)} == {*range(records.FEW + 1)}
    assert len(compiled) == 2


@pytest.mark.parametrize(("frozen", "slots"), [*itertools.product((True, False), repeat=2)])
def test_before_and_after_its_functions_are_compiled_a_class_does_the_same(
    frozen: bool, slots: bool
) -> None:
    @records.dataclass(frozen=frozen, slots=slots, eq=True)
    class Both:
        a: Any
        b: Any = 7
        c: Any = field(default_factory=list, hash=False)
        d: Any = field(default=0, compare=False)

    def all_of_it() -> list[object]:
        made = [Both(1), Both(1, d=5), Both(1, c=[]), Both(a=2, b=3), Both(1, 7, [4])]
        hashes = [hash(x) for x in made] if frozen else []
        fields = [[x.a, x.b, x.c, x.d] for x in made]
        refused = []
        for args, options in (((), {}), ((1, 2, 3, 4, 5), {}), ((1,), {"a": 1}), ((1,), {"e": 1})):
            with pytest.raises(TypeError) as error:
                Both(*args, **options)
            refused.append(str(error.value))
        return [fields, [x == y for x in made for y in made], hashes, refused, made[0] == 1]

    first = all_of_it()
    for _ in range(records.FEW):
        assert all_of_it() == first


def test_replacing_is_what_the_standard_library_does() -> None:
    one = Travels(1, [2])
    for _ in range(2 * records.OFTEN):
        assert records.replace(one, b=3) == dataclasses.replace(one, b=3) == Travels(1, 3)
    base, derived, _, _ = family(MAKERS["ours"], True, True, True)
    for _ in range(2 * records.OFTEN):
        assert records.replace(base(1, note="x"), a=2).note == "x"
        assert records.replace(derived(1, c=[4]), b=5).c == [4]
    for _ in range(2):
        with pytest.raises(TypeError):
            records.replace(one, nothing=3)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("args", "options"),
    [((), {}), ((1, 2, 3), {}), ((1,), {"a": 1}), ((1, 2), {"b": 2}), ((1,), {"e": 1})],
)
def test_the_first_call_is_refused_as_later_ones(
    args: tuple[int, ...], options: dict[str, int]
) -> None:
    @records.dataclass(frozen=True)
    class New:
        a: int
        b: int = 0

    for _ in range(2):
        with pytest.raises(TypeError):
            New(*args, **options)


def test_what_a_decorator_has_wrapped_stays() -> None:
    @records.dataclass(frozen=True)
    class Wrapped:
        a: int

    made, calls = Wrapped.__init__, []

    def counted(self: Any, *args: Any) -> None:
        calls.append(args)
        made(self, *args)

    Wrapped.__init__ = counted  # type: ignore[method-assign]
    assert [Wrapped(k).a for k in range(3)] == [0, 1, 2]
    assert calls == [(0,), (1,), (2,)]


def test_what_inherits_has_its_own_signature() -> None:
    class Own(Travels):
        def __init__(self, c: int) -> None:
            super().__init__(c, c)

    assert str(inspect.signature(Own)) == "(c: 'int') -> 'None'"
    assert str(inspect.signature(Travels)) == "(a: 'int', b: 'Any') -> None"
    assert Own(2) == Own(2) != Travels(2, 2)


@records.dataclass(frozen=True, slots=True)
class Travels:
    a: int
    b: Any
