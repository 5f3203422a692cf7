"""Options that several commands have."""

from __future__ import annotations

import click

mock_option = click.option("--mock", is_flag=True, help="Answer every model call without network.")
allow_option = click.option(
    "--allow-tool", "allowed", multiple=True, metavar="T", help="Allow a tool or Tool::method."
)
deny_option = click.option(
    "--deny-tool", "denied", multiple=True, metavar="T", help="Deny a tool or Tool::method."
)
environment_option = click.option(
    "--env", "environment", metavar="F", help="File of NAME=value lines to add to the environment."
)
handlers_option = click.option(
    "--handlers", metavar="M.PY", help="Python file whose HANDLERS answer awaited emits."
)
answer_option = click.option(
    "--answer",
    "answers",
    multiple=True,
    metavar="CHANNEL=JSON",
    help="Answer to an awaited emit; given again, to the next one of its channel.",
)
store_option = click.option(
    "--store", metavar="URL", help="Where runs are kept: sqlite:PATH or postgresql://…"
)
