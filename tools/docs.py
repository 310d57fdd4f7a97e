"""`make docs`: write the generated pages, then all pages as a site in build/site.

The builder of the site lives in a virtual environment of its own below build/, so that it never
mixes with what openmsmq runs on. The order of the pages is that of docs/README.md.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tools import api_page, codes_page
from tools.catalogue import ROOT

DOCS: Final = ROOT / "docs"
BUILD: Final = ROOT / "build"
SITE: Final = BUILD / "site"
# The builder reads pages below its settings only.
PAGES: Final = BUILD / "pages"
ENVIRONMENT: Final = BUILD / "docs-env"
BESIDE: Final = ("CHANGELOG.md", "CONTRIBUTING.md")
REQUIREMENTS: Final = ROOT / "requirements" / "docs.txt"
ROW: Final = re.compile(r"^\| \[([^\]]+)\]\(([^)#]+\.md)\)", re.MULTILINE)
# Pages whose text is kept equal to the code.
GENERATED: Final = ((api_page.PAGE, api_page.page), (codes_page.PAGE, codes_page.page))


def navigation(index: str) -> Iterator[dict[str, str]]:
    """The pages in the order of the table in docs/README.md."""
    yield {"Home": "README.md"}
    for title, page in ROW.findall(index):
        yield {title: page}


def configuration() -> dict[str, Any]:
    """What the builder is told. Nothing of the site is loaded from elsewhere."""
    return {
        "site_name": "openmsmq",
        "docs_dir": PAGES.name,
        "site_dir": SITE.name,
        "nav": list(navigation((DOCS / "README.md").read_text(encoding="utf-8"))),
        "theme": {
            "name": "material",
            "font": False,
            "features": ["navigation.footer", "search.highlight", "content.code.copy"],
        },
        "markdown_extensions": ["admonition", "tables", "toc", "pymdownx.superfences"],
        "plugins": ["search"],
    }


def gather_pages() -> None:
    """Copy the pages, and those beside docs/ that the first one links to."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(DOCS, PAGES, ignore=shutil.ignore_patterns("*.tsv"))
    index = (PAGES / "README.md").read_text(encoding="utf-8")
    for name in BESIDE:
        text = (ROOT / name).read_text(encoding="utf-8")
        (PAGES / name).write_text(text.replace("](docs/", "]("), encoding="utf-8")
        index = index.replace(f"](../{name})", f"]({name})")
    (PAGES / "README.md").write_text(index, encoding="utf-8")


def builder() -> Path:
    """The builder of the locked versions, installed when it is missing or out of date."""
    stamp = ENVIRONMENT / "requirements.txt"
    wanted = REQUIREMENTS.read_text(encoding="utf-8")
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        uv = str(Path(sys.executable).with_name("uv"))
        subprocess.run((uv, "venv", "--quiet", "--clear", str(ENVIRONMENT)), check=True)
        python = str(ENVIRONMENT / "bin" / "python")
        install = (uv, "pip", "install", "--quiet", "--python", python)
        subprocess.run((*install, "-r", str(REQUIREMENTS)), check=True)
        stamp.write_text(wanted, encoding="utf-8")
    return ENVIRONMENT / "bin" / "zensical"


def main() -> int:
    for file, page in GENERATED:
        file.write_text(page(), encoding="utf-8")
    gather_pages()
    # JSON is YAML, too.
    settings = BUILD / "mkdocs.yml"
    settings.write_text(json.dumps(configuration(), indent=1), encoding="utf-8")
    command = (str(builder()), "build", "--strict", "--config-file", str(settings))
    code = subprocess.run(command, check=False).returncode
    if code == 0:
        print(f"{(SITE / 'index.html').relative_to(ROOT)}: open it in a browser")
    return code


if __name__ == "__main__":
    sys.exit(main())
