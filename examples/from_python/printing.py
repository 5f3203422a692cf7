"""An answer is written to the terminal while it arrives."""

import asyncio
from pathlib import Path

import concerto

mails = concerto.load(Path(__file__).with_name("main.conc"), mock=True)


async def main() -> None:
    async for chunk in mails.answer(mails.Mail(subject="Hi", body="Tell me")):
        print(chunk.text, end="", flush=True)
        if chunk.done:
            print(f"\n({chunk.response.tokens_out} tokens)")


asyncio.run(main())
