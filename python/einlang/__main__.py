"""``python -m einlang``: the command line of Einlang."""

import sys

from ._einlang import main


def command() -> int:
    """Runs the command line with the arguments of the process."""
    return main(["einlang", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(command())
