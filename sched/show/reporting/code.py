"""The code of a kernel on four levels beside each other, linked line by line.

The loops as the schedule lists them, the loop IR, LLVM's IR and the assembly stand in panes. Lines
that belong together are found by attributes: `data-n` has numbers of lines of the listing, `data-l`
that of a line of the loop IR, and `data-e` the last line inside of a loop. Without scripts, links
lead from a line of the loops to the first line of each level below.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from ...records import dataclass
from ..parts.markup import Markup, tag, text
from .colours import coloured, loops_coloured
from .nest_links import Numbers

MOST = 16_000
"""Lines of a pane that are shown: more make a page that browsers open slowly."""

OPEN = 600
"""Lines of a pane up to which all its functions are unfolded."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A function of a pane: its name, its lines, and of which line of the loop IR each is; 0 where
    that is not known."""

    name: str
    lines: tuple[str, ...]
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Sources:
    """What the panes show.

    Attributes:
        listing: the schedule's loops, line by line.
        loops: the loop IR, line by line.
        links: for each line of the loop IR, those of the listing that it is made from.
        ends: for each line of the loop IR, the last line of what stands inside.
        llvm, assembly: functions.
        whole: by pane, how to get what is not shown.
    """

    listing: tuple[str, ...]
    loops: tuple[str, ...]
    links: tuple[Numbers, ...]
    ends: tuple[int, ...]
    llvm: tuple[Chunk, ...]
    assembly: tuple[Chunk, ...]


def panes(sources: Sources) -> Markup:
    """The four panes."""
    llvm, assembly = _shown(sources.llvm), _shown(sources.assembly)
    below = {"v": _firsts(llvm), "a": _firsts(assembly)}
    return tag(
        "div",
        _pane("Loops of the schedule", "n", _listing(sources)),
        _pane("Loop IR", "l", _loops(sources, below)),
        _pane("LLVM IR, optimised", "v", _functions(llvm, sources.llvm, "v", "llvm")),
        _pane("Assembly", "a", _functions(assembly, sources.assembly, "a", "gas")),
        class_="panes",
    )


def _pane(title: str, name: str, content: Sequence[Markup]) -> Markup:
    return tag(
        "section",
        tag("div", title, class_="head"),
        tag("div", content, class_="code", data_pane=name, tabindex="0"),
    )


def _shown(chunks: Sequence[Chunk]) -> list[Chunk]:
    """The functions that are shown, the last one cut if there are too many lines."""
    found, left = [], MOST
    for chunk in chunks:
        if left <= 0:
            break
        found.append(Chunk(chunk.name, chunk.lines[:left], chunk.places[:left]))
        left -= len(chunk.lines)
    return found


def _firsts(chunks: Sequence[Chunk]) -> frozenset[int]:
    """The lines of the loop IR of which something is shown."""
    return frozenset(line for chunk in chunks for line in chunk.places if line)


def _listing(sources: Sources) -> list[Markup]:
    made = loops_coloured(sources.listing[:MOST])
    first: dict[int, int] = {}
    for line, numbers in enumerate(sources.links[:MOST], 1):
        for number in numbers:
            first.setdefault(number, line)
    lines = [
        tag(
            "span", _to(f"l{first[n]}", "IR") if n in first else None, content or " ",
            class_="g", data_n=str(n), id=f"n{n}",
        )
        for n, content in enumerate(made, 1)
    ]  # fmt: skip
    return [tag("pre", lines), *_cut(len(sources.listing), "print(schedule) shows all")]


def _loops(sources: Sources, below: dict[str, frozenset[int]]) -> list[Markup]:
    made = loops_coloured(sources.loops[:MOST])
    lines = []
    for l, content in enumerate(made, 1):
        links = [
            _to(f"{pane}{l}", name)
            for pane, name in (("v", "llvm"), ("a", "asm"))
            if l in below[pane]
        ]
        end = sources.ends[l - 1]
        numbers = " ".join(map(str, sources.links[l - 1]))
        lines.append(
            tag(
                "span", links, content or " ", class_="g", data_l=str(l), id=f"l{l}",
                data_e=str(end) if end > l else None, data_n=numbers or None,
            )
        )  # fmt: skip
    return [tag("pre", lines), *_cut(len(sources.loops), "POLYSCHED_LOG=1 prints all")]


def _to(target: str, name: str) -> Markup:
    return tag("a", name, href=f"#{target}", class_="to")


def _functions(
    shown: Sequence[Chunk], whole: Sequence[Chunk], pane: str, language: str
) -> list[Markup]:
    """Functions that can be folded; of each line of the loop IR the first one has a name."""
    count, seen = sum(len(c.lines) for c in whole), set[int]()
    colour = coloured(language)
    found = []
    for number, chunk in enumerate(shown):
        body = tag("pre", list(_groups(chunk, colour(chunk.lines), pane, seen)))
        size = f"{len(chunk.lines)} line" + ("s" if len(chunk.lines) != 1 else "")
        title = tag("summary", tag("code", chunk.name), tag("span", f" {size}", class_="faint"))
        is_open = count <= OPEN or number == 0
        found.append(tag("details", title, body, open=is_open))
    all_of_it = "kernel.asm has all" if pane == "a" else "kernel.llvm has all, before optimisation"
    return [*found, *_cut(count, all_of_it)]


def _groups(chunk: Chunk, made: Sequence[Markup], pane: str, seen: set[int]) -> Iterator[Markup]:
    """Neighbouring lines of one line of the loop IR, each group as an element."""
    for line, group in groupby(zip(chunk.places, made, strict=True), key=lambda x: x[0]):
        content = Markup("\n".join(content for _, content in group))
        if not line:
            yield tag("span", content, class_="g none")
            continue
        name = None if line in seen else f"{pane}{line}"
        seen.add(line)
        yield tag("span", content, class_="g", data_l=str(line), id=name)


def _cut(count: int, how: str) -> list[Markup]:
    """What is said where not all lines are shown."""
    if count <= MOST:
        return []
    return [tag("p", f"{count - MOST} of {count} lines are left out: {how}.", class_="faint")]


def joined(lines: Sequence[str]) -> Markup:
    """Code without links."""
    return tag("pre", text("\n".join(lines)))


STYLE = (
    ".polysched .panes{display:grid;grid-template-columns:1fr 1fr;gap:14px 16px}"
    "@media (max-width:900px){.polysched .panes{grid-template-columns:1fr}}"
    ".polysched .panes>section{min-width:0}"
    ".polysched .panes .code{height:46vh;overflow:auto;border:1px solid var(--ps-line);"
    "border-radius:4px;padding:4px 0;position:relative}"
    ".polysched .panes summary{padding:1px 8px}"
    ".polysched .g{display:block;padding:0 8px;min-height:1.5em;width:max-content;min-width:100%;"
    "box-sizing:border-box}"
    ".polysched .g.none{color:var(--ps-faint)}"
    ".polysched .g:target{outline:2px solid var(--ps-accent);outline-offset:-2px}"
    ".polysched .to{float:right;margin-left:10px;font-size:10px;color:var(--ps-accent);"
    "text-decoration:none}"
    ".polysched .to:hover,.polysched .to:focus{text-decoration:underline}"
    ".polysched .scripted .to{display:none}"
    ".polysched .scripted .g{cursor:pointer}"
    ".polysched .g.in{background:color-mix(in srgb,var(--ps-accent) 9%,transparent)}"
    ".polysched .g.on{background:color-mix(in srgb,var(--ps-accent) 24%,transparent)}"
)

SCRIPT = r"""
(function () {
  "use strict";
  var root = document.querySelector(".panes");
  if (!root) { return; }
  root.classList.add("scripted");
  var all = Array.prototype.slice.call(root.querySelectorAll(".g"));
  var loops = all.filter(function (g) { return g.id[0] === "l"; });
  var byLine = {}, byNumber = {}, pinned = null;
  function put(map, key, g) { (map[key] = map[key] || []).push(g); }
  all.forEach(function (g) {
    if (g.dataset.l) { put(byLine, g.dataset.l, g); }
    if (g.dataset.n) { g.dataset.n.split(" ").forEach(function (n) { put(byNumber, n, g); }); }
  });
  function isCode(g) { return !g.dataset.n && !g.dataset.e && g.id[0] !== "l"; }
  function chosen(g) {
    var on = new Set([g]), within = new Set();
    function line(loop) {
      var l = +loop.dataset.l, end = +(loop.dataset.e || l);
      (byLine[l] || []).forEach(function (x) { on.add(x); });
      for (var k = l + 1; k <= end; k++) {
        (byLine[k] || []).forEach(function (x) { within.add(x); });
      }
    }
    if (g.id[0] === "n") {
      (byNumber[g.dataset.n] || []).forEach(function (x) { if (x.dataset.l) { line(x); } });
    } else if (g.dataset.l) {
      var loop = document.getElementById("l" + g.dataset.l);
      if (loop) {
        if (isCode(g)) { (byLine[g.dataset.l] || []).forEach(function (x) { on.add(x); }); }
        else { line(loop); }
        (loop.dataset.n || "").split(" ").forEach(function (n) {
          var x = document.getElementById("n" + n);
          if (x) { on.add(x); }
        });
      }
    }
    on.forEach(function (x) { within.delete(x); });
    return { on: on, within: within };
  }
  var shown = null;
  function show(g) {
    if (shown) {
      shown.on.forEach(function (x) { x.classList.remove("on"); });
      shown.within.forEach(function (x) { x.classList.remove("in"); });
    }
    shown = g ? chosen(g) : null;
    if (shown) {
      shown.within.forEach(function (x) { x.classList.add("in"); });
      shown.on.forEach(function (x) { x.classList.add("on"); });
    }
  }
  function bring(g) {
    root.querySelectorAll(".code").forEach(function (pane) {
      if (pane.contains(g)) { return; }
      // What runs inside of a loop says more than the branch before it.
      var inPane = all.filter(function (x) { return pane.contains(x); });
      var isCode = pane.dataset.pane === "v" || pane.dataset.pane === "a";
      var first = isCode && inPane.find(function (x) { return shown.within.has(x); });
      first = first || inPane.find(function (x) { return shown.on.has(x); });
      if (!first) { return; }
      var fold = first.closest("details");
      if (fold) { fold.open = true; }
      var top = first.getBoundingClientRect().top - pane.getBoundingClientRect().top;
      pane.scrollTop += top - pane.clientHeight / 4;
    });
  }
  root.addEventListener("mouseover", function (e) {
    var g = e.target.closest(".g");
    if (g && !pinned) { show(g); }
  });
  root.addEventListener("mouseleave", function () { if (!pinned) { show(null); } });
  root.addEventListener("click", function (e) {
    var g = e.target.closest(".g");
    if (!g) { return; }
    pinned = pinned === g ? null : g;
    show(pinned || g);
    if (pinned) { bring(g); }
  });
  document.addEventListener("click", function (e) {
    var a = e.target.closest("a[href^='#l']");
    var g = a && document.getElementById(a.getAttribute("href").slice(1));
    if (g && !root.contains(a)) { pinned = g; show(g); bring(g); }
  });
  document.addEventListener("keydown", function (e) {
    if (e.key === "Escape") { pinned = null; show(null); }
  });
})();
"""
