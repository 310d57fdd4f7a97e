"""Which classes of ours an expression may be, by annotations and assignments.

A value is the set of classes that its annotation mentions: `dict[int, Queue]` and `Queue | None`
are both {Queue}, because what one takes out of the one is the other. None is what nobody knows.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from .index import EXTERNAL, FUNCTIONS, Definition, Function, Index, Meaning, Module


@dataclass(frozen=True, slots=True)
class Value:
    """Classes of ours; `is_open` is a container of ours or others that may hold anything."""

    classes: frozenset[Definition] = frozenset()
    is_open: bool = False


MaybeValue: TypeAlias = Value | None
Names: TypeAlias = dict[str, MaybeValue]
# An attribute of `self`, and the method, function and statement that assign it.
Assignment: TypeAlias = tuple[str, Definition, Function, ast.Assign | ast.AnnAssign]

FOREIGN: Final = Value()
OPEN: Final = Value(is_open=True)
# Names of `typing` that say nothing about what a value is.
UNKNOWN: Final = {"Any", "object", "TypeVar", "ParamSpec"}
CONTAINERS: Final = {
    *("bool", "bytes", "dict", "enumerate", "float", "frozenset", "int", "len", "list", "map"),
    *("memoryview", "range", "repr", "set", "sorted", "str", "tuple", "zip"),
}
GIVE_CONTENTS: Final = (
    "__iter__",
    "__next__",
    "__getitem__",
    "__enter__",
    "__aenter__",
    "__aiter__",
)
BINDING: Final = (
    *(ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.AugAssign, ast.For, ast.AsyncFor),
    *(ast.comprehension, ast.withitem, ast.ExceptHandler, ast.MatchAs, ast.MatchStar),
)
PASSES: Final = 3


def union(values: Iterable[MaybeValue]) -> MaybeValue:
    classes: set[Definition] = set()
    is_open = False
    for value in values:
        if value is None:
            return None
        classes |= value.classes
        is_open |= value.is_open
    return Value(frozenset(classes), is_open)


class Values:
    """Answers for all modules of an index, each once."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._names: dict[int, Names] = {}
        self._fields: dict[tuple[Definition, str], MaybeValue] = {}
        self._variables: dict[Definition, MaybeValue] = {}
        self._assignments: dict[Definition, list[Assignment]] = {}

    # Annotations

    def annotation(
        self, module: str, node: ast.expr | None, owner: Definition | None
    ) -> MaybeValue:
        """What an annotation mentions."""
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                return self.annotation(module, ast.parse(node.value, mode="eval").body, owner)
            return FOREIGN
        if isinstance(node, ast.Name | ast.Attribute):
            return self._named(module, node, owner)
        if isinstance(node, ast.Subscript):
            return self._parameters(module, node, owner)
        if isinstance(node, ast.BinOp):
            return union(self.annotation(module, side, owner) for side in (node.left, node.right))
        if isinstance(node, ast.List | ast.Tuple):
            return union(self.annotation(module, part, owner) for part in node.elts)
        return None

    def _named(
        self, module: str, node: ast.Name | ast.Attribute, owner: Definition | None
    ) -> MaybeValue:
        meaning = self.index.meaning(module, node)
        if meaning is EXTERNAL:
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name == "Self" and owner is not None:
                return Value(frozenset([owner]))
            return None if name in UNKNOWN else FOREIGN
        if not isinstance(meaning, Definition):
            return None
        if meaning.is_class:
            return Value(frozenset([meaning]))
        return self._alias(meaning)

    def _alias(self, variable: Definition) -> MaybeValue:
        """What the name of a type stands for."""
        if variable not in self._variables:
            self._variables[variable] = None
            node = variable.nodes[0]
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            self._variables[variable] = self.annotation(variable.module, value, None)
        return self._variables[variable]

    def _parameters(self, module: str, node: ast.Subscript, owner: Definition | None) -> MaybeValue:
        head = ast.unparse(node.value).rpartition(".")[2]
        if head == "Literal":
            return FOREIGN
        inner = node.slice
        if head == "Annotated" and isinstance(inner, ast.Tuple):
            return self.annotation(module, inner.elts[0], owner)
        outside = self.annotation(module, node.value, owner)
        inside = self.annotation(module, inner, owner)
        if head in ("Final", "ClassVar", "Optional", "Union", "type"):
            return inside
        return union([outside, OPEN if inside is None else inside])

    def returned(self, function: Definition) -> MaybeValue:
        """What a function returns, as it says."""
        values = []
        for node in function.functions():
            value = self.annotation(function.module, node.returns, function.owner)
            values.append(value)
        return union(values)

    # Members

    def attribute(self, value: MaybeValue, name: str) -> tuple[set[Definition], MaybeValue]:
        """The methods and properties that `value.name` may mean, and its own value.

        A class of the index that says nothing about `name` holds it as a container would.
        """
        if value is None:
            return set(), None
        methods: set[Definition] = set()
        results: list[MaybeValue] = [OPEN if value.is_open else FOREIGN]
        for owner in value.classes:
            method = self.index.member(owner, name)
            if method is not None:
                methods.add(method)
                results.append(self.returned(method))
            else:
                results.append(self.field(owner, name))
        result = union(results)
        return methods, None if result is not None and result.is_open else result

    def field(self, owner: Definition, name: str) -> MaybeValue:
        """What an attribute that is not a method holds."""
        key = owner, name
        if key not in self._fields:
            self._fields[key] = None
            self._fields[key] = self._field(owner, name)
        return self._fields[key]

    def _field(self, owner: Definition, name: str) -> MaybeValue:
        assigned = list(self._assigned(owner, name))
        if assigned:
            return union(assigned)
        for base in self.index.bases(owner):
            if isinstance(base, Definition):
                return self.field(base, name)
        return Value(frozenset([owner]))

    def _assigned(self, owner: Definition, name: str) -> Iterator[MaybeValue]:
        for node in owner.classes():
            for statement in node.body:
                if isinstance(statement, ast.AnnAssign) and _is_name(statement.target, name):
                    yield self.annotation(owner.module, statement.annotation, owner)
        if owner not in self._assignments:
            self._assignments[owner] = list(_own_assignments(owner))
        for attribute, method, function, statement in self._assignments[owner]:
            if attribute != name:
                continue
            if isinstance(statement, ast.AnnAssign) and not _is_bare(statement.annotation):
                yield self.annotation(method.module, statement.annotation, owner)
            elif statement.value is not None:
                names = self.names(method, function)
                yield self.expression(method.module, statement.value, names)

    def contents(self, value: MaybeValue) -> MaybeValue:
        """What one gets out of a value: by a loop, an index, unpacking or `with`."""
        if value is None:
            return None
        results: list[MaybeValue] = [value]
        for owner in value.classes:
            methods = [self.index.member(owner, name) for name in GIVE_CONTENTS]
            results += [self.returned(method) for method in methods if method is not None]
            for node in owner.classes():
                if any(_is_name(base, "NamedTuple") for base in node.bases):
                    results += self._annotated(owner, node)
        return union(results)

    def _annotated(self, owner: Definition, node: ast.ClassDef) -> list[MaybeValue]:
        return [
            self.annotation(owner.module, statement.annotation, owner)
            for statement in node.body
            if isinstance(statement, ast.AnnAssign)
        ]

    # Expressions

    def names(self, definition: Definition, function: Function) -> Names:
        """What the local names of a function may be."""
        if id(function) not in self._names:
            names: Names = {}
            self._names[id(function)] = names
            self._bind(definition.module, function, names, definition.owner)
        return self._names[id(function)]

    def _bind(
        self, module: str, function: Function | ast.Lambda, names: Names, owner: Definition | None
    ) -> None:
        arguments = function.args
        plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        for number, argument in enumerate([*plain, arguments.vararg, arguments.kwarg]):
            if argument is None:
                continue
            value = self.annotation(module, argument.annotation, owner)
            is_own = number == 0 and argument.annotation is None and owner is not None
            names[argument.arg] = Value(frozenset([owner])) if is_own and owner else value
        if isinstance(function, ast.Lambda):
            return
        nodes = [node for statement in function.body for node in ast.walk(statement)]
        for node in nodes:
            if isinstance(node, FUNCTIONS):
                names[node.name] = self.annotation(module, node.returns, owner)
                self._bind_arguments_of_inner(module, node, names)
            elif isinstance(node, ast.Lambda):
                self._bind(module, node, names, None)
        arguments_too = set(names)
        binding = [node for node in nodes if isinstance(node, BINDING)]
        for _ in range(PASSES):
            for node in binding:
                for target, value in self._bindings(module, node, names):
                    for name in _stored(target):
                        if name not in arguments_too:
                            names[name] = union([names.get(name, FOREIGN), value])

    def _bind_arguments_of_inner(self, module: str, node: Function, names: Names) -> None:
        arguments = node.args
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            value = self.annotation(module, argument.annotation, None)
            names[argument.arg] = union([names.get(argument.arg, FOREIGN), value])

    def _bindings(
        self, module: str, node: ast.AST, names: Names
    ) -> Iterator[tuple[ast.expr, MaybeValue]]:
        """The targets that a node assigns, with what."""
        if isinstance(node, ast.Assign):
            value = self.expression(module, node.value, names)
            for target in node.targets:
                yield target, value if isinstance(target, ast.Name) else self.contents(value)
        elif isinstance(node, ast.AnnAssign):
            yield node.target, self.annotation(module, node.annotation, None)
        elif isinstance(node, ast.NamedExpr | ast.AugAssign):
            yield node.target, self.expression(module, node.value, names)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            yield node.target, self.contents(self.expression(module, node.iter, names))
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            value = self.expression(module, node.context_expr, names)
            yield node.optional_vars, self.contents(value)
        elif isinstance(node, ast.ExceptHandler) and node.name and node.type is not None:
            target = ast.Name(node.name, ast.Store())
            yield target, self.expression(module, node.type, names)
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            yield ast.Name(node.name, ast.Store()), None

    def expression(self, module: str, node: ast.expr, names: Names) -> MaybeValue:
        """What an expression may be."""
        if isinstance(node, ast.Name):
            return (
                names[node.id]
                if node.id in names
                else self.meant(self.index.resolve(module, node.id))
            )
        if isinstance(node, ast.Attribute):
            if self.base_is_module(module, node, names):
                return self.meant(self.index.meaning(module, node))
            return self.attribute(self.expression(module, node.value, names), node.attr)[1]
        if isinstance(node, ast.Call):
            return self._call(module, node, names)
        if isinstance(node, ast.Lambda):
            return self.expression(module, node.body, names)
        if isinstance(node, ast.Yield):
            return None
        if isinstance(node, ast.Subscript):
            return self.contents(self.expression(module, node.value, names))
        if isinstance(node, ast.Constant | ast.JoinedStr | ast.Compare):
            return FOREIGN
        return union(self.expression(module, part, names) for part in _parts(node))

    def base_is_module(self, module: str, node: ast.Attribute, names: Names) -> bool:
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or root.id in names:
            return False
        base = self.index.meaning(module, node.value)
        return isinstance(base, Module) or base is EXTERNAL

    def meant(self, meaning: Meaning) -> MaybeValue:
        """The value of a definition; that of a function is what it returns."""
        if meaning is EXTERNAL:
            return FOREIGN
        if not isinstance(meaning, Definition):
            return None
        if meaning.is_class:
            return Value(frozenset([meaning]))
        if meaning.is_function:
            return self.returned(meaning)
        return self._variable(meaning)

    def _variable(self, variable: Definition) -> MaybeValue:
        node = variable.nodes[0]
        if isinstance(node, ast.AnnAssign) and not _is_bare(node.annotation):
            return self.annotation(variable.module, node.annotation, None)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            return self.expression(variable.module, node.value, {})
        return None

    def _call(self, module: str, node: ast.Call, names: Names) -> MaybeValue:
        if isinstance(node.func, ast.Name) and node.func.id not in names:
            if node.func.id == "cast":
                return self.annotation(module, node.args[0], None)
            if node.func.id == "super":
                return names.get("self", names.get("cls"))
        called = self.expression(module, node.func, names)
        if called != FOREIGN:
            return called
        # A function of others returns what it was given, or nothing of ours.
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        given = self.contents(
            union(self.expression(module, argument, names) for argument in arguments)
        )
        return OPEN if given is None and _makes_container(node.func) else given


def _makes_container(function: ast.expr) -> bool:
    """Tell a class of others: it may hold what nobody knows, and is not that itself."""
    name = ast.unparse(function).rpartition(".")[2]
    return name[:1].isupper() or name in CONTAINERS


def _is_bare(annotation: ast.expr) -> bool:
    """Tell an annotation that leaves it to the value to say what it is."""
    return isinstance(annotation, ast.Name) and annotation.id in ("Final", "TypeAlias")


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _own_assignments(owner: Definition) -> Iterator[Assignment]:
    for method in owner.members.values():
        for function in method.functions():
            for node in ast.walk(function):
                if not isinstance(node, ast.Assign | ast.AnnAssign):
                    continue
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    for part in target.elts if isinstance(target, ast.Tuple) else [target]:
                        if isinstance(part, ast.Attribute) and _is_name(part.value, "self"):
                            yield part.attr, method, function, node


def _stored(target: ast.expr) -> Iterator[str]:
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """The expressions below one whose value may be any of theirs."""
    if isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        yield node.elt
    elif isinstance(node, ast.DictComp):
        yield from (node.key, node.value)
    else:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield child
