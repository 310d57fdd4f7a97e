"""What can be reached from an entry point, in small programs and in our own."""

from pathlib import Path
from textwrap import dedent

import pytest
from tools.catalogue import ROOT
from tools.reachability.index import Definition, Index
from tools.reachability.known import PACKAGES, read_known
from tools.reachability.spec_tests import unreached_by_test, users_of_unreached
from tools.reachability.walk import Walk, documented, read_product


def read(folder: Path, **modules: str) -> Index:
    """Write the modules of a program into a folder and read it; `__` is the dot of a package."""
    for name, text in modules.items():
        path = folder.joinpath(*name.split("__")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return Index.read({folder: ""})


def walk_from(index: Index, *names: str) -> Walk:
    walk = Walk(index)
    for name in names:
        definition = index.resolve("main", name)
        assert isinstance(definition, Definition)
        walk.reach(definition)
    walk.run()
    return walk


def unreached(folder: Path, **modules: str) -> list[str]:
    """What `main.main` of a program does not reach."""
    walk = walk_from(read(folder, **modules), "main")
    return [definition.key for definition in walk.unreached()]


def test_what_nobody_calls_is_unreached_with_what_only_it_calls(tmp_path: Path) -> None:
    main = """
        from other import called, forgotten

        def main():
            called()

        def left_over():
            forgotten()
    """
    other = """
        def called(): ...
        def forgotten(): _only_here()
        def _only_here(): ...
    """
    assert unreached(tmp_path, main=main, other=other) == [
        "main.left_over",
        "other.forgotten",
        "other._only_here",
    ]


def test_the_annotations_say_whose_method_is_called(tmp_path: Path) -> None:
    main = """
        class Box:
            def add(self): ...

        class Crate:
            def add(self): ...

        class Store:
            def __init__(self, box: Box):
                self.box = box
                self.made = Crate()

        def main(store: Store, seen: set[Crate], path: str):
            store.box.add()
            seen.discard(Crate())
            path.add()
    """
    assert unreached(tmp_path, main=main) == ["main.Crate.add", "main.Store"]


@pytest.mark.parametrize(
    "body",
    [
        "for box in boxes: box.add()",
        "[box.add() for box in boxes]",
        "boxes[0].add()",
        "sorted(boxes)[0].add()",
        "first, *_ = boxes; first.add()",
        "next(iter(boxes)).add()",
        "wrapped(boxes).add()",
        "(boxes[0] if boxes else None).add()",
        "call = boxes[0].add; call()",
        "pair(boxes).left.add()",
        "left, right = pair(boxes); left.add()",
        "unknown.add()",
        "(lambda box: box.add())(boxes[0])",
        "with opened() as box: box.add()",
        "anything(boxes).add()",
    ],
)
def test_a_method_is_reached_through(tmp_path: Path, body: str) -> None:
    main = f"""
        from collections.abc import Iterator
        from contextlib import contextmanager
        from typing import Any, NamedTuple

        class Box:
            def add(self): ...

        class Pair(NamedTuple):
            left: Box
            right: Box

        def wrapped(boxes: list[Box]) -> "Box | None": ...
        def pair(boxes: list[Box]) -> Pair: ...
        def anything(boxes) -> Any: ...

        @contextmanager
        def opened() -> Iterator[Box]: ...

        def main(boxes: list[Box], unknown):
            Box()
            {body}
    """
    assert "main.Box.add" not in unreached(tmp_path, main=main)


def test_functions_in_tables_are_reached_with_the_table(tmp_path: Path) -> None:
    main = """
        def one(): ...
        def two(): ...

        _USED = {"one": one}
        _FORGOTTEN = {"two": two}

        def main(name):
            _USED[name]()
    """
    assert unreached(tmp_path, main=main) == ["main.two"]


def test_methods_that_fit_a_protocol_or_override_one_are_reached(tmp_path: Path) -> None:
    main = """
        from typing import Protocol

        class Target(Protocol):
            def write(self): ...

        class File:
            def write(self): ...
            def read(self): ...

        class Base:
            def step(self): ...

        class Derived(Base):
            def step(self): ...
            def leap(self): ...

        def main(target: Target, base: Base):
            target.write()
            base.step()
            return File, Derived
    """
    assert unreached(tmp_path, main=main) == ["main.File.read", "main.Derived.leap"]


def test_what_others_call_is_reached_with_its_class_or_module(tmp_path: Path) -> None:
    main = """
        import asyncio
        from pydantic import field_validator
        from typer import Option
        from typing import Annotated

        class Link(asyncio.Protocol):
            def data_received(self): ...
            def _helper(self): ...

        class Config:
            def __len__(self): ...
            @field_validator("x")
            def _check(self): ...
            @property
            def unused(self): ...

        def parse(): ...
        Quota = Annotated[int, Option(parser=parse)]

        def main(quota: Quota):
            return Link(), Config()
    """
    assert unreached(tmp_path, main=main) == ["main.Link._helper", "main.Config.unused"]


def test_names_are_followed_through_packages_and_modules(tmp_path: Path) -> None:
    modules = {
        "main": """
            import package.tool
            from package import api

            def main():
                api()
                package.tool.work()
        """,
        "package____init__": "from .inner import api\n",
        "package__inner": "def api(): ...\ndef other(): ...\n",
        "package__tool": "from . import inner\ndef work(): inner.other()\n",
    }
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text(modules.pop("package____init__"))
    assert unreached(tmp_path, **modules) == []


def test_an_import_for_types_alone_reaches_nothing(tmp_path: Path) -> None:
    main = """
        from typing import TYPE_CHECKING, TypedDict
        if TYPE_CHECKING:
            from other import Thing

        class Keys(TypedDict):
            name: str

        def main(thing: "Thing", keys: Keys): ...
    """
    assert unreached(tmp_path, main=main, other="class Thing: ...\n") == ["other.Thing"]


def test_tests_are_found_by_what_they_and_their_helpers_use(tmp_path: Path) -> None:
    source = """
        class Thing:
            def used(self): ...
            def left_over(self): ...

        def main(thing: Thing):
            thing.used()
    """
    tests = """
        import pytest
        from main import Thing

        @pytest.fixture
        def prepared():
            thing = Thing()
            thing.left_over()
            return thing

        def helper(thing: Thing):
            thing.left_over()

        def test_reached():
            Thing().used()

        def test_direct(thing):
            thing.left_over()

        def test_by_helper():
            helper(Thing())

        class TestAll:
            def test_by_fixture(self, prepared):
                prepared.used()
    """
    index = read(tmp_path, main=source, tests__test_thing=tests)
    walk = walk_from(index, "main")
    left_over = [each for each in walk.unreached() if each.module == "main"]
    assert [each.name for each in left_over] == ["Thing.left_over"]
    users = users_of_unreached(index, left_over)
    assert [test.name for test in users] == [
        "test_direct",
        "test_by_helper",
        "TestAll.test_by_fixture",
    ]
    assert {used for found in users.values() for used in found} == set(left_over)


def test_examples_of_documents_are_entry_points(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```py\nfrom openmsmq.wire import a, b\n>>> from openmsmq.c import d\n```\n")
    names = [("openmsmq.wire", "a"), ("openmsmq.wire", "b"), ("openmsmq.c", "d")]
    assert list(documented([page])) == names


def test_a_folder_without_sources_has_no_such_tests(tmp_path: Path) -> None:
    assert unreached_by_test(tmp_path) == {}


def test_what_nothing_reaches_in_openmsmq_is_known() -> None:
    """Call new code from somewhere, or say in docs/conformance/unreached.tsv what it waits for."""
    found = {each.key for each in read_product(Index.read({ROOT / "src": ""})).unreached()}
    known = {entry.definition for entry in read_known()}
    assert sorted(name for name in found - known if name.startswith(PACKAGES)) == []
    assert sorted(known - found) == [], "reached now: take it from docs/conformance/unreached.tsv"
