"""What a definition uses: names, methods, and modules that it imports."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from .index import FUNCTIONS, Definition, Function, Index, Meaning, Module
from .values import MaybeValue, Names, Values

# Decorators that leave it to others to call what they decorate.
PLAIN_DECORATORS: Final = {
    *("abstractmethod", "cache", "cached_property", "classmethod", "contextmanager", "dataclass"),
    *("asynccontextmanager", "final", "lru_cache", "overload", "override", "property", "setter"),
    *("staticmethod", "total_ordering", "unique", "wraps"),
}
# Statements of a module that run when it is imported and define nothing.
RUN_WHOLE: Final = (*(ast.Import, ast.ImportFrom, ast.Expr, ast.AugAssign, ast.Assert, ast.Delete),)


@dataclass(slots=True)
class Uses:
    """What some code uses.

    Args:
        definitions: what it certainly means.
        methods: names of methods of classes that nobody can tell.
        modules: what it imports.
    """

    definitions: set[Definition] = field(default_factory=set)
    methods: set[str] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)


def is_called_by_others(definition: Definition) -> bool:
    """Tell a function that a decorator hands to somebody: a command, a fixture, a validator."""
    names = {
        ast.unparse(expr).partition("(")[0].rpartition(".")[2] for expr in definition.decorators()
    }
    return bool(names - PLAIN_DECORATORS)


class References:
    """Answers for the definitions and modules of an index."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.values = Values(index)

    def of_definition(self, definition: Definition) -> Uses:
        """What a function uses when it runs, and a class or variable when it is made."""
        uses = Uses()
        for node in definition.nodes:
            names: Names = {}
            if isinstance(node, FUNCTIONS):
                names = self.values.names(definition, node)
            _Visitor(self, definition.module, names, uses).visit_whole(node)
        return uses

    def of_module(self, module: Module) -> Uses:
        """What a module uses when it is imported, beside what it defines."""
        uses = Uses()
        visitor = _Visitor(self, module.name, {}, uses)
        for statement in module.statements():
            if isinstance(statement, RUN_WHOLE):
                visitor.visit(statement)
            elif isinstance(statement, ast.If | ast.While):
                visitor.visit(statement.test)
            elif isinstance(statement, ast.For):
                visitor.visit(statement.iter)
            elif isinstance(statement, ast.With):
                for item in statement.items:
                    visitor.visit(item.context_expr)
        for definition in module.definitions.values():
            if is_called_by_others(definition) or _is_special(definition.name):
                uses.definitions.add(definition)
        return uses


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name != "__all__"


class _Visitor(ast.NodeVisitor):
    """Collects the uses of one piece of code."""

    def __init__(self, references: References, module: str, names: Names, uses: Uses) -> None:
        self.index = references.index
        self.values = references.values
        self.module = module
        self.names = names
        self.uses = uses

    def visit_whole(self, node: ast.stmt) -> None:
        if isinstance(node, ast.ClassDef):
            self._visit_class(node)
        else:
            self.visit(node)

    def _visit_class(self, node: ast.ClassDef) -> None:
        """Visit what runs when the class is made; its methods are definitions of their own."""
        for part in (*node.bases, *node.decorator_list, *(word.value for word in node.keywords)):
            self.visit(part)
        for statement in node.body:
            if isinstance(statement, FUNCTIONS):
                self._visit_signature(statement)
            else:
                self.visit(statement)

    def _visit_signature(self, node: Function) -> None:
        arguments = node.args
        defaults = [expr for expr in (*arguments.defaults, *arguments.kw_defaults) if expr]
        for expr in (*node.decorator_list, *defaults):
            self.visit(expr)
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            self._visit_annotation(argument.annotation)

    def _visit_annotation(self, node: ast.expr | None) -> None:
        """Visit the names of annotations, and whole those with a call: commands read these."""
        if node is None:
            return
        parts = list(ast.walk(node))
        if any(isinstance(part, ast.Call) for part in parts):
            self.visit(node)
            return
        for part in parts:
            if isinstance(part, ast.Name):
                meaning = self.index.resolve(self.module, part.id)
                if isinstance(meaning, Definition) and not meaning.is_class:
                    self.uses.definitions.add(meaning)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._visit_signature(node)
        self._visit_body(node.body)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._visit_signature(node)
        self._visit_body(node.body)

    def _visit_body(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            self.visit(statement)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._visit_annotation(node.annotation)
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)

    def visit_Import(self, node: ast.Import) -> None:
        self.uses.modules.update(alias.name for alias in node.names)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        imports = self.index.modules[self.module].imports
        for alias in node.names:
            source, name = imports[alias.asname or alias.name]
            self.uses.modules |= {source, f"{source}.{name}"}

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and node.id not in self.names:
            self._use(self.index.resolve(self.module, node.id))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if self.values.base_is_module(self.module, node, self.names):
            self._use(self.index.meaning(self.module, node))
            return
        self._use_member(self.values.expression(self.module, node.value, self.names), node.attr)
        self.visit(node.value)

    def _use(self, meaning: Meaning) -> None:
        if isinstance(meaning, Definition):
            self.uses.definitions.add(meaning)
        elif isinstance(meaning, Module):
            self.uses.modules.add(meaning.name)

    def _use_member(self, value: MaybeValue, name: str) -> None:
        if value is None:
            self.uses.methods.add(name)
            return
        methods, _ = self.values.attribute(value, name)
        self.uses.definitions |= methods
        # Somebody else's method may be meant: that of a subclass, or of what fits a protocol.
        for owner in value.classes:
            if self.index.is_protocol(owner) or self.index.subclasses.get(owner):
                self.uses.methods.add(name)
