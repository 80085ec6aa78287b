"""Vectors of which only the first lanes lie in memory, or all but these, where machines have no
instruction for it.

AVX2 masks loads and stores of 32 and 64 bits, nothing narrower; NEON masks none. LLVM takes such a
vector lane by lane, each under a branch: a partial vector of bytes costs as much as thirty whole
ones. Lanes that follow each other are loaded and stored by functions instead, in which at most
sixteen bytes are put together from two numbers that overlap; a copy on the stack would wait for its
stores. All lanes are one vector. On AVX2 the functions keep all registers: whoever calls them in a
loop has its sums there.
"""

from __future__ import annotations

from dataclasses import field

from ....lang.nodes.dtypes import DType, int32, int64
from ....records import dataclass
from ....targets.target import Target
from ..text.attributes import machine_attributes
from ..text.function_builder import FunctionBuilder
from ..text.values import Value, constant, memory_suffix, memory_type_name

FEW = 4
"""So many lanes are taken one by one."""


@dataclass(frozen=True, slots=True)
class Part:
    """The lanes from `first` to `end`, in the order of memory; both are numbers from 0 to that of
    all lanes."""

    first: Value
    end: Value

    def turned(self, b: FunctionBuilder, count: int) -> Part:
        """The same lanes where they lie in memory the other way round."""
        last = constant(count, int64)
        return Part(b.binary("sub", last, self.end), b.binary("sub", last, self.first))


@dataclass(slots=True)
class PartialVectors:
    """Loads and stores of parts of vectors in one module, and the functions that do it."""

    target: Target
    _functions: dict[str, str] = field(default_factory=dict)

    def are_copied(self, dtype: DType, count: int = FEW + 1) -> bool:
        """Whether a part of so many lanes, or of many, is not loaded or stored by one
        instruction."""
        is_masked = self.target.has("avx512bw") or (
            self.target.has("avx") and dtype.itemsize >= int32.itemsize
        )
        return not is_masked and count > FEW

    def load(self, dtype: DType, count: int, where: str, part: Part, is_some: bool = False) -> str:
        """The instruction that loads a part, with zeros in the other lanes.

        Args:
            is_some: whether it is known that some lanes are not meant.
        """
        vector, size = memory_type_name(dtype, count), dtype.itemsize
        name = f"@load.part.{memory_suffix(dtype, count)}"
        self._functions[_LOAD] = _LOAD_TEXT
        self._functions[f"{name}.some"] = f"""\
define internal {KEEPING} {vector} {name}.some(ptr %from, i64 %first, i64 %end) #2 {{
{_in_bytes(size)}
{_loaded(vector, count * size)}
}}"""
        if not is_some:
            self._functions[name] = f"""\
define internal {KEEPING} {vector} {name}(ptr %from, i64 %first, i64 %end) #2 {{
{_branch(count)}
whole:
  %all = load {vector}, ptr %from, align {size}
  ret {vector} %all
some:
  %part = tail call {KEEPING} {vector} {name}.some(ptr %from, i64 %first, i64 %end)
  ret {vector} %part
}}"""
        called = f"{name}.some" if is_some else name
        lanes = f"{part.first.typed}, {part.end.typed}"
        return self._on_this(f"call {KEEPING} {vector} {called}(ptr {where}, {lanes})")

    def store(
        self, value: str, dtype: DType, count: int, where: str, part: Part, is_some: bool = False
    ) -> str:
        """The instruction that stores a part of a vector; see `load`."""
        vector, size = memory_type_name(dtype, count), dtype.itemsize
        name = f"@store.part.{memory_suffix(dtype, count)}"
        given = f"({vector} %value, ptr %to, i64 %first, i64 %end)"
        self._functions[_STORE] = _STORE_TEXT
        self._functions[f"{name}.some"] = f"""\
define internal {KEEPING} void {name}.some{given} #2 {{
{_in_bytes(size)}
{_stored(vector, count * size)}
}}"""
        if not is_some:
            self._functions[name] = f"""\
define internal {KEEPING} void {name}{given} #2 {{
{_branch(count)}
whole:
  store {vector} %value, ptr %to, align {size}
  ret void
some:
  tail call {KEEPING} void {name}.some{given}
  ret void
}}"""
        called, lanes = f"{name}.some" if is_some else name, f"{part.first.typed}, {part.end.typed}"
        given = f"{vector} {value}, ptr {where}, {lanes}"
        return self._on_this(f"call {KEEPING} void {called}({given})")

    def masks(self, size: int) -> str:
        """The name of so many bytes whose bits are set, with as many zeros behind them."""
        name = f"@lanes.{size}"
        content = "\\FF" * size + "\\00" * size
        self._functions[name] = f'{name} = internal constant [{2 * size} x i8] c"{content}"'
        return name

    @property
    def texts(self) -> list[str]:
        """The functions that are called, with their attributes."""
        if not self._functions:
            return []
        # LLVM would clear the upper halves of registers at the end of such a function, which are
        # not its own.
        machine = machine_attributes(self.target, "-vzeroupper" if self._keeps else "")
        return [
            *map(self._on_this, self._functions.values()),
            f"attributes #2 = {{ nounwind noinline {machine} }}",
        ]

    @property
    def _keeps(self) -> bool:
        """Whether functions keep all registers: all of a vector of AVX2 is known to be kept."""
        return self.target.arch == "x86_64" and self.target.vector_bytes == _YMM

    def _on_this(self, text: str) -> str:
        return text if self._keeps else text.replace(f"{KEEPING} ", "")


KEEPING = "preserve_allcc"
"""The calling convention of the functions."""
_LOAD, _STORE = "@load.bytes", "@store.bytes"
_YMM = 32
_PIECE = 16
"""So many bytes a function takes at a time."""


def _branch(count: int) -> str:
    """Goes to `whole` where all lanes are meant, else to `some`."""
    return f"""\
  %begins = icmp eq i64 %first, 0
  %ends = icmp eq i64 %end, {count}
  %is.whole = and i1 %begins, %ends
  br i1 %is.whole, label %whole, label %some"""


def _in_bytes(size: int) -> str:
    return f"  %at = mul i64 %first, {size}\n  %last = mul i64 %end, {size}"


def _within(k: int) -> str:
    """The bytes from %at to %last that are in a piece, counted from its beginning."""
    return f"""\
  %at.{k}.far = sub i64 %at, {_PIECE * k}
  %at.{k} = call i64 @llvm.smax.i64(i64 %at.{k}.far, i64 0)
  %last.{k}.far = sub i64 %last, {_PIECE * k}
  %last.{k} = call i64 @llvm.smin.i64(i64 %last.{k}.far, i64 {_PIECE})"""


def _loaded(vector: str, size: int) -> str:
    """Instructions that return a vector of so many bytes, of which some lie at %from."""
    lines, found = [], "0"
    whole = f"i{8 * size}"
    for k in range(-(-size // _PIECE)):
        lines += [
            _within(k),
            f"  %from.{k} = getelementptr i8, ptr %from, i64 {_PIECE * k}",
            f"  %piece.{k} = call {KEEPING} i128 {_LOAD}"
            f"(ptr %from.{k}, i64 %at.{k}, i64 %last.{k})",
            f"  %wide.{k} = {_resized('i128', f'%piece.{k}', whole)}",
            f"  %there.{k} = shl {whole} %wide.{k}, {8 * _PIECE * k}",
            f"  %found.{k} = or {whole} %there.{k}, {found}",
        ]
        found = f"%found.{k}"
    lines += [f"  %lanes = bitcast {whole} {found} to {vector}", f"  ret {vector} %lanes"]
    return "\n".join(lines)


def _stored(vector: str, size: int) -> str:
    """Instructions that store some of the bytes of %value at %to."""
    whole = f"i{8 * size}"
    lines = [f"  %bytes = bitcast {vector} %value to {whole}"]
    for k in range(-(-size // _PIECE)):
        lines += [
            _within(k),
            f"  %to.{k} = getelementptr i8, ptr %to, i64 {_PIECE * k}",
            f"  %there.{k} = lshr {whole} %bytes, {8 * _PIECE * k}",
            f"  %piece.{k} = {_resized(whole, f'%there.{k}', 'i128')}",
            f"  call {KEEPING} void {_STORE}"
            f"(i128 %piece.{k}, ptr %to.{k}, i64 %at.{k}, i64 %last.{k})",
        ]
    return "\n".join([*lines, "  ret void"])


def _resized(old: str, value: str, new: str) -> str:
    """An integer of another width."""
    bits = int(new[1:]) - int(old[1:])
    if not bits:
        return f"add {old} {value}, 0"
    return f"{'zext' if bits > 0 else 'trunc'} {old} {value} to {new}"


def _by_size(place: str, long: str, middle: str, few: str) -> str:
    """What is done with the bytes from %at to %last of a piece, by how many they are: two numbers
    of 64 or 32 bits that overlap, or three bytes of which two may be the same. With none nothing
    is done; all go to `done` or `none`.

    Args:
        place: of the piece in memory.
        long, middle, few: instructions; from `%there` on lie `%count` bytes, the second number
            begins behind `%back` of them.
    """
    return f"""\
  %there = getelementptr i8, ptr {place}, i64 %at
  %count = sub i64 %last, %at
  %skipped = mul i64 %at, 8
  %skipped.wide = zext i64 %skipped to i128
  %is.some = icmp sgt i64 %count, 0
  br i1 %is.some, label %some, label %none
some:
  %is.long = icmp uge i64 %count, 8
  br i1 %is.long, label %long, label %short
short:
  %is.middle = icmp uge i64 %count, 4
  br i1 %is.middle, label %middle, label %few
long:
{_second(8)}
{long}
  br label %done
middle:
{_second(4)}
{middle}
  br label %done
few:
  %half = lshr i64 %count, 1
  %half.bits = mul i64 %half, 8
  %half.place = getelementptr i8, ptr %there, i64 %half
{_second(1)}
{few}
  br label %done"""


def _second(size: int) -> str:
    """Where the second of two numbers of so many bytes begins, in bytes and bits."""
    return f"""\
  %back.{size} = sub i64 %count, {size}
  %bits.{size} = mul i64 %back.{size}, 8
  %place.{size} = getelementptr i8, ptr %there, i64 %back.{size}"""


_LOAD_LONG = """\
  %low = load i64, ptr %there, align 1
  %high = load i64, ptr %place.8, align 1
  %low.wide = zext i64 %low to i128
  %high.wide = zext i64 %high to i128
  %bits.wide = zext i64 %bits.8 to i128
  %high.moved = shl i128 %high.wide, %bits.wide
  %found.long = or i128 %low.wide, %high.moved"""
_LOAD_MIDDLE = """\
  %low.4 = load i32, ptr %there, align 1
  %high.4 = load i32, ptr %place.4, align 1
  %low.4.wide = zext i32 %low.4 to i64
  %high.4.wide = zext i32 %high.4 to i64
  %high.4.moved = shl i64 %high.4.wide, %bits.4
  %both.4 = or i64 %low.4.wide, %high.4.moved
  %found.middle = zext i64 %both.4 to i128"""
_LOAD_FEW = """\
  %low.1 = load i8, ptr %there, align 1
  %half.1 = load i8, ptr %half.place, align 1
  %high.1 = load i8, ptr %place.1, align 1
  %low.1.wide = zext i8 %low.1 to i64
  %half.1.wide = zext i8 %half.1 to i64
  %high.1.wide = zext i8 %high.1 to i64
  %half.1.moved = shl i64 %half.1.wide, %half.bits
  %high.1.moved = shl i64 %high.1.wide, %bits.1
  %both.1 = or i64 %low.1.wide, %half.1.moved
  %all.1 = or i64 %both.1, %high.1.moved
  %found.few = zext i64 %all.1 to i128"""
_STORE_LONG = """\
  %value = lshr i128 %piece, %skipped.wide
  %low = trunc i128 %value to i64
  %bits.wide = zext i64 %bits.8 to i128
  %high.moved = lshr i128 %value, %bits.wide
  %high = trunc i128 %high.moved to i64
  store i64 %low, ptr %there, align 1
  store i64 %high, ptr %place.8, align 1"""
_STORE_MIDDLE = """\
  %value.4 = lshr i128 %piece, %skipped.wide
  %low.4.wide = trunc i128 %value.4 to i64
  %low.4 = trunc i64 %low.4.wide to i32
  %high.4.moved = lshr i64 %low.4.wide, %bits.4
  %high.4 = trunc i64 %high.4.moved to i32
  store i32 %low.4, ptr %there, align 1
  store i32 %high.4, ptr %place.4, align 1"""
_STORE_FEW = """\
  %value.1 = lshr i128 %piece, %skipped.wide
  %low.1.wide = trunc i128 %value.1 to i64
  %low.1 = trunc i64 %low.1.wide to i8
  %half.1.moved = lshr i64 %low.1.wide, %half.bits
  %half.1 = trunc i64 %half.1.moved to i8
  %high.1.moved = lshr i64 %low.1.wide, %bits.1
  %high.1 = trunc i64 %high.1.moved to i8
  store i8 %low.1, ptr %there, align 1
  store i8 %half.1, ptr %half.place, align 1
  store i8 %high.1, ptr %place.1, align 1"""

_LOAD_TEXT = f"""\
define internal {KEEPING} i128 {_LOAD}(ptr %from, i64 %at, i64 %last) #2 {{
{_by_size("%from", _LOAD_LONG, _LOAD_MIDDLE, _LOAD_FEW)}
done:
  %found = phi i128 [ %found.long, %long ], [ %found.middle, %middle ], [ %found.few, %few ]
  %moved = shl i128 %found, %skipped.wide
  ret i128 %moved
none:
  ret i128 0
}}"""
_STORE_TEXT = f"""\
define internal {KEEPING} void {_STORE}(i128 %piece, ptr %to, i64 %at, i64 %last) #2 {{
{_by_size("%to", _STORE_LONG, _STORE_MIDDLE, _STORE_FEW)}
done:
  ret void
none:
  ret void
}}"""
