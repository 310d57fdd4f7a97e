"""Replay seeds: `python -m tests.simulation SEED [SEED ...] [--trace]`."""

import argparse
import sys
import time
import traceback

from .run import Simulation


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("seeds", nargs="+", help="a seed, or first-last")
    parser.add_argument("--trace", action="store_true", help="tell what happens")
    parser.add_argument("--web", action="store_true", help="send over HTTP, too")
    parser.add_argument("--multicast", action="store_true", help="send by multicast, too")
    options = parser.parse_args()
    failed = 0
    for text in options.seeds:
        first, _, last = text.partition("-")
        for seed in range(int(first), int(last or first) + 1):
            start = time.perf_counter()
            simulation = Simulation(
                seed,
                trace=print if options.trace else None,
                web=options.web,
                multicast=options.multicast,
            )
            try:
                simulation.run()
                result = "ok"
            except Exception as exc:  # noqa: BLE001 - whatever breaks is the result
                failed += 1
                result = f"FAILED {type(exc).__name__}: {exc}"
                if not isinstance(exc, AssertionError):
                    traceback.print_exc()
            seconds = time.perf_counter() - start
            print(f"{seed}: {len(simulation.ledger.entries)} messages, {seconds:.2f} s, {result}")
            if options.trace:
                for what, count in sorted(simulation.world.counts.items()):
                    print(f"{count:8} {what}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
