"""A host's process for the tests: does what the prompt says."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


def say(**message: Any) -> None:
    print(json.dumps(message), flush=True)


def hear() -> Any:
    line = sys.stdin.readline()
    if not line:
        sys.exit()
    return json.loads(line)


def ask(**message: Any) -> Any:
    say(**message)
    return hear()


def say_more(message: Any, word: str, rest: str) -> None:
    if word == "notify":
        say(type="log", text="on my way")
        say(type="result", text="done")
    else:
        # With the id of its request, or with none.
        own = {"id": message["id"]} if rest == "id" else {}
        sys.stdout.write(2 * (json.dumps({"type": "result", "text": "twice", **own}) + "\n"))
        sys.stdout.flush()


def obey(message: Any, number: int) -> None:
    word, _, rest = message["prompt"].partition(" ")
    match word:
        case "number":
            own = {"id": message["id"]} if rest == "id" else {}
            say(type="result", text=str(number), **own, tokens_in=2, tokens_out=3, model="tiny", cost_usd=0.5)
        case "show":
            say(
                type="result",
                value={key: value for key, value in message.items() if key not in ("id", "idempotency_key")},
            )
        case "pid":
            say(type="result", text=str(os.getpid()))
        case "env":
            say(type="result", text=json.dumps(sorted(os.environ)))
        case "folder":
            say(type="result", text=str(Path.cwd()))
        case "say":
            print(rest, flush=True)
        case "answer":
            say(type="result", value=json.loads(rest))
        case "ask":
            say(type="result", value=ask(**json.loads(rest)))
        case "That":
            # What is said when an answer does not fit: this one never learns.
            say(type="result", value={"name": "Ann"})
        case "error":
            say(type="error", message=rest, kind="Refused")
        case "twice" | "notify":
            say_more(message, word, rest)
        case "complain":
            print(rest, file=sys.stderr, flush=True)
            say(type="result", text="complained")
        case "exit":
            print("farewell", file=sys.stderr, flush=True)
            sys.exit(int(rest))
        case "half":
            sys.stdout.write('{"type": "resu')
            sys.stdout.flush()
            sys.exit(0)
        case "large":
            say(type="result", text="x" * int(rest))
        case "flood":
            sys.stdout.write("x" * int(rest) + "\n")
            sys.stdout.flush()
        case "sleep":
            time.sleep(float(rest))
            say(type="result", text="awake")
        case "child":
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            say(type="log", pid=child.pid)
            time.sleep(600)
        case "bytes":
            sys.stdout.buffer.write(b"\xff\xfe\n")
            sys.stdout.flush()
        case _:
            say(type="error", message=f"what is {word}?")


def main() -> None:
    number = 0
    while True:
        message = hear()
        match message["type"]:
            case "init":
                if message["params"].get("refuse"):
                    say(type="error", message="wrong params")
                elif message["params"].get("silent"):
                    time.sleep(600)
                else:
                    say(type="init_ack")
            case "execute":
                number += 1
                obey(message, number)


main()
