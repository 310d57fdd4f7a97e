"""Where code can be changed, and into what."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPARISONS: Final[dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
# Calls whose arguments are for people, or for the type checker.
SAYING: Final = {"cast", "log_event", "note"}


@dataclass(frozen=True, slots=True)
class Site:
    """A node that can be changed.

    Args:
        function: the qualified name of the function around it.
        statement: the statement around it, as the place in `ast.walk` over the module.
        node: its own place there.
        line: the first line of the statement, where tests are looked up.
        end: the last line of what runs with it.
    """

    function: str
    statement: int
    node: int
    line: int
    end: int


def parent_fields(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield name, child


def find_sites(tree: ast.Module) -> list[Site]:
    """All sites of a module, in the order of the text."""
    finder = _Finder({id(node): place for place, node in enumerate(ast.walk(tree))})
    finder.outside(tree, "")
    return finder.sites


class _Finder:
    """Walks through the bodies of functions."""

    def __init__(self, places: dict[int, int]) -> None:
        self.places = places
        self.sites: list[Site] = []

    def outside(self, node: ast.AST, prefix: str) -> None:
        """Look for functions in a module or a class."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, FUNCTIONS):
                self.body(child, f"{prefix}{child.name}")
            elif isinstance(child, ast.ClassDef):
                self.outside(child, f"{prefix}{child.name}.")

    def body(self, function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> None:
        for number, statement in enumerate(function.body):
            is_document = isinstance(statement, ast.Expr) and isinstance(
                statement.value, ast.Constant
            )
            if not (number == 0 and is_document):
                self.statement(statement, name)

    def statement(self, statement: ast.stmt, function: str) -> None:
        if isinstance(statement, FUNCTIONS):
            self.body(statement, f"{function}.{statement.name}")
            return
        if isinstance(
            statement, ast.ClassDef | ast.Raise | ast.Assert | ast.Import | ast.ImportFrom
        ):
            # What is raised is mostly text; whether it is raised depends on the `if` around it.
            return
        if isinstance(statement, ast.Expr) and _is_dropable(statement.value):
            self.add(statement, statement, function)
        for name, child in parent_fields(statement):
            if isinstance(child, ast.stmt):
                self.statement(child, function)
            elif isinstance(child, ast.ExceptHandler | ast.match_case):
                for inner in child.body:
                    self.statement(inner, function)
            elif name != "annotation":
                self.expression(child, statement, function)

    def expression(self, node: ast.AST, statement: ast.stmt, function: str) -> None:
        if isinstance(node, ast.JoinedStr) or _is_saying(node):
            return
        if isinstance(node, ast.expr) and any(True for _ in variants(node)):
            self.add(node, statement, function)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr_context | ast.operator | ast.cmpop | ast.boolop):
                continue
            if isinstance(node, ast.Call) and _is_text(child):
                # The name of a field or an encoding, or something else to say.
                continue
            self.expression(child, statement, function)

    def add(self, node: ast.AST, statement: ast.stmt, function: str) -> None:
        first = getattr(statement, "body", None)
        end = statement.end_lineno or statement.lineno
        if isinstance(first, list) and first:
            # The head of a compound statement, up to its body.
            end = max(statement.lineno, first[0].lineno - 1)
        place = self.places[id(node)], self.places[id(statement)]
        self.sites.append(Site(function, place[1], place[0], statement.lineno, end))


def _is_dropable(node: ast.expr) -> bool:
    call = node.value if isinstance(node, ast.Await) else node
    return isinstance(call, ast.Call) and not _is_saying(call)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_saying(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    return name in SAYING


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """What a node may become, nearest first."""
    if isinstance(node, ast.Expr):
        yield ast.Pass()
    elif isinstance(node, ast.Compare):
        yield from _compared(node)
    elif isinstance(node, ast.BoolOp):
        other: ast.boolop = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield ast.BoolOp(other, node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        yield ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right)
    elif isinstance(node, ast.Constant):
        yield from _constants(node)
    elif isinstance(node, ast.Call):
        yield from _swapped(node)


def _compared(node: ast.Compare) -> Iterator[ast.AST]:
    for number, operator in enumerate(node.ops):
        for other in COMPARISONS[type(operator)]:
            operators = [*node.ops]
            operators[number] = other()
            yield ast.Compare(node.left, operators, node.comparators)


def _constants(node: ast.Constant) -> Iterator[ast.AST]:
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int | float):
        yield ast.Constant(value + 1)
        yield ast.Constant(value - 1)
    elif isinstance(value, str):
        yield ast.Constant(f"{value}X")
    elif isinstance(value, bytes):
        yield ast.Constant(value + b"X")


def _swapped(node: ast.Call) -> Iterator[ast.AST]:
    for number in range(len(node.args) - 1):
        pair = node.args[number : number + 2]
        if any(isinstance(part, ast.Starred) for part in pair):
            continue
        if ast.dump(pair[0]) == ast.dump(pair[1]):
            continue
        arguments = [*node.args]
        arguments[number : number + 2] = reversed(pair)
        yield ast.Call(node.func, arguments, node.keywords)


def changed(tree: ast.Module, site: Site, variant: int) -> ast.Module:
    """A copy of the module with one node replaced by one of its variants."""
    tree = copy.deepcopy(tree)
    nodes = list(ast.walk(tree))
    old = nodes[site.node]
    new = list(variants(old))[variant]
    for node in nodes:
        for name, value in ast.iter_fields(node):
            if value is old:
                setattr(node, name, new)
            elif isinstance(value, list):
                value[:] = [new if part is old else part for part in value]
    ast.copy_location(new, old)
    return ast.fix_missing_locations(tree)
