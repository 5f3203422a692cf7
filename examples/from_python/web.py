"""A web handler: each request is a run of its own, in the server's event loop."""

from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

import concerto

mails = concerto.load(Path(__file__).with_name("main.conc"), mock=True)


async def decide(request: Request) -> JSONResponse:
    try:
        action = await mails.decide.aio(mails.Mail.model_validate_json(await request.body()))
    except concerto.RunError as error:
        return JSONResponse({"kind": error.kind, "message": error.message}, status_code=502)
    return JSONResponse(action.model_dump())


app = Starlette(routes=[Route("/decide", decide, methods=["POST"])])
