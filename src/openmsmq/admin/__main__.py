"""`python -m openmsmq.admin`: the console, as `openmsmq serve` starts it."""

import os
import sys
from typing import Final

# Lower than that of the queue manager, which must not be slowed down by the console.
NICE: Final = 10


def main() -> int:
    os.nice(NICE)
    # Imported late: loading these takes most of the time of the start.
    from .process import run_as_child

    return run_as_child(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
