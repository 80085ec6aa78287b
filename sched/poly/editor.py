"""Directives on the state of a schedule: names to loops, trees to trees."""

from __future__ import annotations

from dataclasses import replace

from .editors.bodies import BodyEditor
from .editors.loops import LoopEditor
from .editors.rewriting import RewritingEditor
from .editors.terms import TermsEditor
from .edits import loop_names
from .looptree import produced
from .placement import placed
from .state import Edit


class Editor(LoopEditor, BodyEditor, RewritingEditor, TermsEditor):
    """Carries out one directive."""

    def run(self) -> Edit:
        """The state after the directive.

        Raises:
            ScheduleError: it means nothing here.
        """
        before, counted = loop_names(self.tree), self._coordinates()
        made = self.directive.edit(self)
        self._check_reach(counted)
        self._check_bounds_known()
        if produced(self.tree):
            self.tree, changed = placed(self.model, self.tree)
            self.edited |= changed
        self._check_kinds()
        self._check_kept()
        self._check_lanes()
        gone = dict(self.state.gone)
        after = loop_names(self.tree)
        changed_names = [x for x in {**before, **after} if before.get(x) != after.get(x)]
        for stage in changed_names:
            for name in before.get(stage, ()):
                if name not in after.get(stage, ()):
                    gone[stage, name] = self.directive
            for name in after.get(stage, ()):
                gone.pop((stage, name), None)
        edited = frozenset(s.base for s in self.edited)
        state = replace(self.state, form=self.form, tree=self.tree, gone=gone)
        return Edit(state, made, edited)
