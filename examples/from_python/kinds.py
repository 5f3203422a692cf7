"""Failures by their kind, with the place in the program and the value of the Err."""

from pathlib import Path

import concerto

mails = concerto.load(Path(__file__).with_name("main.conc"))

for mail in ({"subject": ""}, {"subject": "long", "body": "x" * 300}):
    try:
        mails.triage(mail)
    except concerto.RunError as error:
        match error.value:
            case mails.Refused.Empty():
                print("empty:", error.kind, Path(error.place or "").name)
            case mails.Refused.TooLong(length):
                print("too long:", length)

try:
    mails.Clerk.using(environment={}).execute("Hello")
except concerto.RunError as error:
    print(error.kind)

try:
    mails.triage({"subject": 1})
except TypeError as error:
    print(error)
