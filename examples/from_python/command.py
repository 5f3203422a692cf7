"""A click command."""

from pathlib import Path

import click

import concerto

mails = concerto.load(Path(__file__).with_name("main.conc"), mock=True)


@click.command()
@click.argument("subject")
@click.option("--limit", default=200, show_default=True)
def main(subject: str, limit: int) -> None:
    """Say how urgent a mail is."""
    try:
        click.echo(mails.triage(mails.Mail(subject=subject), limit=limit))
    except concerto.RunError as error:
        raise click.ClickException(f"{error.kind} at {error.place}") from error


if __name__ == "__main__":
    main()
