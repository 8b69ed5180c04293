"""The command line. Needs the extra `cli`; `import cantle` never loads it."""

from __future__ import annotations

import signal
import sys
from typing import Any

_EXTRA = {"typer", "rich", "click"}


def main() -> None:
    """Run the command line and end the process with its status."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        from cantle.cli.app import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        sys.exit('cantle: the command line needs two more packages: pip install "cantle[cli]"')
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(run(sys.argv[1:]))


def _terminate(number: int, frame: Any) -> None:
    # An exception, so that a half-written output is removed on the way out.
    sys.exit(128 + number)
