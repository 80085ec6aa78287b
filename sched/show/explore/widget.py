"""The thin shell around an explorer that a notebook shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..parts.theme import STYLE
from . import export

SCRIPT = Path(__file__).with_name("explorer.js")


def made(explorer: Any) -> Any:
    """A widget that shows an explorer and gives it the messages of its page.

    The page's copies of what is shown are never read: only its messages are, and these choose from
    lists.
    """
    import anywidget
    import traitlets

    class ExplorerWidget(anywidget.AnyWidget):  # type: ignore[misc]
        _esm = SCRIPT.read_text(encoding="utf-8")
        _css = STYLE + export.STYLE
        view = traitlets.Dict().tag(sync=True)

        def set_state(self, sync_data: Any) -> None:
            """A page changes nothing here by itself."""

    widget = ExplorerWidget(view=explorer.view())

    def show() -> None:
        widget.view = explorer.view()

    widget.on_msg(lambda _, content, buffers: explorer.answer(content))
    explorer._listeners.append(show)
    return widget
