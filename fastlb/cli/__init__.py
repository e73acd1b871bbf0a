"""The command line ``fastlb``; each command's module is imported when it is called."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from ..aside import exit_at_once, left_behind
from ..extras import how_to_install


def main() -> None:
    """Run the command line and leave with its exit code.

    0 done, 1 ran but did not reach what was asked, 2 bad input, 130 interrupted.
    """
    missing = [name for name in ("click", "rich") if find_spec(name) is None]
    if missing:
        print(
            f"fastlb: the command line needs {' and '.join(missing)}: {how_to_install('cli')}",
            file=sys.stderr,
        )
        sys.exit(2)
    code: int | str | None = 130
    try:
        from .commands import commands
        from .notice import announcing_compilation

        with announcing_compilation():
            commands.main(prog_name="fastlb")
    except KeyboardInterrupt:
        print("fastlb: interrupted", file=sys.stderr)
    except SystemExit as end:
        code = end.code
    if left_behind() and isinstance(code, int):
        exit_at_once(code)
    sys.exit(code)
