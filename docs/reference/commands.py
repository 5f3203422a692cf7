"""The page of the command line, from the declarations that click reads."""

from __future__ import annotations

from collections.abc import Iterator

import click

from concerto.cli.commands import concerto_command, concertoc_command
from docs.reference.markdown import code, fenced, joined, table

_INTRODUCTION = """\
`concerto` runs programs, `concertoc` compiles and checks them. Results go to standard output; problems,
warnings and logs to standard error.

| exit status | means |
|---|---|
| 0 | all is well |
| 1 | the program failed |
| 2 | the program does not compile, or the command is wrong |
| 3 | the run waits for somebody outside, or for a decision: `concerto resume` |
| 130 | interrupted |"""


def page() -> str:
    parts = ["# Command line", _INTRODUCTION]
    for command in (concerto_command, concertoc_command):
        parts.append(f"## {command.name}\n\n{command.help}")
        parts += _commands(command, click.Context(command, info_name=command.name))
    return joined(*parts)


def _commands(group: click.Group, context: click.Context) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, parent=context, info_name=name)
        if isinstance(command, click.Group):
            yield from _commands(command, inner)
        else:
            yield _command(command, inner)


def _command(command: click.Command, context: click.Context) -> str:
    pieces = " ".join(command.collect_usage_pieces(context))
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    return joined(
        f"### {context.command_path}",
        command.help or "",
        fenced("text", f"{context.command_path} {pieces}"),
        table(["option", ""], [_option(option, context) for option in options]) if options else "",
    ).rstrip()


def _option(option: click.Option, context: click.Context) -> list[str]:
    names, help_ = option.get_help_record(context) or ("", "")
    return [code(names), help_]
