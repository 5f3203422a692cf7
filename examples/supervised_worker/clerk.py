"""A host's process: books payments, tells how far it is, and asks before it does what it may not decide."""

import json
import sys

LIMIT = 1000


def say(**message: object) -> None:
    print(json.dumps(message), flush=True)


def ask(**message: object) -> object:
    """Say something that wants an answer; the supervisor's, or the end if it has none."""
    say(**message)
    answer = json.loads(sys.stdin.readline())
    if "error" in answer:
        sys.exit(f"no decision: {answer['error']}")
    return answer["value"]


def book(payments: list[dict[str, object]]) -> dict[str, int]:
    booked = refused = 0
    for number, payment in enumerate(payments, 1):
        amount = int(str(payment["amount"]))
        if amount > LIMIT:
            question = f"pay {amount} to {payment['to']}?"
            if not ask(type="question", text=question, amount=amount):
                refused += 1
                continue
        booked += amount
        say(type="progress", done=number, of=len(payments))
    return {"booked": booked, "refused": refused}


for line in sys.stdin:
    request = json.loads(line)
    if request["type"] != "execute":
        continue
    if request["prompt"] == "crash":
        sys.exit("the ledger is on fire")
    say(type="result", value=book(request["context"]["payments"]))
