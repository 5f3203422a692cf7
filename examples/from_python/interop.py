"""The program's types are pydantic models: they stand in models of one's own, and these are answers too."""

from pathlib import Path

import pydantic

import concerto

mails = concerto.load(
    Path(__file__).with_name("main.conc"),
    mock={"Clerk": '{"mail": {"subject": "urgent", "body": "Help"}, "words": 1}'},
)


class Ticket(pydantic.BaseModel):
    mail: mails.Mail  # type: ignore[name-defined]
    actions: list[mails.Action] = []  # type: ignore[name-defined]


class Counted(pydantic.BaseModel):
    mail: mails.Mail  # type: ignore[name-defined]
    words: int = pydantic.Field(ge=0, description="How many words the mail has")


ticket = Ticket.model_validate_json('{"mail": {"subject": "urgent", "body": "Help"}}')
ticket.actions.append(mails.decide(ticket.mail))
text = ticket.model_dump_json()
print(text)
print(Ticket.model_validate_json(text) == ticket)
print(sorted(Ticket.model_json_schema()["$defs"]))
try:
    Ticket.model_validate({"mail": {"subjet": "Hi"}})
except pydantic.ValidationError as error:
    print([(each["loc"], each["type"]) for each in error.errors()])
print(repr(mails.Clerk.execute_with_schema("Read: urgent, Help", Counted)))
