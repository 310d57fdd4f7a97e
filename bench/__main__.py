"""`python -m bench [NAME ...] [--json]`: run the benchmarks, each a module with a `run`.

`brokers` and `transfer` compare with other programs, which takes minutes: they have options of
their own, `processor-time` has some of these.
"""

import argparse
import pkgutil
from importlib import import_module

from tools.compile import is_fresh

import bench
from bench import brokers, processor_time, transfer
from bench.brokers import PEERS, Options
from bench.report import result_table, show, write_tables

_NOT_BENCHMARKS = {"__main__", "report", "targets"}
_WITH_PEERS = {
    "brokers": brokers.present,
    "processor-time": processor_time.present,
    "transfer": transfer.present,
}
# Titles of tables on the page.
_ON_PAGE = {
    "spark-decoder": "Rows from packets",
    "spark-sink": "From a queue through Spark into another",
    "spark-source": "From a queue into Spark",
}


def main() -> None:
    found = [module.name for module in pkgutil.iter_modules(bench.__path__) if not module.ispkg]
    names = [name.replace("_", "-") for name in found if name not in _NOT_BENCHMARKS]
    parser = argparse.ArgumentParser(prog="python -m bench", description="Run benchmarks.")
    parser.add_argument("name", nargs="*", help=f"of {', '.join(names)}; all when none is named")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    parser.add_argument("--quick", action="store_true", help="with brokers: one short round")
    parser.add_argument(
        "--only", default=",".join(PEERS), help=f"with brokers: of {','.join(PEERS)}"
    )
    parser.add_argument(
        "--no-install", action="store_true", help="with brokers: install no packages"
    )
    parser.add_argument("--pure", action="store_true", help="with brokers: no compiled modules")
    parser.add_argument(
        "--write", action="store_true", help="put tables that docs/benchmarks.md has into it"
    )
    arguments = parser.parse_args()
    for name in set(arguments.name) - set(names):
        parser.error(f"no benchmark {name!r}")
    for name in arguments.name or names:
        if name in _WITH_PEERS:
            options = Options(
                quick=arguments.quick,
                only=tuple(arguments.only.split(",")),
                install=not arguments.no_install,
                compiled=not arguments.pure and is_fresh(),
                as_json=arguments.json,
                write=arguments.write,
            )
            _WITH_PEERS[name](options)
        else:
            module = import_module(f"bench.{name.replace('-', '_')}")
            results = module.run()
            show(name, results, as_json=arguments.json)
            if arguments.write and name in _ON_PAGE:
                write_tables(name, [result_table(_ON_PAGE[name], results)])


if __name__ == "__main__":
    main()
