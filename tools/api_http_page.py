"""Write the reference of the HTTP API into docs/api-http.md, from the table of endpoints.

`python -m tools.api_http_page` writes it, with `--check` it says whether it is stale.
"""

import argparse
import sys
from typing import Final

import msgspec

from openmsmq.admin.api.table import ENDPOINTS, PREFIX, Endpoint
from tools.catalogue import ROOT

PAGE: Final = ROOT / "docs" / "api-http.md"
START: Final = "<!-- reference -->\n"
END: Final = "<!-- end of reference -->\n"


def reference() -> str:
    """The reference: a table for each group, then the fields of requests."""
    parts = []
    groups: dict[str, list[Endpoint]] = {}
    for endpoint in ENDPOINTS:
        groups.setdefault(endpoint.group, []).append(endpoint)
    for group, endpoints in groups.items():
        rows = [
            f"| `{each.method} {PREFIX}{each.path}` | {each.role.word} "
            f"| {each.words} {_takes(each)}|"
            for each in endpoints
        ]
        parts.append(
            f"### {group}\n\n| endpoint | role | what it does |\n|---|---|---|\n"
            + "\n".join(rows)
            + "\n"
        )
    return "\n".join(parts)


def _takes(endpoint: Endpoint) -> str:
    """The parameters or fields of a request, those that are needed in bold."""
    kind = endpoint.body or endpoint.query
    if endpoint.body is bytes:
        kind = endpoint.query
    if kind is None:
        return "Query: as every list. " if endpoint.arranged else ""
    names = [
        f"**`{field.encode_name}`**" if field.required else f"`{field.encode_name}`"
        for field in msgspec.structs.fields(kind)
    ]
    word = "Body" if kind is endpoint.body else "Query"
    file = " Body: the file." if endpoint.body is bytes else ""
    return f"{word}: {', '.join(names)}.{file} "


def page_with(reference_text: str) -> str:
    """The page with this reference."""
    before, _, rest = PAGE.read_text("utf-8").partition(START)
    _, _, after = rest.partition(END)
    return before + START + reference_text + END + after


def main() -> int:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether it is stale")
    wanted = page_with(reference())
    if not parser.parse_args().check:
        PAGE.write_text(wanted, "utf-8")
        return 0
    if PAGE.read_text("utf-8") == wanted:
        return 0
    print("docs/api-http.md is stale: run `python -m tools.api_http_page`")
    return 1


if __name__ == "__main__":
    sys.exit(main())
