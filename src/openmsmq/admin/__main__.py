"""`python -m openmsmq.admin`: the console, as `openmsmq serve` starts it."""

import os
import sys
from typing import Final

# Lower than that of the queue manager, which is not to notice the console.
NICE: Final = 10


def main() -> int:
    os.nice(NICE)
    # Only now: what these load takes most of the time of the start.
    from .process import run_as_child

    return run_as_child(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
