"""`python -m bench [NAME ...] [--json]`: run the benchmarks, each a module with a `run`.

`brokers` and `transfer` compare with other programs, which takes minutes: they have options of
their own, `processor-time`, `remote-read` and `srmp` have some of these. `versions` compares with
another checkout and runs only when it is named.
"""

import argparse
import pkgutil
from importlib import import_module
from pathlib import Path

from tools.compile import is_fresh

import bench
from bench import brokers, processor_time, remote_read, srmp, transfer, versions
from bench.brokers import PEERS, Options
from bench.report import result_table, show, write_tables

_NOT_BENCHMARKS = {"__main__", "report", "targets"}
_WITH_PEERS = {
    "brokers": brokers.present,
    "processor-time": processor_time.present,
    "remote-read": remote_read.present,
    "srmp": srmp.present,
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
    parser.add_argument("--other", type=Path, help="with versions: the other checkout")
    parser.add_argument(
        "--rounds", type=int, default=versions.ROUNDS, help="with versions: of both checkouts"
    )
    arguments = parser.parse_args()
    for name in set(arguments.name) - set(names):
        parser.error(f"no benchmark {name!r}")
    if "versions" in arguments.name:
        if arguments.other is None or len(arguments.name) > 1:
            parser.error("versions stands alone and needs --other FOLDER")
        versions.present(
            arguments.other.resolve(),
            ("brokers", "transfer"),
            rounds=arguments.rounds,
            quick=arguments.quick,
            as_json=arguments.json,
        )
        return
    for name in arguments.name or [name for name in names if name != "versions"]:
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
