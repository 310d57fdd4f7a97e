"""`python -m bench [NAME ...] [--json]`: run the benchmarks, each a module with a `run`."""

import argparse
import pkgutil
from importlib import import_module

import bench
from bench.report import show


def main() -> None:
    names = [module.name for module in pkgutil.iter_modules(bench.__path__)]
    names = [name for name in names if name not in {"__main__", "report"}]
    parser = argparse.ArgumentParser(prog="python -m bench", description="Run benchmarks.")
    parser.add_argument("name", nargs="*", help=f"of {', '.join(names)}; all when none is named")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    arguments = parser.parse_args()
    for name in set(arguments.name) - set(names):
        parser.error(f"no benchmark {name!r}")
    for name in arguments.name or names:
        show(name, import_module(f"bench.{name}").run(), as_json=arguments.json)


if __name__ == "__main__":
    main()
