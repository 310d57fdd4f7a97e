"""Groups of commands: the words that follow a word, such as `openmsmq queue create`."""

from collections.abc import Callable, Mapping

import typer

from .failure import Explanation, reporting


def add_group(
    app: typer.Typer,
    name: str,
    commands: Mapping[str, Callable[..., None]],
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
