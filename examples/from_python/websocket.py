"""An answer is sent over a websocket while it arrives."""

from pathlib import Path

from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

import concerto

mails = concerto.load(Path(__file__).with_name("main.conc"), mock=True)


async def answer(socket: WebSocket) -> None:
    await socket.accept()
    mail = mails.Mail.model_validate_json(await socket.receive_text())
    async for chunk in mails.answer(mail):
        await socket.send_text(chunk.text)
    await socket.close()


app = Starlette(routes=[WebSocketRoute("/answer", answer)])
