"""The kinds of mistakes in programs, with their codes."""

from __future__ import annotations

from collections.abc import Mapping

from .kind import NO_ATTRIBUTE, Kind

PROGRAMS: Mapping[str, Kind] = {
    # programs --------------------
    "PS0101": Kind(
        "an expression has no value while the program is being written",
        "lang.expr.one_value lang.expr.numpy_element lang.expr.expr:Expr.__pow__ "
        "lang.expr.expr:Expr.__round__ lang.expr.expr:Expr.__matmul__ lang.nodes.tensor",
    ),
    "PS0102": Kind("this is not one value of the language", "lang.expr.expr lang.expr.tuples"),
    "PS0103": Kind(
        "an array of the program is used like an array that is there",
        "lang.tensors.indexable:Indexable.__bool__ lang.tensors.indexable:Indexable.__array__ "
        "lang.tensors.indexable:Indexable._whole lang.tensors.indexable:Indexable.__setitem__ "
        "lang.tensors.indexable:Indexable.__delitem__ lang.tensors.indexable:Indexable.__call__ "
        "lang.tensors.indexable:Indexable.__iter__ lang.tensors.indexable:Indexable.__len__ "
        "lang.tensors.indexable:Indexable.__contains__ lang.tensors.inout:_Face.__setitem__ "
        "lang.tensors.indexable",
    ),
    "PS0104": Kind(
        "this element type does not go here",
        "lang.nodes.dtypes lang.nodes.infer lang.nodes.convert lang.nodes.typing "
        "lang.tensors.define:History._check_seen lang.tensors.elaborate:infer_one_more",
    ),
    "PS0105": Kind(
        "a name cannot be used, or is used twice",
        "lang.expr.symbols:check_name lang.expr.symbols:_names lang.tensors.elaborate:_check_names "
        "lang.tensors.elaborate:_rvars lang.program.signature:check_call_names "
        "lang.program.program:Program._add_symbol lang.tensors.blocks:Sequential._check_names "
        "lang.nodes.serials",
    ),
    "PS0106": Kind(
        "a shape is missing, or is none",
        "lang.tensors.indexable:Indexable._extents lang.tensors.indexable:Indexable.shape "
        "lang.tensors.inout:InOut.__init__ lang.tensors.tensors:Func._prepare poly.model.space",
    ),
    "PS0107": Kind(
        "an index does not fit the array",
        "lang.tensors.indexable:Indexable._index lang.tensors.indexable:Indexable._one_index "
        "lang.tensors.indexable:Indexable._without_ellipsis "
        "lang.program.program:Program._check_ranks",
    ),
    "PS0108": Kind(
        "an access is out of bounds, or cannot be shown to be in bounds",
        "interp.refusals:outside interp.refusals:unproved interp.refusals:check_elements "
        "poly.model.conditions",
    ),
    "PS0109": Kind(
        "a Var or RVar has no range, or a range that means nothing",
        "lang.expr.symbols:rvar_node lang.expr.symbols:_restrict lang.expr.symbols:rdom "
        "lang.tensors.elaborate:typed_definition interp.vars "
        "poly.model.domains:Domains._check_vars_bounded poly.model.domains:_affine_bound "
        "poly.model.domains:_unbounded poly.model.domains:_check_near "
        "poly.model.domains:Domains._check_bounds_last",
    ),
    "PS0110": Kind("a Func is defined in a way that has no meaning", "lang.tensors.classify"),
    "PS0111": Kind(
        "a Func is used before it is complete, or defined after it was used",
        "lang.tensors.define lang.tensors.settle lang.program.order:_check_unmoved",
    ),
    "PS0112": Kind(
        "a cell of a notebook was run again", "lang.tensors.define:History._refuse_again"
    ),
    "PS0113": Kind(
        "an ordered loop is written in a way that has no meaning",
        "lang.tensors.blocks lang.program.added",
    ),
    "PS0114": Kind(
        "an update depends on the order of its Vars", "interp.order poly.model.updates"
    ),
    "PS0115": Kind(
        "pieces of a definition overlap, or leave something out", "interp.pieces poly.model.pieces"
    ),
    "PS0116": Kind(
        "a value needs itself",
        "interp.recurrence:Lazy._refuse poly.recurrence.recurrence lang.program.groups "
        "lang.program.order",
    ),
    "PS0117": Kind(
        "what is needed has no bounds",
        "interp.refusals:unbounded interp.refusals:endless poly.model.closure poly.model.model "
        "poly.model.statements lang.program.groups:_refuse",
    ),
    "PS0118": Kind(
        "a reduction has nothing to choose from",
        "interp.interpret:Run._refuse_empty interp.recurrence:MemberUpdate.run "
        "poly.model.conditions:_not_empty poly.model.conditions:_always_empty",
    ),
    "PS0119": Kind(
        "a reduction stands where it has no meaning",
        "lang.tensors.reductions lang.tensors.trace:check_traces",
    ),
    "PS0120": Kind(
        "a declaration of an Input, a Const, a Param or a size is wrong",
        "lang.tensors.tensors lang.expr.symbols:size lang.expr.symbols:Param.__init__ "
        "lang.expr.param_limits:limit",
    ),
    "PS0121": Kind(
        "an extern stage is declared wrongly, or returned something else",
        "lang.tensors.extern poly.model.domains:Domains.extern",
    ),
    "PS0122": Kind(
        "a function of the language is called with other arguments than it takes",
        "lang.errors.frames lang.expr.functions lang.tensors.boundary lang.tensors.trace "
        "lang.program.compute lang.program.requirements codegen.runtime.scheduled",
    ),
    "PS0123": Kind("subscripts of einsum do not fit its operands", "lang.program.einsum"),
    "PS0124": Kind(
        "the outputs or the arguments of a program are listed wrongly",
        "lang.tensors.asked lang.program.program lang.program.signature",
    ),
    "PS0125": Kind(
        "the program is too intricate to be proven in the time allowed", "poly.model.proven"
    ),
    "PS0126": Kind(
        "an index may not fit in 64 bits",
        "poly.nests.wraps poly.sets.coordinates poly.directives.invariants:check_reach",
    ),
    "PS0127": Kind("an output follows none of its Inputs with a border", "poly.schedule.halo"),
    NO_ATTRIBUTE: Kind("there is no such attribute", ""),
    "PS0129": Kind("divisions by zero cannot be counted here", "codegen.build.divisions"),
}  # fmt: skip
