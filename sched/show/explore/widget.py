"""The thin shell around an explorer that a notebook shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..parts.theme import STYLE
from . import export
from .changes import Changes

SCRIPT = Path(__file__).with_name("explorer.js")


def made(explorer: Any) -> Any:
    """A widget that shows an explorer and gives it the messages of its page.

    The page's copies of what is shown are never read: only its messages are, and these choose from
    lists. What is shown is sent whole to a page that begins, and then what changes.
    """
    import anywidget
    import traitlets

    changes = Changes(explorer.view, lambda change: widget.send(change))

    class ExplorerWidget(anywidget.AnyWidget):  # type: ignore[misc]
        _esm = SCRIPT.read_text(encoding="utf-8")
        _css = STYLE + export.STYLE
        view = traitlets.Dict().tag(sync=True, to_json=lambda _value, _widget: changes.state())

        def set_state(self, sync_data: Any) -> None:
            """A page changes nothing here by itself."""

    def hear(_: Any, content: Any, buffers: Any) -> None:
        match content:
            case {"do": "show", "number": number}:
                changes.asked(number)
            case _:
                explorer.answer(content)

    widget: Any = ExplorerWidget()
    widget.on_msg(hear)
    explorer._listeners.append(changes.tell)
    return widget
