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


def imported(tree: ast.Module) -> dict[str, str]:
    """The names that a module imports from others of the package, with the names of their modules.

    Modules are found by their last name, which is enough for the question.
    """
    return {
        alias.asname or alias.name: (statement.module or "").rpartition(".")[2]
        for statement in ast.walk(tree)
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }


def base_names(statement: ast.ClassDef) -> list[str]:
    """The names of the classes that a class inherits from, generic ones without their types."""
    bases = [base.value if isinstance(base, ast.Subscript) else base for base in statement.bases]
    return [base.id for base in bases if isinstance(base, ast.Name)]


def test_classes_that_inherit_from_compiled_ones_are_compiled() -> None:
    """An instance of an interpreted class that inherits from a compiled one cannot be made."""
    # Exceptions can be: mypyc leaves them as Python has them.
    plain = {
        (path.stem, statement.name)
        for path in PATHS
        for statement in ast.parse(path.read_text()).body
        if isinstance(statement, ast.ClassDef) and set(base_names(statement)) <= {"Generic"}
    }
    others = set((SOURCE / "openmsmq").rglob("*.py")) - set(PATHS)
    wrong = [
        f"{path.name}: {statement.name}({base})"
        for path in others
        for tree in [ast.parse(path.read_text())]
        for names in [imported(tree)]
        for statement in tree.body
        if isinstance(statement, ast.ClassDef)
        for base in base_names(statement)
        if (names.get(base), base) in plain
    ]
    assert wrong == []


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_name_of_exceptions_stands_for_one_class_in_a_function(path: Path) -> None:
    """In a compiled function a name has the type of its first `except`, and others do not fit."""
    wrong = [
        f"{function.name}: {name}"
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, ast.FunctionDef)
        for handlers in [
            [part for part in ast.walk(function) if isinstance(part, ast.ExceptHandler)]
        ]
        for name in {handler.name for handler in handlers if handler.name}
        if len({ast.dump(each.type) for each in handlers if each.name == name and each.type}) > 1
    ]
    assert wrong == []


# An attribute has one more underscore in C; with these names it is a word of the compiler.
RESERVED = {f"_{word}" for word in ("asm", "const", "inline", "signed", "thread", "typeof")}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_attributes_are_no_words_of_the_c_compiler(path: Path) -> None:
    attributes = {
        node.attr
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
    }
    assert attributes & RESERVED == set()


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_tuples_to_look_in_have_no_stars(path: Path) -> None:
    """Mypyc fails at `x in (a, *b)`."""
    wrong = [
        ast.unparse(node)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Compare)
        for side in node.comparators
        if isinstance(side, ast.Tuple) and any(isinstance(part, ast.Starred) for part in side.elts)
    ]
    assert wrong == []
