"""A conversation in the terminal: each line goes on with all that was said before."""

import sys
from pathlib import Path

import concerto

mails = concerto.load(Path(__file__).with_name("main.conc"), mock=True)
clerk = mails.Clerk.with_system("You are the clerk at the front desk.").with_temperature(0.2)

messages = []
for line in sys.stdin:
    messages.append(mails.Message(role="user", content=line.strip()))
    try:
        response = clerk.chat(messages)
    except concerto.RunError as error:
        print(f"({error.kind}: ask again)")
        messages.pop()
        continue
    print(response.text)
    messages = response.messages
print(len(messages), "messages")
