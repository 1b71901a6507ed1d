"""Compares the standard library with NumPy and SciPy.

    python tests/std_reference/generate.py path/to/einlang [--only TEXT] [--jobs N]

Every public function of `std` is called on generated values of several ranks and types, with empty
axes, axes of one element, NaN, infinities, ties and negative numbers among them. What comes back is
compared with the reference within the bounds of `tolerances.py`. Functions without a counterpart
have a property instead. A line is printed for each comparison that fails, then how many did.
"""

import argparse
import os
import pathlib
import re
import sys
import time
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import cases_array  # noqa: E402
import cases_edges  # noqa: E402
import cases_files  # noqa: E402
import cases_linalg  # noqa: E402
import cases_math  # noqa: E402
import cases_ml  # noqa: E402
import cases_numerics  # noqa: E402
import cases_other  # noqa: E402
import cases_random  # noqa: E402
from harness import Suite, compare  # noqa: E402

LIBRARY = pathlib.Path(__file__).resolve().parents[2] / "std"

# Functions that are compared elsewhere, with the place.
ELSEWHERE = {"testing::check_deriv": "stops a program: tests/std"}


def public_functions():
    """The names that the areas of the library offer, without types."""
    for path in sorted(LIBRARY.glob("*/mod.ein")):
        for names in re.findall(r"pub use \w+::\{([^}]*)\}", path.read_text(encoding="utf-8")):
            for name in re.split(r"[,\s]+", names):
                if name and not (name[0].isupper() and not name.isupper()):
                    yield f"{path.parent.name}::{name}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--only", default="", help="only functions whose path contains this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    options = parser.parse_args()
    # References meet NaN, infinities and empty axes on purpose.
    warnings.simplefilter("ignore")
    suite = Suite()
    areas = (cases_math, cases_array, cases_linalg, cases_ml, cases_numerics, cases_random, cases_other,
             cases_files, cases_edges)
    for area in areas:
        area.add(suite)
    covered = {case.function for case in suite.cases}
    public = set(public_functions())
    start = time.time()
    cases = [case for case in suite.cases if options.only in case.function]
    n_passed, failures = compare(os.path.abspath(options.binary), cases, options.jobs)
    failures += [f"{name}: has no case" for name in sorted(public - covered - set(ELSEWHERE))]
    failures += [f"{name}: is no function of the library" for name in sorted(covered - public)]
    for failure in failures:
        print(failure)
    print(f"{len(covered)} of {len(public)} functions in {time.time() - start:.0f} s")
    print(f"{n_passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
