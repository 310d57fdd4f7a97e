"""The modules of a program, what each defines at its top level, and what a name in it means."""

import ast
import builtins
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final, Self, TypeAlias

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


class External(Enum):
    """A name that belongs to Python or to another project."""

    NAME = "external"


EXTERNAL: Final = External.NAME


@dataclass(eq=False, slots=True)
class Definition:
    """A function, a class, a method or a variable of a module.

    Args:
        module: the name of its module.
        name: its name there; a method's begins with that of its class.
        nodes: where it is defined: twice for a property that can be set, or for an overload.
        owner: the class of a method.
    """

    module: str
    name: str
    nodes: list[ast.stmt] = field(repr=False)
    owner: "Definition | None" = field(default=None, repr=False)
    members: dict[str, "Definition"] = field(default_factory=dict, repr=False)

    @property
    def key(self) -> str:
        return f"{self.module}.{self.name}"

    @property
    def is_class(self) -> bool:
        return isinstance(self.nodes[0], ast.ClassDef)

    @property
    def is_function(self) -> bool:
        return isinstance(self.nodes[0], FUNCTIONS)

    def functions(self) -> Iterator[Function]:
        for node in self.nodes:
            if isinstance(node, FUNCTIONS):
                yield node

    def classes(self) -> Iterator[ast.ClassDef]:
        for node in self.nodes:
            if isinstance(node, ast.ClassDef):
                yield node

    def decorators(self) -> list[ast.expr]:
        return [
            expr for node in (*self.functions(), *self.classes()) for expr in node.decorator_list
        ]


@dataclass(eq=False, slots=True)
class Module:
    """A parsed file with its definitions and imports."""

    name: str
    path: Path
    tree: ast.Module = field(repr=False)
    definitions: dict[str, Definition] = field(default_factory=dict, repr=False)
    # Name here -> module and name there; without a name the module itself is meant.
    imports: dict[str, tuple[str, str]] = field(default_factory=dict, repr=False)

    @property
    def package(self) -> str:
        is_package = self.path.name == "__init__.py"
        return self.name if is_package else self.name.rpartition(".")[0]

    def statements(self) -> Iterator[ast.stmt]:
        """The statements that run when the module is imported, also those inside `if` and `try`."""
        return _flat(self.tree.body)


Meaning: TypeAlias = Definition | Module | External | None


def _flat(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        if not isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            for part in ("body", "orelse", "finalbody"):
                yield from _flat(getattr(statement, part, []))
            for handler in getattr(statement, "handlers", []):
                yield from _flat(handler.body)


def _targets(statement: ast.stmt) -> Iterator[str]:
    """The variables that a statement assigns."""
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    else:
        return
    for target in targets:
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


class Index:
    """All modules of some folders."""

    def __init__(self) -> None:
        self.modules: dict[str, Module] = {}
        self.methods: defaultdict[str, list[Definition]] = defaultdict(list)
        self.subclasses: defaultdict[Definition, list[Definition]] = defaultdict(list)

    @classmethod
    def read(cls, folders: Mapping[Path, str]) -> Self:
        """Read every module below each folder, whose name is the prefix of theirs."""
        index = cls()
        for folder, prefix in folders.items():
            for path in sorted(folder.rglob("*.py")):
                parts = [prefix] if prefix else []
                parts += path.relative_to(folder).with_suffix("").parts
                if parts[-1] == "__init__":
                    parts.pop()
                index.add(".".join(parts), path)
        for module in index.modules.values():
            for definition in module.definitions.values():
                for base in index.bases(definition):
                    if isinstance(base, Definition):
                        index.subclasses[base].append(definition)
        return index

    def add(self, name: str, path: Path) -> None:
        module = Module(name, path, ast.parse(path.read_text(encoding="utf-8")))
        self.modules[name] = module
        for statement in module.statements():
            if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
                self._define(module, statement.name, statement)
            for variable in _targets(statement):
                self._define(module, variable, statement)
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    whole = alias.name if alias.asname else alias.name.partition(".")[0]
                    module.imports[alias.asname or whole] = (whole, "")
            elif isinstance(node, ast.ImportFrom):
                source = self._source(module, node)
                for alias in node.names:
                    module.imports[alias.asname or alias.name] = (source, alias.name)

    def _define(self, module: Module, name: str, node: ast.stmt) -> None:
        definition = module.definitions.get(name)
        if definition is None:
            definition = module.definitions[name] = Definition(module.name, name, [])
        definition.nodes.append(node)
        for child in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(child, FUNCTIONS):
                member = definition.members.get(child.name)
                if member is None:
                    qualified = f"{name}.{child.name}"
                    member = Definition(module.name, qualified, [], definition)
                    definition.members[child.name] = member
                    self.methods[child.name].append(member)
                member.nodes.append(child)

    @staticmethod
    def _source(module: Module, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = module.package.split(".")
        parts = parts[: len(parts) - node.level + 1]
        return ".".join([*parts, node.module] if node.module else parts)

    def definitions(self) -> Iterator[Definition]:
        """Every definition, a class before its methods."""
        for module in self.modules.values():
            for definition in module.definitions.values():
                yield definition
                yield from definition.members.values()

    def resolve(self, module: str, name: str, *, depth: int = 10) -> Meaning:
        """Tell what a name means at the top level of a module; None if it means nothing there."""
        here = self.modules[module]
        if name in here.definitions:
            return here.definitions[name]
        if name in here.imports and depth:
            source, there = here.imports[name]
            if source not in self.modules:
                # A namespace package has no module of its own.
                return self.modules.get(f"{source}.{there}", EXTERNAL)
            if not there:
                return self.modules[source]
            found = self.resolve(source, there, depth=depth - 1)
            return found or self.modules.get(f"{source}.{there}")
        submodule = self.modules.get(f"{module}.{name}")
        if submodule is None and hasattr(builtins, name):
            return EXTERNAL
        return submodule

    def meaning(self, module: str, node: ast.expr) -> Meaning:
        """Tell what a name or a dotted name means."""
        if isinstance(node, ast.Name):
            return self.resolve(module, node.id)
        if isinstance(node, ast.Attribute):
            base = self.meaning(module, node.value)
            if isinstance(base, Module):
                return self.resolve(base.name, node.attr)
            return base if base is EXTERNAL else None
        return None

    def bases(self, definition: Definition) -> list[Meaning]:
        """What a class derives from."""
        nodes = [base for node in definition.classes() for base in node.bases]
        plain = [node.value if isinstance(node, ast.Subscript) else node for node in nodes]
        return [self.meaning(definition.module, node) for node in plain]

    def member(self, definition: Definition, name: str) -> Definition | None:
        """The method of a class or of what it derives from."""
        if name in definition.members:
            return definition.members[name]
        for base in self.bases(definition):
            if isinstance(base, Definition) and (found := self.member(base, name)):
                return found
        return None

    def is_protocol(self, definition: Definition) -> bool:
        """Tell a class that only says which methods others have."""
        return self._derives_from(definition, "Protocol")

    def is_type_only(self, definition: Definition) -> bool:
        """Tell a class that is there for the type checker."""
        return self.is_protocol(definition) or self._derives_from(definition, "TypedDict")

    def _derives_from(self, definition: Definition, name: str) -> bool:
        """Tell whether a class names this one of `typing` among its bases."""
        imports = self.modules[definition.module].imports
        plain = [
            base.value if isinstance(base, ast.Subscript) else base
            for node in definition.classes()
            for base in node.bases
        ]
        return any(
            isinstance(base, ast.Name) and imports.get(base.id) == ("typing", name)
            for base in plain
        )
