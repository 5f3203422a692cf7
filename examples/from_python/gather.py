"""200 calls at once in one event loop."""

import asyncio
from pathlib import Path

import concerto

mails = concerto.load(Path(__file__).with_name("main.conc"), mock=True)


async def main() -> None:
    calls = [mails.decide.aio({"subject": f"mail {n}", "body": f"question {n}"}) for n in range(200)]
    actions = await asyncio.gather(*calls)
    print(len(actions), actions[199].value)


asyncio.run(main())
