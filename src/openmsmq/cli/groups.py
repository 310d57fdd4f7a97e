"""Groups of commands: the words that follow a word, such as `openmsmq queue create`."""

from collections.abc import Callable

import typer

from .failure import Explanation, reporting

Commands = dict[str, Callable[..., None]]
"""The functions of a group by the words that call them, in the order of the help page."""


def add_group(
    app: typer.Typer,
    name: str,
    commands: Commands,
    *,
    help_text: str,
    explanation: Explanation | None = None,
) -> None:
    """Add a group to the program; without a command it prints its help.

    Args:
        explanation: of settings that the commands of this group cannot use.
    """
    group = typer.Typer(help=help_text, no_args_is_help=True, rich_markup_mode=None)
    for command, function in commands.items():
        group.command(command)(reporting(f"{name} {command}", function, explanation))
    app.add_typer(group, name=name)
