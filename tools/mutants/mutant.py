"""A change of the code, named so that the name outlives changes around it."""

import ast
import hashlib
import marshal
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from tools.catalogue import ROOT

from .sites import Site, changed, find_sites, variants

SOURCES: Final = ROOT / "src" / "openmsmq"
# Above it the changed expression is shown without its statement.
LONGEST: Final = 120
PACKAGES: Final = ("wire", "core", "protocol", "store", "security")
# Where mutants can be drawn from: what tests reach there is recorded, too.
RECORDED: Final = (*PACKAGES, "directory", "engine", "net", "service", "client")


class Identity(NamedTuple):
    """What a mutant is, wherever its line moves.

    Args:
        path: the file, below src/openmsmq.
        function: the qualified name of the function.
        before: the statement or its head.
        after: the same, changed.
        occurrence: which of the equal ones of the function, from 1.
    """

    path: str
    function: str
    before: str
    after: str
    occurrence: int

    def __str__(self) -> str:
        number = f" (number {self.occurrence})" if self.occurrence > 1 else ""
        return f"{self.path} {self.function}{number}: {self.before}  ->  {self.after}"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A site with one of its variants."""

    identity: Identity
    site: Site
    variant: int

    @property
    def path(self) -> Path:
        return SOURCES / self.identity.path

    @property
    def module(self) -> str:
        parts = ["openmsmq", *Path(self.identity.path).with_suffix("").parts]
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def code(self) -> bytes:
        """The changed module, compiled."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        return marshal.dumps(
            compile(changed(tree, self.site, self.variant), str(self.path), "exec")
        )


def source_files(paths: Iterable[str]) -> list[Path]:
    """The modules below some folders or files of src/openmsmq."""
    files = []
    for name in paths:
        path = SOURCES / name
        found = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        if not found or not all(each.is_file() for each in found):
            raise SystemExit(f"mutants: {path.relative_to(ROOT)} does not exist")
        files += found
    return files


def draw(files: Iterable[Path], number: int, seed: int) -> list[Mutant]:
    """Draw mutants: each site is as likely as any other, and each of its variants.

    A site is drawn by its name and not by its place, so that a change of the code changes the
    sample only there.
    """
    lots = [
        (_lot(seed, first.identity), first, module)
        for module in map(_Module, files)
        for first in module.first_variants()
    ]
    lots.sort(key=lambda lot: lot[0])
    return [module.chosen(first.site, lot) for lot, first, module in lots[:number]]


def identities(path: Path) -> set[Identity]:
    """All mutants that a module has."""
    module = _Module(path)
    return {
        module.mutant(site, variant).identity
        for site in module.sites
        for variant in range(len(list(variants(module.nodes[site.node]))))
    }


def _lot(seed: int, identity: Identity) -> int:
    """A random number that belongs to a seed and a mutant."""
    text = f"{seed}\0{identity}".encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8])


class _Module:
    """A parsed module, to name the mutants in it."""

    def __init__(self, path: Path) -> None:
        self.name = path.relative_to(SOURCES).as_posix()
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.nodes = list(ast.walk(self.tree))
        # Equal changes in one function are told apart by their order in it.
        self.numbers: dict[tuple[int, int], int] = {}
        self.texts: dict[tuple[int, int], tuple[str, str]] = {}
        counts: Counter[tuple[str, str, str]] = Counter()
        self.sites = find_sites(self.tree)
        for site in self.sites:
            for variant in range(len(list(variants(self.nodes[site.node])))):
                before, after = self._change(site, variant)
                counts[site.function, before, after] += 1
                self.texts[site.node, variant] = before, after
                self.numbers[site.node, variant] = counts[site.function, before, after]

    def _change(self, site: Site, variant: int) -> tuple[str, str]:
        """The text of the statement before and after."""
        old = self.nodes[site.node]
        new = list(variants(old))[variant]
        head = _head(self.nodes[site.statement], old)
        before = _one_line(ast.unparse(head))
        if len(before) > LONGEST:
            head, before = old, _one_line(ast.unparse(old))
        return before, _one_line(_unparse_with(head, old, new))

    def first_variants(self) -> list[Mutant]:
        return [self.mutant(site, 0) for site in self.sites]

    def chosen(self, site: Site, lot: int) -> Mutant:
        """The variant of a site that a lot picks."""
        return self.mutant(site, lot % len(list(variants(self.nodes[site.node]))))

    def mutant(self, site: Site, variant: int) -> Mutant:
        before, after = self.texts[site.node, variant]
        number = self.numbers[site.node, variant]
        return Mutant(Identity(self.name, site.function, before, after, number), site, variant)


def _head(statement: ast.AST, node: ast.AST) -> ast.AST:
    """The part of a statement to show: of a compound one the expression with the node in it."""
    if not isinstance(getattr(statement, "body", None), list):
        return statement
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.expr | ast.withitem) and any(
            part is node for part in ast.walk(child)
        ):
            return child
    return statement


class _Replacer(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old = old
        self.new = new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else super().generic_visit(node)


def _unparse_with(head: ast.AST, old: ast.AST, new: ast.AST) -> str:
    """The text of `head` with `new` in the place of `old`; the tree stays as it was."""
    if head is old:
        return ast.unparse(new)
    _Replacer(old, new).visit(head)
    try:
        return ast.unparse(head)
    finally:
        _Replacer(new, old).visit(head)


def _one_line(text: str) -> str:
    return " ".join(text.split())
