"""The part of `tools.compile` that runs in the copy of the package: mypyc, then the C compiler.

Arguments: the optimization of the C compiler, how many libraries at a time, the modules.
"""

import sys

from mypyc.build import mypycify
from setuptools import setup  # type: ignore[import-untyped] # it has no types


def main(optimization: str, jobs: str, *modules: str) -> None:
    # One library per package: `core/model/lanes` and `core/outbox` call each other as C functions.
    packages: dict[str, list[str]] = {}
    for module in modules:
        packages.setdefault(module.partition("/")[0], []).append(f"openmsmq/{module}.py")
    groups: list[tuple[list[str], str | None]] = [
        (files, f"openmsmq_{package}") for package, files in packages.items()
    ]
    extensions = mypycify(
        [
            "--strict",
            "--follow-imports=silent",
            *[file for files in packages.values() for file in files],
        ],
        opt_level=optimization,
        debug_level="0",
        separate=groups,
    )
    command = ["build_ext", "--inplace", "--parallel", jobs]
    setup(name="openmsmq-compiled", ext_modules=extensions, script_args=command)


if __name__ == "__main__":
    main(*sys.argv[1:])
