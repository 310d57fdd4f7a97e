"""From the entry points to everything that they can reach."""

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from tools.catalogue import ROOT

from .index import EXTERNAL, Definition, Index, Module
from .references import References, Uses, is_called_by_others

SOURCES: Final = ROOT / "src"
# Their `__all__` is the Python API.
API: Final = ("openmsmq", "openmsmq.aio", "openmsmq.client", "openmsmq.spark", "pyspark_msmq")
LAZY_API: Final = ("openmsmq.server.embedded.embedded",)
PYTEST_PLUGIN: Final = "openmsmq.testing"
COMMANDS: Final = "openmsmq.cli"
DOCUMENTED: Final = re.compile(r"^(?:>>> )?from (openmsmq[\w.]*) import ([\w, ]+)$", re.MULTILINE)
# Classes of others that have methods which nobody overrides for them to be called.
PASSIVE_BASES: Final = {
    *("ABC", "Enum", "Exception", "Flag", "Generic", "IntEnum", "IntFlag", "NamedTuple"),
    *("Protocol", "StrEnum", "TypedDict", "bytes", "int", "object", "str", "tuple"),
}


def documents() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


class Walk:
    """What can be reached; `reach` it, then ask."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.references = References(index)
        self.reached: set[Definition] = set()
        self._api: set[Definition] = set()
        self._modules: set[str] = set()
        self._methods: set[str] = set()
        self._waiting: list[Definition | Module] = []

    def reach(self, definition: Definition) -> None:
        """Count a definition as reached, with everything that it uses."""
        if definition not in self.reached:
            self.reached.add(definition)
            self._waiting.append(definition)

    def publish(self, definition: Definition) -> None:
        """Reach a definition that people use, of a class all public methods."""
        if definition in self._api:
            return
        self._api.add(definition)
        self.reach(definition)
        returned = self.references.values.returned(definition) if definition.is_function else None
        for made in returned.classes if returned is not None else ():
            self.publish(made)

    def run(self) -> None:
        """Follow what waits to its end."""
        while self._waiting:
            item = self._waiting.pop()
            if isinstance(item, Module):
                self._follow(self.references.of_module(item))
                continue
            self._import(item.module)
            if item.owner is not None:
                self.reach(item.owner)
            self._follow(self.references.of_definition(item))
            for method in self._methods_of(item):
                self.reach(method)

    def _import(self, name: str) -> None:
        while name:
            module = self.index.modules.get(name)
            if module is not None and name not in self._modules:
                self._modules.add(name)
                self._waiting.append(module)
            name = name.rpartition(".")[0]

    def _follow(self, uses: Uses) -> None:
        for module in uses.modules:
            self._import(module)
        for definition in uses.definitions:
            self.reach(definition)
        for name in uses.methods - self._methods:
            self._methods.add(name)
            for method in self.index.methods[name]:
                if method.owner in self.reached:
                    self.reach(method)

    def _methods_of(self, definition: Definition) -> Iterator[Definition]:
        """The methods that are reached with their class."""
        public = definition in self._api or self._is_called_by_base(definition)
        for name, method in definition.members.items():
            if (
                (name.startswith("__") and name.endswith("__"))
                or name in self._methods
                or (public and not name.startswith("_"))
                or is_called_by_others(method)
            ):
                yield method

    def _is_called_by_base(self, definition: Definition) -> bool:
        """Tell whether a class of others may call the methods of this one."""
        nodes = [base for node in definition.classes() for base in node.bases]
        for node, base in zip(nodes, self.index.bases(definition), strict=True):
            if isinstance(base, Definition):
                if self._is_called_by_base(base):
                    return True
            elif base is EXTERNAL:
                name = ast.unparse(node).partition("[")[0].rpartition(".")[2]
                if isinstance(node, ast.Attribute) or name not in PASSIVE_BASES:
                    return True
        return False

    def unreached(self) -> list[Definition]:
        """Functions, classes and methods that were not reached, in the order of the sources.

        The methods of a class that was not reached are not listed beside it, and what only says
        what others are (protocols, typed dictionaries) is not listed at all.
        """
        return [
            definition
            for definition in self.index.definitions()
            if definition not in self.reached
            and (definition.is_class or definition.is_function)
            and not self.index.is_type_only(definition.owner or definition)
            and (definition.owner is None or definition.owner in self.reached)
        ]


def _names_in_all(module: Module) -> list[str]:
    definition = module.definitions.get("__all__")
    node = definition.nodes[0] if definition else None
    return ast.literal_eval(node.value) if isinstance(node, ast.Assign) else []


def entry_points(index: Index) -> Iterator[tuple[str, str]]:
    """Module and name of everything that somebody outside calls."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for script in project["scripts"].values():
        module, _, name = script.partition(":")
        yield module, name
    for name in API:
        for member in _names_in_all(index.modules[name]):
            yield name, member
    for path in LAZY_API:
        module, _, name = path.rpartition(".")
        yield module, name
    for name in index.modules[PYTEST_PLUGIN].definitions:
        yield PYTEST_PLUGIN, name
    yield from commands(index)
    yield from documented(documents())


def commands(index: Index) -> Iterator[tuple[str, str]]:
    """Commands are loaded by the names of their modules."""
    for name, module in index.modules.items():
        if name.startswith(f"{COMMANDS}."):
            if "register" in module.definitions:
                yield name, "register"
            pipeline = name.partition(".pipeline_")[2]
            if pipeline in module.definitions:
                yield name, pipeline


def documented(paths: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """What the examples of documents import."""
    for path in paths:
        for module, names in DOCUMENTED.findall(path.read_text(encoding="utf-8")):
            for name in names.split(","):
                yield module, name.strip()


def read_product(index: Index) -> Walk:
    """Walk from the entry points of openmsmq."""
    walk = Walk(index)
    for module, name in entry_points(index):
        meaning = index.resolve(module, name)
        if isinstance(meaning, Definition):
            walk.publish(meaning)
        elif meaning is None:
            raise LookupError(f"the entry point {module}.{name} does not exist")
    walk.run()
    return walk
