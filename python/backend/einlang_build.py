"""The build of `pip install .`: maturin, with machine code where LLVM 22 is found or can be installed.

`cargo xtask llvm` looks for LLVM, installs it where that is possible, and says in one line what is left
out otherwise. `MATURIN_PEP517_ARGS` in the environment takes precedence.
"""

import os
import subprocess
from typing import Any

import maturin
from maturin import *  # noqa: F403 - the hooks that are not changed

VARIABLE = "MATURIN_PEP517_ARGS"


def _prepare() -> None:
    if VARIABLE in os.environ:
        return
    found = subprocess.run(["cargo", "xtask", "llvm"], stdout=subprocess.PIPE, text=True, check=False)
    prefix = found.stdout.strip()
    if found.returncode == 0 and prefix:
        os.environ["LLVM_SYS_221_PREFIX"] = prefix
        os.environ[VARIABLE] = "--features native"


def build_wheel(*args: Any, **kwargs: Any) -> Any:
    """Builds the wheel."""
    _prepare()
    return maturin.build_wheel(*args, **kwargs)


def build_editable(*args: Any, **kwargs: Any) -> Any:
    """Builds the wheel of an editable installation."""
    _prepare()
    return maturin.build_editable(*args, **kwargs)
