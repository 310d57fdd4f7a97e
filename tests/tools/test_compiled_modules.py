"""What mypyc asks of the modules that it compiles."""

import ast
from pathlib import Path

import pytest
from tools.compile import SOURCE, modules

PATHS = [SOURCE / "openmsmq" / f"{module}.py" for module in modules()]


def typing_only(tree: ast.Module) -> set[str]:
    """The names that a module imports for the type checker alone."""
    return {
        alias.asname or alias.name
        for block in tree.body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }


def field_types(tree: ast.Module) -> set[str]:
    """The classes that fields of named tuples have by themselves."""
    return {
        field.annotation.id
        for statement in tree.body
        if isinstance(statement, ast.ClassDef)
        and "NamedTuple" in [ast.unparse(base) for base in statement.bases]
        for field in statement.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.annotation, ast.Name)
    }


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_named_tuples_import_the_types_of_their_fields(path: Path) -> None:
    """The compiled module looks the classes up when it is loaded, and crashes without them."""
    tree = ast.parse(path.read_text())
    assert field_types(tree) & typing_only(tree) == set()
