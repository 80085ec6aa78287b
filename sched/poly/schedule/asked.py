"""What a schedule says of directives without being given them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ...lang.errors.frames import bounded
from ...later import later

if TYPE_CHECKING:
    from . import why_not as answers
    from .schedule import Schedule
    from .why_not import Verdict
else:
    answers = later(".why_not", __package__)


@bounded
class WhyNot:
    """What a schedule says of directives without being given them."""

    def why_not(self, directive: str, /, *args: Any, **options: Any) -> Verdict:
        """Whether a directive would be accepted, and if not, why: `s.why_not("parallel", i)`.
        Nothing changes, and a refusal is no exception. In a batch or a sketch, what is there is
        proven with it; what was trusted is trusted, and this directive is not.

        Args:
            directive: its name.
            args: as the directive takes them. Where the first one is a stage, it is one of that
                stage, and the other ones are its arguments: `s.why_not("compute_at", g, f, i)`.
                Else it is one of the first stage inside of the loop that comes first.
            options: as the directive takes them.

        Raises:
            LanguageError: there is no directive of that name, or it is not said of what.
        """
        return answers.answer(cast("Schedule", self), directive, args, options)
