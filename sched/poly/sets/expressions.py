"""From isl back to typed expressions: affine values, conditions, piecewise values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd

from ...lang.errors.errors import InternalError
from ...lang.nodes import index as ix
from ...lang.nodes.dtypes import bool_, int64
from ...lang.nodes.nodes import Const, Node, Op, Param
from ...lang.program.intervals import declared_range
from . import remainders
from .coordinates import FARTHEST, Terms
from .isl import Aff, BasicSet, Constraint, PwAff, Set, coalesced, isl, val

_PARAM, _SET, _DIV = isl.dim_type.param, isl.dim_type.set, isl.dim_type.div


class Translator:
    """Translates over given names: `params` by name, `dims` by position."""

    def __init__(self, params: Mapping[str, Node], dims: Sequence[Node] = ()) -> None:
        self.params = params
        self.dims = dims

    def aff(self, aff: Aff) -> Node:
        """An affine value (with a denominator: its floor, as isl means it in integer sets)."""
        denominator = int(aff.get_denominator_val().to_python())
        return self.quotient(aff.scale_val(aff.get_denominator_val()), denominator)

    def sum(self, terms: Terms) -> Node:
        """A sum with integer coefficients."""
        constant = sum(n for x, n in terms if x == "")
        named = [(n, self._term(x)) for x, n in terms if x != ""]
        return ix.sub(*remainders.sides(named, constant))

    def _term(self, x: str | int) -> Node:
        return self._param(x) if isinstance(x, str) else self.dims[x]

    def _sides(self, aff: Aff) -> tuple[Node, Node]:
        """Two sums without negative terms whose difference is the (integer) affine value."""
        terms, constant = self._terms(aff)
        return remainders.sides([(n, x) for x, n in terms.items() if n], constant)

    def _terms(self, aff: Aff) -> tuple[dict[Node, int], int]:
        """An integer affine value as multiples of loops, sizes and quotients, and a constant."""
        terms: dict[Node, int] = {}
        for kind, k, node in self._variables(aff):
            coefficient = int(aff.get_coefficient_val(kind, k).to_python())
            if kind != _DIV or abs(coefficient) < _FACTOR:
                terms[node] = terms.get(node, 0) + coefficient
                continue
            rest, quotients = self._split(aff.get_div(k))
            for x, quotient in [*quotients, (self.aff(rest), 1)]:
                terms[x] = terms.get(x, 0) + coefficient * quotient
        constant = int(aff.get_constant_val().to_python())
        is_near = not remainders.are_far(terms)
        return (terms, constant) if is_near else remainders.with_remainders(terms, constant)

    def quotient(self, aff: Aff, divisor: int) -> Node:
        """The floor of an integer affine value by a divisor."""
        terms, constant = self._terms(aff)
        if remainders.are_far(terms):
            found = remainders.quotient(terms, constant, divisor)
            if found is not None:
                return found
        return ix.floordiv(remainders.total(terms, constant), divisor)

    def _split(self, inner: Aff) -> tuple[Aff, list[tuple[Node, int]]]:
        """What is rounded down, as the smallest rest and multiples of loops and sizes before it.

        `(13106 * x) // 13107` is `x + (-x) // 13107`: in a sum with `-x` this needs no product of
        x with a large number.
        """
        quotients: list[tuple[Node, int]] = []
        rest = inner
        for kind, k, node in self._variables(inner):
            share = inner.get_coefficient_val(kind, k)
            nearest = int(share.add(_HALF).floor().to_python())
            if kind != _DIV and nearest:
                quotients.append((node, nearest))
                rest = rest.set_coefficient_val(kind, k, share.sub(val(nearest)))
        return rest, quotients

    def _variables(self, aff: Aff) -> list[tuple[isl.dim_type, int, Node]]:
        result: list[tuple[isl.dim_type, int, Node]] = []
        for k in range(aff.dim(_PARAM)):
            result.append((_PARAM, k, self._param(aff.get_dim_name(_PARAM, k))))
        for k in range(aff.dim(isl.dim_type.in_)):
            if not aff.get_coefficient_val(isl.dim_type.in_, k).is_zero():
                result.append((isl.dim_type.in_, k, self.dims[k]))
        for k in range(aff.dim(_DIV)):
            if not aff.get_coefficient_val(_DIV, k).is_zero():
                result.append((_DIV, k, self.aff(aff.get_div(k))))
        return result

    def _param(self, name: str | None) -> Node:
        if name is None or name not in self.params:
            raise InternalError(f"isl parameter {name} is not a size of the program")
        return self.params[name]

    def constraint(self, constraint: Constraint) -> Node:
        """One equality or inequality, without negative terms."""
        decided = self._decided(constraint)
        if decided is not None:
            return _TRUE if decided else _FALSE
        large = self._large(constraint.get_aff())
        if large:
            return self._divided(constraint, large)
        positive, negative = self._sides(constraint.get_aff())
        if constraint.is_equality():
            return ix.compare("eq", positive, negative)
        return ix.compare("ge", positive, negative)

    def _large(self, aff: Aff) -> list[tuple[isl.dim_type, int, Node, int]]:
        """The loops and sizes whose products with their coefficients may not fit in 64 bits, and
        the coefficients, if a common divisor of these leaves only such that do."""
        found = []
        for kind, k, node in self._variables(aff):
            coefficient = int(aff.get_coefficient_val(kind, k).to_python())
            if kind != _DIV and abs(coefficient) > _MODERATE:
                found.append((kind, k, node, coefficient))
        common = gcd(*(c for *_, c in found))
        return found if all(abs(c) // common <= _MODERATE for *_, c in found) else []

    def _divided(
        self, constraint: Constraint, large: list[tuple[isl.dim_type, int, Node, int]]
    ) -> Node:
        """A constraint `c * sum + rest >= 0` as one of the sum, which needs no product with c: `sum
        >= -(rest // c)`; an equality also says that c divides the rest."""
        aff = constraint.get_aff()
        common = gcd(*(c for *_, c in large))
        for kind, k, *_ in large:
            aff = aff.set_coefficient_val(kind, k, 0)
        rest = ix.sub(*self._sides(aff))
        quotient = self.quotient(aff, common)
        more, less = remainders.sides([(c // common, node) for *_, node, c in large], 0)
        if less is ix.ZERO:
            sides = more, remainders.negative(quotient)
        else:
            sides = ix.add(more, quotient), less
        if not constraint.is_equality():
            return ix.compare("ge", *sides)
        divides = ix.compare("eq", ix.mod(rest, common), ix.ZERO)
        return Op("and", (ix.compare("eq", *sides), divides), bool_)

    def _decided(self, constraint: Constraint) -> bool | None:
        """Whether a constraint holds, where its constant is beyond 64 bits and so decides it, given
        the ranges of sizes, loops and declared Params."""
        aff = constraint.get_aff()
        least = most = int(aff.get_constant_val().to_python())
        if abs(least) <= int64.max:
            return None
        for kind, k, node in self._variables(aff):
            if kind == _DIV:
                return None
            coefficient = int(aff.get_coefficient_val(kind, k).to_python())
            lo, hi = declared_range(node) if isinstance(node, Param) else (-FARTHEST, FARTHEST)
            products = coefficient * lo, coefficient * hi
            least, most = least + min(products), most + max(products)
        if most < 0 or (least > 0 and constraint.is_equality()):
            return False
        return True if least >= 0 and not constraint.is_equality() else None

    def condition(self, where: Set) -> Node | None:
        """Membership as an expression; None where it always holds."""
        if where.is_params():
            where = Set.from_params(where)
        pieces = []
        # Pieces that are put together may lose what their divs are.
        for piece in coalesced(where.compute_divs()).compute_divs().get_basic_sets():
            found = self.basic(piece)
            if found is None:
                return None
            if found is not _FALSE:
                pieces.append(found)
        return ix.disjunction(pieces)

    def basic(self, piece: BasicSet) -> Node | None:
        """Membership in a piece. What holds of all numbers of 64 bits is no condition."""
        # Constraints that only say what a div is are implied by its expression.
        constraints = [c for c in piece.get_constraints() if not c.is_div_constraint()]
        found = [self.constraint(c) for c in constraints]
        return _FALSE if _FALSE in found else ix.conjunction(c for c in found if c is not _TRUE)

    def pw_aff(self, value: PwAff, otherwise: Node, known: Set | None = None) -> Node:
        """A piecewise value; `otherwise` where no piece holds, unless pieces cover all points at
        which the value is used (`known`)."""
        result = otherwise
        each = [(self.condition(where), aff) for where, aff in coalesced(value).get_pieces()[::-1]]
        pieces = [(where, aff) for where, aff in each if where is not _FALSE]
        if known is not None and pieces and known.is_subset(value.domain()):
            result, pieces = self.aff(pieces[0][1]), pieces[1:]
        for where, aff in pieces:
            result = ix.select(where, self.aff(aff), result)
        return result


_TRUE, _FALSE = Const(True, bool_), Const(False, bool_)  # equal nodes are one object
# The largest coefficient whose product with any loop (up to 2**44) is far from 64 bits.
_MODERATE = 1 << 18
# The smallest factor of a quotient for which the quotient is written in another way.
_FACTOR = 1 << 12
_HALF = isl.Val(1).div(isl.Val(2))
