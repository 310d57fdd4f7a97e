"""Templates, and static files of pages."""

from collections.abc import Callable, Hashable, Iterator
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.meta import find_referenced_templates
from jinja2.runtime import Context
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from openmsmq.admin.trust.problems import Problem

from . import text

_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
    ".json": "application/json",
}
# The number of cached rows of lists: those of two long pages.
REMEMBERED: Final = 1_000


@cache
def templates() -> Environment:
    """The templates of the package; all values are escaped."""
    environment = Environment(
        loader=PackageLoader("openmsmq.admin"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters.update(text.FILTERS)
    environment.globals.update(icon=icon, spark=text.spark)
    # Macros for all templates, even where only one block is rendered.
    environment.globals["parts"] = environment.get_template("parts.html").module
    environment.globals["remembered"] = remembered
    return environment


@lru_cache(maxsize=REMEMBERED)
def remembered(macro: str, *values: Hashable) -> str:
    """The result of a macro of parts.html; most rows are unchanged since a second ago."""
    made: str = getattr(templates().globals["parts"], macro)(*values)
    return made


@cache
def static_files() -> dict[str, tuple[bytes, str]]:
    """All static files: bytes and type by path below `/static`."""
    found: dict[str, tuple[bytes, str]] = {}
    root = files("openmsmq.admin") / "static"
    for folder, prefix in ((root, ""), (root / "vendor", "vendor/")):
        for file in folder.iterdir():
            kind = _TYPES.get("." + file.name.rpartition(".")[2])
            if kind is not None and file.is_file():
                found[prefix + file.name] = (file.read_bytes(), kind)
    return found


def icon(name: str, kind: str = "i") -> Markup:
    """An icon of the sprite."""
    return Markup(
        '<svg class="{}" aria-hidden="true"><use href="/static/vendor/icons.svg#{}"/></svg>'
    ).format(kind, name)


def render(template: str, values: dict[str, Any], *, block: str | None = None) -> str:
    """A page, or one block of it."""
    found = templates().get_template(template)
    if block is None:
        return found.render(values)
    context = found.new_context(values)
    return "".join(_block_of(template, block)(context))


@cache
def _block_of(template: str, block: str) -> Callable[[Context], Iterator[str]]:
    """The renderer of a block: of the template, or of the one that it extends."""
    environment = templates()
    found = environment.get_template(template)
    if block in found.blocks:
        return found.blocks[block]
    source = (files("openmsmq.admin") / "templates" / template).read_text("utf-8")
    parent = next(find_referenced_templates(environment.parse(source)), None)
    if parent is None:
        raise KeyError(block)
    return _block_of(parent, block)


def page(
    request: Request, template: str, values: dict[str, Any], status: int = 200
) -> HTMLResponse:
    """The answer with a page."""
    return HTMLResponse(
        render(template, {"nonce": request.state.nonce, **values}), status_code=status
    )


async def static(request: Request, values: dict[str, str]) -> Response:
    """A static file."""
    del request
    name = "/".join(values[key] for key in ("folder", "name") if key in values)
    if name not in static_files():
        raise Problem(404, "There is no such file.")
    data, kind = static_files()[name]
    return Response(data, media_type=kind)
