"""Refresh the files of other projects that the console ships.

`python -m tools.vendor` packs the versions below with npm, copies the files that the console uses
into `admin/static/vendor`, draws the sprite of icons, and writes the digests. With `--check` it
compares the files with the digests, without the network.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Final

from tools.catalogue import ROOT

VENDOR: Final = ROOT / "src" / "openmsmq" / "admin" / "static" / "vendor"
MANIFEST: Final = VENDOR / "manifest.json"
# Package, version, licence, and its files: path in the package, name here.
PACKAGES: Final = (
    (
        "htmx.org",
        "4.0.0",
        "0BSD",
        {
            "dist/htmx.min.js": "htmx.min.js",
            "dist/ext/hx-csp.min.js": "hx-csp.min.js",
            "dist/ext/hx-sse.min.js": "hx-sse.min.js",
            "LICENSE": "htmx.LICENSE.txt",
        },
    ),
    (
        "uplot",
        "1.6.32",
        "MIT",
        {
            "dist/uPlot.iife.min.js": "uPlot.iife.min.js",
            "dist/uPlot.min.css": "uPlot.min.css",
            "LICENSE": "uPlot.LICENSE.txt",
        },
    ),
    (
        "@fontsource-variable/inter",
        "5.3.0",
        "OFL-1.1",
        {"files/inter-latin-wght-normal.woff2": "inter.woff2", "LICENSE": "inter.LICENSE.txt"},
    ),
    (
        "@fontsource-variable/jetbrains-mono",
        "5.3.0",
        "OFL-1.1",
        {
            "files/jetbrains-mono-latin-wght-normal.woff2": "jetbrains-mono.woff2",
            "LICENSE": "jetbrains-mono.LICENSE.txt",
        },
    ),
    ("lucide-static", "1.62.0", "ISC", {"LICENSE": "lucide.LICENSE.txt"}),
)
ICONS: Final = (
    "activity",
    "arrow-left-right",
    "chevron-down",
    "chevron-left",
    "chevron-right",
    "circle-alert",
    "circle-check",
    "clock",
    "copy",
    "database",
    "download",
    "ellipsis",
    "external-link",
    "file-cog",
    "file-down",
    "inbox",
    "keyboard",
    "layout-dashboard",
    "list-checks",
    "lock",
    "log-out",
    "mail-x",
    "move-right",
    "notebook-text",
    "pause",
    "play",
    "plug",
    "plus",
    "rotate-ccw",
    "route",
    "scroll-text",
    "search",
    "send",
    "settings",
    "shield",
    "sun-moon",
    "trash-2",
    "triangle-alert",
    "undo-2",
    "unplug",
    "users",
    "x",
)
SHAPE: Final = re.compile(r"<(?:path|circle|line|rect|polyline|polygon|ellipse)\b[^>]*/>")


def _sprite(folder: Path) -> str:
    """One file with a symbol for each icon."""
    symbols = []
    for icon in ICONS:
        drawing = (folder / "icons" / f"{icon}.svg").read_text("utf-8")
        shapes = "".join(SHAPE.findall(drawing))
        symbols.append(
            f'<symbol id="{icon}" viewBox="0 0 24 24" fill="none" stroke="currentColor" '
            f'stroke-linecap="round" stroke-linejoin="round">{shapes}</symbol>'
        )
    return '<svg xmlns="http://www.w3.org/2000/svg">\n' + "\n".join(symbols) + "\n</svg>\n"


def _refresh() -> None:
    VENDOR.mkdir(parents=True, exist_ok=True)
    entries = []
    with tempfile.TemporaryDirectory() as name:
        for package, version, licence, files in PACKAGES:
            folder = _unpacked(Path(name), package, version)
            copies = {target: (folder / source).read_bytes() for source, target in files.items()}
            if package == "lucide-static":
                copies["icons.svg"] = _sprite(folder).encode()
            for target, data in copies.items():
                (VENDOR / target).write_bytes(data)
            entries.append(
                {
                    "package": package,
                    "version": version,
                    "licence": licence,
                    "sha256": {k: hashlib.sha256(v).hexdigest() for k, v in copies.items()},
                }
            )
    MANIFEST.write_text(json.dumps(entries, indent=1) + "\n", "utf-8")


def _unpacked(folder: Path, package: str, version: str) -> Path:
    """The folder of a package of npm."""
    packed = subprocess.run(
        ["npm", "pack", "--json", f"{package}@{version}"],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    name: str = json.loads(packed.stdout)[0]["filename"]
    archive = folder / name.replace("@", "").replace("/", "-")
    target = archive.with_suffix("")
    with tarfile.open(archive) as packed_files:
        packed_files.extractall(target, filter="data")
    return target / "package"


def stale() -> list[str]:
    """Files that are missing, unknown or differ from their digest."""
    wanted: dict[str, str] = {}
    for entry in json.loads(MANIFEST.read_text("utf-8")):
        wanted |= entry["sha256"]
    present = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in VENDOR.iterdir()
        if path != MANIFEST
    }
    return sorted(name for name, _ in wanted.items() ^ present.items())


def main() -> int:
    """Refresh the files, or check them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare files with their digests")
    if not parser.parse_args().check:
        _refresh()
        return 0
    different = stale()
    for name in different:
        print(f"{name} differs from its digest")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
