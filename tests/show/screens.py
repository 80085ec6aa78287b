"""Pictures of what a real JupyterLab page shows: `make screenshots`.

    python -P tests/show/screens.py            # writes docs/images/*.png

Each entry of `SCENES` is a cell of a notebook, and what is clicked before a picture is taken.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

IMAGES = Path(__file__).parents[2] / "docs" / "images"
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
PATIENCE = 120.0
_OWN = (
    "JUPYTER_CONFIG_DIR", "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR",
    "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR",
)  # fmt: skip

_PRODUCT = """import polysched as ps
n, p, m = ps.sizes("n p m")
i, j = ps.vars("i j")
k = ps.RVar("k", 0, p)
A = ps.Input("A", ps.float32, (n, p))
B = ps.Input("B", ps.float32, (p, m))
C = ps.Func("C", (n, m))
C[i, j] = 0
C[i, j] += A[i, k] * B[k, j]
"""


@dataclass(frozen=True)
class Scene:
    """A picture.

    Attributes:
        name: of its file, to which the theme is added.
        cell: the code of a notebook's only cell.
        shown: a CSS selector of what must be there, and is the picture.
        clicks: the texts of buttons that are clicked, one after another, in order.
    """

    name: str
    cell: str
    shown: str
    clicks: tuple[str, ...] = ()


SCENES = (
    Scene("schedule", _PRODUCT + "ps.Schedule(C)", ".jp-OutputArea-output"),
    Scene("explorer", _PRODUCT + "ps.explore(C)", ".polysched.explorer"),
    Scene(
        "explorer-after", _PRODUCT + "ps.explore(C)", ".polysched.explorer",
        ("reorder 'k', 'j'", "vectorize ps.native"),
    ),
)  # fmt: skip


def chromium() -> str | None:
    """The browser that is installed; None if there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def lab() -> Iterator[tuple[str, Path]]:
    """A JupyterLab of this machine only: its address with the token, and the folder it shows."""
    with tempfile.TemporaryDirectory(prefix="polysched-lab-") as name, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port, token, folder = free.getsockname()[1], secrets.token_hex(16), Path(name)
        free.close()
        own = {name: str(folder / name.lower()) for name in _OWN}
        (folder / "pages").mkdir()
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "jupyterlab", "--no-browser", "--allow-root",
             "--ip=127.0.0.1", f"--port={port}", f"--IdentityProvider.token={token}",
             f"--ServerApp.root_dir={folder / 'pages'}", "--LabApp.news_url=None"],
            env={**os.environ, **own}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            address = f"http://127.0.0.1:{port}"
            _until(lambda: urllib.request.urlopen(f"{address}/api?token={token}", timeout=5))
            yield f"{address}/lab/tree/{{}}?token={token}&reset", folder
        finally:
            process.terminate()
            process.wait(30)


def _until(done: Callable[[], Any]) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            done()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def _theme(folder: Path, theme: str) -> None:
    place = folder / "jupyterlab_settings_dir" / "@jupyterlab" / "apputils-extension"
    place.mkdir(parents=True, exist_ok=True)
    (place / "themes.jupyterlab-settings").write_text(json.dumps({"theme": THEMES[theme]}))


def _notebook(folder: Path, scene: Scene) -> str:
    import nbformat

    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(scene.cell)])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(made, folder / "pages" / f"{scene.name}.ipynb")
    return f"{scene.name}.ipynb"


@contextmanager
def browser() -> Iterator[Any]:
    """A browser without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as p:
        found = p.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        try:
            yield found
        finally:
            found.close()


@contextmanager
def page_of(found: Any, address: str, folder: Path, scene: Scene, theme: str) -> Iterator[Any]:
    """The page of a scene's notebook, after its cell has run."""
    _theme(folder, theme)
    page = found.new_page(viewport={"width": 1280, "height": 1500})
    page.set_default_timeout(PATIENCE * 1000)
    try:
        page.goto(address.format(_notebook(folder, scene)))
        page.wait_for_selector(".jp-Notebook .jp-CodeCell .cm-content")
        page.wait_for_selector('.jp-Notebook-ExecutionIndicator[data-status="idle"]')
        page.wait_for_timeout(4000)  # the page drops keys as long as it connects to the kernel
        page.click(".jp-Notebook .jp-CodeCell .cm-content")
        page.keyboard.press("Shift+Enter")
        page.wait_for_selector(scene.shown)
        yield page
    finally:
        page.close()


def click(page: Any, words: str) -> None:
    """Clicks the first legal candidate of that label, and waits until the page has changed."""
    before = page.inner_text(".polysched.explorer pre.source")
    page.locator("button.move.legal", has_text=re.compile(f"^{re.escape(words)}$")).first.click()
    page.wait_for_function(
        "before => document.querySelector('.polysched.explorer pre.source').innerText !== before",
        arg=before,
    )


def settled(page: Any) -> None:
    """Waits until no candidate waits for its verdict."""
    page.wait_for_function(
        "() => document.querySelector('.polysched.explorer .move.legal') &&"
        " !document.querySelector('.polysched.explorer .move.pending')"
    )


def main() -> None:
    """Writes all pictures."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with lab() as (address, folder), browser() as found:
        for scene in SCENES:
            for theme in THEMES:
                with page_of(found, address, folder, scene, theme) as page:
                    for words in scene.clicks:
                        settled(page)
                        click(page, words)
                    if "explore" in scene.shown:
                        settled(page)
                    path = IMAGES / f"{scene.name}-{theme}.png"
                    page.locator(scene.shown).first.screenshot(path=str(path))
                    print(path, path.stat().st_size)


if __name__ == "__main__":
    main()
