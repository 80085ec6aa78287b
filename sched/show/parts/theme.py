"""The one look of everything that is shown: colours, light and dark, and whole pages.

Every display is a `<div class="polysched">` with its own style element, so it is right wherever it
stands: in JupyterLab, in VS Code, on a code host or in a file. Colours are variables of CSS. Which
theme holds is what the page around says (JupyterLab's and VS Code's attributes), else what the
reader's system asks for. Nothing is loaded from a network, and nothing needs a script.
"""

from __future__ import annotations

from .markup import Content, Markup, tag, text

# Colours by name, light and dark: (text and lines on the background) and kinds of loops. The kinds
# are told apart by people who see few colours, too: they differ in lightness, and a word or a
# letter always stands beside a colour.
COLOURS: dict[str, tuple[str, str]] = {
    "ink": ("#1f2328", "#e6edf3"),
    "paper": ("#ffffff", "#111418"),
    "faint": ("#656d76", "#9aa4af"),
    "line": ("#d0d7de", "#3d444d"),
    "panel": ("#f6f8fa", "#1b2027"),
    "accent": ("#0757ba", "#6cb0ff"),
    "good": ("#116329", "#56d364"),
    "warn": ("#8a5a00", "#e3b341"),
    "bad": ("#b3261e", "#ff7b72"),
    "serial": ("#656d76", "#9aa4af"),
    "parallel": ("#0b6e4f", "#4fd1a5"),
    "vector": ("#6f42c1", "#c8a6ff"),
    "unrolled": ("#9a5b00", "#f0b35a"),
    "storage": ("#0969a2", "#79c0ff"),
}

# A sequence of distinct colours for threads, stages or tiles. They are seen on both backgrounds,
# and white words are read on them; on no background are they colours of words.
SERIES = (
    "#3576b3", "#af5f04", "#258159", "#bb4367", "#7e64bd", "#81722c", "#2a7e8c", "#a05a33",
)  # fmt: skip


def colour(name: str) -> str:
    """A colour of the theme, as CSS and SVG write it."""
    return f"var(--ps-{name})"


def _variables(which: int) -> str:
    return "".join(f"--ps-{name}:{both[which]};" for name, both in COLOURS.items())


_DARK_PAGES = (
    'body[data-jp-theme-light="false"] .polysched,'
    "body.vscode-dark .polysched,body.vscode-high-contrast .polysched,"
    'html[data-theme="dark"] .polysched'
)
_LIGHT_PAGES = (
    'body[data-jp-theme-light="true"] .polysched,body.vscode-light .polysched,'
    'html[data-theme="light"] .polysched'
)

STYLE = (
    f".polysched{{{_variables(0)}color:var(--ps-ink);font:13px/1.45 system-ui,sans-serif;"
    "max-width:100%;overflow-x:auto}"
    f"@media (prefers-color-scheme:dark){{.polysched{{{_variables(1)}}}}}"
    f"{_LIGHT_PAGES}{{{_variables(0)}}}"
    f"{_DARK_PAGES}{{{_variables(1)}}}"
    ".polysched code,.polysched pre,.polysched .mono{font:12px/1.5 ui-monospace,SFMono-Regular,"
    "Menlo,Consolas,monospace;background:none;color:inherit;padding:0}"
    ".polysched pre{margin:0;padding:0;white-space:pre;word-break:normal}"
    ".polysched .faint{color:var(--ps-faint)}"
    ".polysched .head{font-weight:600;margin:2px 0 4px}"
    ".polysched summary{cursor:pointer}"
    ".polysched table{border-collapse:collapse;margin:4px 0;font-size:12px;color:inherit}"
    ".polysched th,.polysched td{border:0;border-bottom:1px solid var(--ps-line);"
    "padding:2px 10px 2px 0;vertical-align:top;background:none;color:inherit}"
    ".polysched tr,.polysched tr:nth-child(n){background:none}"
    # JupyterLab aligns tables by rules with two classes.
    ".polysched.polysched th,.polysched.polysched td{text-align:left}"
    ".polysched.polysched td.number,.polysched.polysched th.number{text-align:right;"
    "white-space:nowrap;font-variant-numeric:tabular-nums}"
    ".polysched svg{max-width:100%;height:auto}"
    ".polysched svg text{fill:var(--ps-ink);font:11px ui-monospace,Menlo,Consolas,monospace}"
)


CLASSES = "polysched mathjax_ignore tex2jax_ignore"
"""Of a display. In it MathJax, which notebooks run on what they show, leaves dollars alone: what
stands between two of them is a user's text. Formulas are MathML."""


def display(*content: Content, style: str = "") -> Markup:
    """A display that stands by itself inside of any page.

    Args:
        content: its markup.
        style: rules of CSS that it needs beside the common ones; each selector must begin with
            `.polysched`, so that the page around stays as it is.
    """
    return tag("div", tag("style", Markup(_first(STYLE + style))), text(content), class_=CLASSES)


def _first(style: str) -> str:
    """Rules that go before those of the page around, as of JupyterLab for tables and code: as if
    displays had an id. Such a page has several displays, so they have none."""
    return style.replace(".polysched ", ".polysched:not(#_) ")


def page(title: str, *content: Content, style: str = "", script: str = "") -> Markup:
    """A whole page in one file, which needs no network.

    Args:
        title: the title of the page.
        content: the markup of its body.
        style: rules of CSS beside the common ones.
        script: JavaScript that runs when the page is loaded; without it the page must be
            readable, too. It is a constant of this package, never text of a user: `</` in it
            would end the element.
    """
    whole = (
        "body{margin:0;background:var(--ps-paper)}"
        ".polysched.page{min-height:100vh;background:var(--ps-paper)}"
        ".polysched.page>main{max-width:1180px;margin:0 auto;padding:20px}"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width,initial-scale=1"),
        tag("title", title),
        tag("style", Markup(STYLE + whole + style)),
    )
    body = tag(
        "body",
        tag("div", tag("main", text(content)), class_="polysched page"),
        tag("script", Markup(script)) if script else None,
    )
    return text([Markup("<!DOCTYPE html>"), tag("html", head, body, lang="en")])
