"""Run the tests that name rows of docs/conformance, print the figures and write the pages there."""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping

from tools.catalogue import CATALOGUES, RESULTS, ROOT, Catalogue, read_results
from tools.conformance_report import json_lines, page, readme

PYTEST = [
    *(sys.executable, "-m", "pytest", "-q", "--conformance"),
    *("--numprocesses", "auto", "--dist", "loadgroup"),
]


def run_tests(selection: list[str], *, quiet: bool) -> int:
    """Run the tests; their output, with the table, is shown on stdout or kept off it."""
    RESULTS.unlink(missing_ok=True)
    output = sys.stderr if quiet else None
    return subprocess.run([*PYTEST, *selection], cwd=ROOT, stdout=output, check=False).returncode


def pages(catalogue: Catalogue) -> dict[str, str]:
    """The text of every page, by file name."""
    results = read_results()
    texts = {f"{name}.md": page(catalogue, results, name) for name in catalogue.specifications()}
    return {"README.md": readme(catalogue, results), **texts}


def stale(texts: dict[str, str]) -> list[str]:
    paths = {name: CATALOGUES / name for name in texts}
    return [
        name
        for name, path in paths.items()
        if not path.exists() or path.read_text(encoding="utf-8") != texts[name]
    ]


def show_json(lines: Iterable[Mapping[str, object]]) -> None:
    """Print objects line by line, as far as somebody reads them."""
    try:
        for line in lines:
            print(json.dumps(line))
        sys.stdout.flush()
    except BrokenPipeError:
        # What is left in the buffer is written when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make conformance", description=__doc__)
    parser.add_argument("--spec", metavar="PREFIX", help="only these rows; writes no pages")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    parser.add_argument("--check", action="store_true", help="fail if a page is out of date")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    catalogue = Catalogue.read()
    names = catalogue.specifications()
    selection = ["-m", "spec"]
    if options.spec:
        names = [name for name in names if options.spec.startswith(name)]
        if not names:
            print(f"conformance: no catalogue has rows {options.spec}", file=sys.stderr)
            return 2
        selection = ["--spec", options.spec]
    code = run_tests(selection, quiet=options.json)
    if not RESULTS.exists():
        print("conformance: nothing was counted, see above", file=sys.stderr)
        return code or 1
    if options.json:
        show_json(json_lines(catalogue, read_results(), names))
    if options.spec:
        return code
    texts = pages(catalogue)
    if options.check:
        for name in stale(texts):
            print(f"docs/conformance/{name} is out of date: run `make conformance`")
            code = code or 1
    else:
        for name in stale(texts):
            (CATALOGUES / name).write_text(texts[name], encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main())
