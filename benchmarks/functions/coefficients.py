"""Makes the coefficients of the functions in `sched/lang/arithmetic/`.

    python benchmarks/functions/coefficients.py                 # all of them
    python benchmarks/functions/coefficients.py sin cos         # those whose names begin so

Each is printed with its name, its largest weighted error as a power of two, and the numbers as they
stand in the sources; of a quotient those of the numerator come first. Needs mpmath; gmpy2 makes it
quicker.
"""

from __future__ import annotations

import sys
from math import log2

from quotients import Quotient
from remez import Fit
from single_fits import FITS as SINGLE
from special_fits import FITS as SPECIAL
from trig_fits import FITS as TRIG

FITS: dict[str, Fit | Quotient] = {**TRIG, **SINGLE, **SPECIAL}


def main(wanted: list[str]) -> int:
    names = [name for name in FITS if not wanted or name.startswith(tuple(wanted))]
    if not names:
        print(f"no polynomial begins with {' or '.join(wanted)}: there are", ", ".join(FITS))
        return 2
    for name in names:
        coefficients, error = FITS[name].rounded()
        print(f"{name}: 2**{log2(error):.1f}")
        print("   ", ", ".join(map(repr, coefficients)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
