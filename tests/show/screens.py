"""Pictures of what a real JupyterLab page shows: `make screenshots`.

    python -P tests/show/screens.py            # writes docs/images/*.png

Each entry of `SCENES`, in `scenes.py`, is a cell of one notebook, or a page of its own, and what is
clicked before a picture is taken. One server and one kernel show all of them.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

sys.path.insert(0, str(Path(__file__).parent))
from scenes import FIRST, SCENES, Scene

IMAGES = Path(__file__).parents[2] / "docs" / "images"
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
PATIENCE = 60.0
"""Seconds that anything on a page may take."""
_OWN = (
    "JUPYTER_CONFIG_DIR", "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR",
    "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR",
)  # fmt: skip
# Cells that are not on the screen stay on the page, and their order is that of the notebook.
# Nothing asks the network for news.
_SETTINGS: dict[str, dict[str, Any]] = {
    "notebook-extension/tracker": {"windowingMode": "none"},
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}


def chromium() -> str | None:
    """The browser that is installed; None if there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


# the server and the browser -----------------------------------------------------------------------
@contextmanager
def lab(folder: Path) -> Iterator[str]:
    """A JupyterLab of this machine only, which shows a folder: its address, with `{}` for a file.

    Raises:
        RuntimeError: it has not started; with what it said.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port, token = free.getsockname()[1], secrets.token_hex(16)
    own = {name: str(folder / ".own" / name.lower()) for name in _OWN}
    for name, values in _SETTINGS.items():
        package, _, file = name.partition("/")
        place = Path(own["JUPYTERLAB_SETTINGS_DIR"], "@jupyterlab", package)
        place.mkdir(parents=True)
        (place / f"{file}.jupyterlab-settings").write_text(json.dumps(values))
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "jupyterlab", "--no-browser", "--allow-root",
         "--ip=127.0.0.1", f"--port={port}", f"--IdentityProvider.token={token}",
         f"--ServerApp.root_dir={folder}", "--LabApp.news_url=None",
         "--LabApp.expose_app_in_browser=True"],
        env={**os.environ, **own, "POLYSCHED_TARGET": "v3"},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    said: list[str] = []
    is_up = threading.Event()
    assert process.stderr is not None
    listener = threading.Thread(target=_listen, args=(process.stderr, said, is_up), daemon=True)
    listener.start()
    try:
        if not is_up.wait(PATIENCE) or process.poll() is not None:
            raise RuntimeError("JupyterLab has not started:\n" + "".join(said))
        yield f"http://127.0.0.1:{port}/lab/tree/{{}}?token={token}&reset"
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        listener.join()
        process.stderr.close()


def _listen(lines: IO[str], said: list[str], is_up: threading.Event) -> None:
    """Reads what a server says to the end, and tells when it listens or has ended."""
    for line in lines:
        said.append(line)
        if "is running at" in line:
            is_up.set()
    is_up.set()


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


# the stage ----------------------------------------------------------------------------------------
class Stage:
    """The notebook of all scenes in a browser, after its cells have run.

    Attributes:
        errors: what the page has said of errors.
    """

    def __init__(self, found: Any, address: str, folder: Path) -> None:
        self.errors: list[str] = []
        self.folder = folder
        self._browser = found
        self.page = self._new({"width": 1280, "height": 1500})
        self.page.goto(address.format(_notebook(folder)))
        self.page.wait_for_function(
            "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel"
        )
        self.page.evaluate(
            """async () => {
              const app = window.jupyterapp, context = app.shell.currentWidget.sessionContext;
              await context.ready;
              await context.session.kernel.info;
              await app.commands.execute("notebook:run-all-cells");
            }"""
        )
        for scene in SCENES:
            if not scene.page:
                self.of(scene).wait_for()
                self.settled(scene)
            for _ in range(scene.steps):
                self.of(scene).locator("button.next").click()

    def _new(self, size: dict[str, int], **options: Any) -> Any:
        page = self._browser.new_page(viewport=size, **options)
        page.set_default_timeout(PATIENCE * 1000)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._console)
        return page

    def _console(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def of(self, scene: Scene) -> Any:
        """Where a scene is on the page."""
        cell = self.page.locator(".jp-Notebook .jp-CodeCell").nth(SCENES.index(scene) + 1)
        return cell.locator(".polysched.explorer" if scene.is_explorer else ".polysched").first

    def settled(self, scene: Scene) -> None:
        """Waits until an explorer has its picture and no candidate waits for its verdict."""
        if scene.is_explorer:
            self.of(scene).locator(".move.legal").first.wait_for(state="attached")
            self.of(scene).locator(".move.pending").first.wait_for(state="detached")
            self.of(scene).locator(".picture:not(.old)").wait_for()

    def click(self, scene: Scene, words: str) -> None:
        """Clicks a legal candidate, and waits until the step that it makes is shown."""
        explorer = self.of(scene)
        steps = explorer.locator("table tr").count()
        explorer.get_by_title(words, exact=True).click()
        explorer.locator("table tr").nth(steps).wait_for()
        self.settled(scene)

    def theme(self, name: str) -> None:
        """Turns the page to a theme."""
        self.page.evaluate(
            "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })",
            THEMES[name],
        )
        is_light = json.dumps(name == "light")
        self.page.wait_for_selector(f'body[data-jp-theme-light="{is_light}"]', state="attached")

    @contextmanager
    def shown(self, scene: Scene, theme: str) -> Iterator[Any]:
        """What a scene's picture is of: in the notebook, or on a page of its own."""
        if not scene.page:
            yield self.of(scene)
            return
        page = self._new({"width": 1280, "height": 1000}, color_scheme=theme)
        try:
            page.goto((self.folder / scene.page).as_uri())
            yield page.locator("body")
        finally:
            page.close()


def _notebook(folder: Path) -> str:
    import nbformat

    cells = [FIRST, *(scene.cell for scene in SCENES)]
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    for cell in made.cells:  # a refusal is a scene: the cells behind it run, too
        cell.metadata["tags"] = ["raises-exception"]
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(made, folder / "scenes.ipynb")
    return "scenes.ipynb"


@contextmanager
def stage() -> Iterator[Stage]:
    """All scenes, before anything is clicked."""
    with (
        tempfile.TemporaryDirectory(prefix="polysched-lab-", ignore_cleanup_errors=True) as name,
        lab(Path(name)) as address,
        browser() as found,
    ):
        yield Stage(found, address, Path(name))


# pictures -----------------------------------------------------------------------------------------
def _picture(shown: Any, scene: Scene, path: Path) -> None:
    """Writes a picture with few colours, which makes it small."""
    from PIL import Image

    if scene.page:  # the beginning of a long page
        shown.page.screenshot(path=str(path))
    else:
        shown.screenshot(path=str(path))
    with Image.open(path) as whole:
        # Small areas keep their colours, as those of legends.
        small = whole.convert("RGB").quantize(
            160, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        )
    small.save(path, optimize=True)


def main() -> None:
    """Writes all pictures."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with stage() as on:
        for scene in SCENES:
            for words in scene.clicks:
                on.click(scene, words)
        on.page.mouse.move(0, 0)
        for theme in THEMES:
            on.theme(theme)
            for scene in SCENES:
                path = IMAGES / f"{scene.name}-{theme}.png"
                with on.shown(scene, theme) as shown:
                    _picture(shown, scene, path)
                print(path.name, path.stat().st_size)


if __name__ == "__main__":
    main()
