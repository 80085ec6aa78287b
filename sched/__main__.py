"""The command line: `python -m polysched demo`, `info`, `calibrate`, `report`, `cache`, `explain`,
`fuzz`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import PolyschedError


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        arguments: the command and its options; by default those of the process.

    Returns:
        The exit status: 0; 1 after an error, which is printed in one line; 130 after Ctrl-C.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    end = given.index("--") if "--" in given else len(given)
    parser = _parser()
    chosen = parser.parse_args(given[:end])
    chosen.behind = given[end + 1 :]
    if chosen.behind and chosen.run is not _report:
        parser.error(f"unrecognized arguments: {' '.join(given[end:])}")
    try:
        return int(chosen.run(chosen))
    except (PolyschedError, OSError) as error:
        print(f"polysched: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    from .show.system import version

    parser = argparse.ArgumentParser(
        prog="python -m polysched",
        description="polysched: say what to compute once, say how apart from that.",
    )
    parser.add_argument("--version", action="version", version=f"polysched {version()}")
    commands = parser.add_subparsers(metavar="command", required=True)

    demo = commands.add_parser("demo", help="photographs through compiled programs, beside NumPy")
    demo.add_argument(
        "--out",
        type=Path,
        default=Path("demo-output"),
        metavar="DIR",
        help="where the pictures go (default: demo-output)",
    )
    demo.set_defaults(run=_demo)

    info = commands.add_parser("info", help="versions, this machine, extras, environment variables")
    info.set_defaults(run=_info)

    _add_explain(commands)
    calibrate = commands.add_parser(
        "calibrate", help="measures what this machine can do, and keeps it"
    )
    calibrate.set_defaults(run=_calibrate)

    _add_report(commands.add_parser("report", help="a page about each kernel that a script makes"))

    cache = commands.add_parser("cache", help="what is kept on disk for other processes")
    what = cache.add_mutually_exclusive_group()
    what.add_argument(
        "--verify", action="store_true", help="reads all entries, and removes damaged ones"
    )
    what.add_argument("--clear", action="store_true", help="removes all entries")
    cache.set_defaults(run=_cache)

    _add_fuzz(
        commands.add_parser("fuzz", help="random programs under random schedules, all checked")
    )
    return parser


def _add_fuzz(fuzz: argparse.ArgumentParser) -> None:
    fuzz.add_argument("--minutes", type=float, default=5.0, help="for how long (default: 5)")
    fuzz.add_argument("--seed", type=int, default=0, help="of the first program; they count up")
    fuzz.add_argument("--programs", type=int, default=None, help="stop after so many")
    fuzz.add_argument("--out", type=Path, default=None, metavar="DIR", help="where findings go")
    fuzz.set_defaults(run=_fuzz)


def _add_report(report: argparse.ArgumentParser) -> None:
    report.add_argument(
        "script",
        help="a Python script, which is run with the arguments behind --; script.py:name for one "
        "Kernel, Schedule or Func of it",
    )
    report.add_argument(
        "--out", type=Path, default=None, metavar="PATH",
        help="the file, or a folder for several kernels (default: SCRIPT-KERNEL.html)",
    )  # fmt: skip
    report.add_argument(
        "--size", action="append", default=[], metavar="NAME=NUMBER",
        help="a number for a size, for counts; one for each size",
    )  # fmt: skip
    report.set_defaults(run=_report)


def _report(chosen: argparse.Namespace) -> int:
    from .show.reporting.scripts import reports

    sizes = dict(map(_size, chosen.size))
    for path in reports(chosen.script, chosen.out, sizes, chosen.behind):
        print(f"wrote {path}", flush=True)
    return 0


def _size(text: str) -> tuple[str, int]:
    """`n=512`"""
    name, _, number = text.partition("=")
    try:
        return name.strip(), int(number)
    except ValueError:
        raise PolyschedError(f"--size takes NAME=NUMBER, and not {text}", code="PS0802") from None


def _add_explain(commands: Any) -> None:
    explain = commands.add_parser("explain", help="what the code of an error means")
    explain.add_argument("code", nargs="?", help="such as PS0402; without one, all are listed")
    explain.set_defaults(run=_explain)


def _demo(chosen: argparse.Namespace) -> int:
    from . import demo

    return 0 if demo.run(chosen.out) else 1


def _info(chosen: argparse.Namespace) -> int:
    from .show.system import report

    print(report())
    return 0


def _explain(chosen: argparse.Namespace) -> int:
    from .show.explained import explained, listed

    print(listed() if chosen.code is None else explained(chosen.code, bold=sys.stdout.isatty()))
    return 0


def _calibrate(chosen: argparse.Namespace) -> int:
    from .tune.calibrate import calibrate

    calibrate(lambda line: print(line, flush=True))
    return 0


def _cache(chosen: argparse.Namespace) -> int:
    from .show import cache

    if chosen.clear:
        print(cache.cleared())
        return 0
    if chosen.verify:
        text, is_intact = cache.verified()
        print(text)
        return 0 if is_intact else 1
    print(cache.report())
    return 0


def _fuzz(chosen: argparse.Namespace) -> int:
    from .cache import place
    from .testing.hunt import hunt

    os.environ[place.ENABLED] = "0"  # random programs do not come again

    return 0 if hunt(chosen.minutes, chosen.seed, chosen.out, chosen.programs) else 1


if __name__ == "__main__":
    sys.exit(main())
