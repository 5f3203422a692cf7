"""FastAPI: the program's types are pydantic models, so they are the API's too."""

from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException

import concerto

mails = concerto.load(Path(__file__).with_name("main.conc"), mock=True)
app = FastAPI()


async def urgency(mail: mails.Mail) -> Any:  # type: ignore[name-defined]
    try:
        return await mails.triage.aio(mail)
    except concerto.RunError as error:
        raise HTTPException(422, error.kind) from error


@app.post("/triage")
async def triage(found: Annotated[Any, Depends(urgency)]) -> dict[str, str]:
    return {"urgency": found}


app.post("/decide")(mails.decide.aio)
