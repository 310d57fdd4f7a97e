"""Which tests use definitions that nothing but tests can reach."""

import ast
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from .index import Definition, Function, Index
from .known import WINDOW, read_known
from .references import References, Uses
from .walk import read_product

SOURCES: Final = "src"
TESTS: Final = "tests"
CONFTEST: Final = "conftest"


def unreached_by_test(root: Path) -> dict[str, list[str]]:
    """The tests of a checkout that use unreached definitions, with the names of those.

    Tests are named as pytest names them, without the case of a parametrised one. Definitions that
    are known as windows on what is reached do not count.
    """
    if not (root / SOURCES).is_dir():
        return {}
    index = Index.read({root / SOURCES: "", root / TESTS: TESTS})
    windows = {known.definition for known in read_known() if known.kind == WINDOW}
    unreached = [
        definition
        for definition in read_product(index).unreached()
        if not definition.module.startswith(f"{TESTS}.") and definition.key not in windows
    ]
    tests = {}
    for test, used in users_of_unreached(index, unreached).items():
        path = index.modules[test.module].path.relative_to(root).as_posix()
        tests[f"{path}::{test.name.replace('.', '::')}"] = [each.key for each in used]
    return tests


def users_of_unreached(
    index: Index, unreached: Collection[Definition]
) -> dict[Definition, list[Definition]]:
    """For each test function that uses unreached definitions, those.

    A test uses what it names itself, and what its helpers and fixtures in the tests name.
    """
    tests = _Tests(index, set(unreached))
    used = {}
    for definition in index.definitions():
        name = definition.name.rpartition(".")[2]
        if definition.module.startswith(f"{TESTS}.") and name.startswith("test_"):
            found = tests.unreached_used_by(definition)
            if found:
                used[definition] = found
    return used


class _Tests:
    def __init__(self, index: Index, unreached: set[Definition]) -> None:
        self.index = index
        self.references = References(index)
        self.unreached = unreached
        self._uses: dict[Definition, Uses] = {}

    def unreached_used_by(self, test: Definition) -> list[Definition]:
        found: set[Definition] = set()
        seen = {test}
        waiting = [test]
        while waiting:
            definition = waiting.pop()
            for used in (*self._used_by(definition), *self._fixtures(definition)):
                if used in self.unreached or used.owner in self.unreached:
                    found.add(used)
                elif used not in seen and used.module.startswith(f"{TESTS}."):
                    seen.add(used)
                    waiting.append(used)
        return sorted(found, key=lambda definition: definition.key)

    def _used_by(self, definition: Definition) -> Iterator[Definition]:
        if definition not in self._uses:
            self._uses[definition] = self.references.of_definition(definition)
        uses = self._uses[definition]
        yield from uses.definitions
        for name in uses.methods:
            methods = self.index.methods[name]
            # Where nobody can tell which method is meant, it must be unreached whichever it is.
            if methods and all(method in self.unreached for method in methods):
                yield from methods
        if definition.is_class:
            for name, method in definition.members.items():
                if name.startswith("__"):
                    yield method

    def _fixtures(self, definition: Definition) -> Iterator[Definition]:
        """The fixtures that a test or a fixture names as its arguments."""
        for node in definition.functions():
            for name in _arguments(node):
                if (found := self._fixture(definition.module, name)) is not None:
                    yield found

    def _fixture(self, module: str, name: str) -> Definition | None:
        package = module
        places = [module]
        while package:
            package = package.rpartition(".")[0]
            places.append(f"{package}.{CONFTEST}")
        for place in places:
            if place in self.index.modules:
                meaning = self.index.resolve(place, name)
                if isinstance(meaning, Definition) and meaning.is_function:
                    return meaning
        return None


def _arguments(node: Function) -> list[str]:
    arguments = node.args
    names = [argument.arg for argument in (*arguments.args, *arguments.kwonlyargs)]
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("usefixtures"):
            names += [str(word.value) for word in decorator.args if isinstance(word, ast.Constant)]
    return names
