"""Cells of a notebook: calls work in a running event loop too, and a last expression shows itself."""

import asyncio
from pathlib import Path

import concerto

mails = concerto.load(Path(__file__).with_name("main.conc"), mock=True)


async def notebook() -> None:
    print(repr(mails.decide(mails.Mail(subject="Hello", body="How are you?"))))
    print(repr(mails.triage({"subject": "urgent: help"})))
    result = mails.decide.result(mails.Mail(subject="Hi", body="Well?"))
    print(result.ok, result.tokens, result.cost_usd)


asyncio.run(notebook())
