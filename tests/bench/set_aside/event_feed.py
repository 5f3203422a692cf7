import json
from typing import Any


def describe(event: Any) -> str:
    match event["type"]:
        case "push":
            return f"{event['user']['name']} pushed {len(event['commits'])} to {event['branch']}"
        case "issue":
            return f"{event['user']['name']} opened {event['number']}: {'+'.join(event['labels'])}"
        case "star":
            return f"{event['user']['name']} likes it"
        case other:
            raise ValueError(f"no idea of {other}")


def work() -> int:
    lines = []
    for i in range(250):
        user = f'{{"name": "user {i % 20}", "admin": {"true" if i % 2 == 0 else "false"}}}'
        if i % 4 == 0:
            commits = f'[{{"id": {i}}}, {{"id": {i + 1}}}]'
            line = f'{{"type": "push", "user": {user}, "branch": "b{i % 3}", "commits": {commits}}}'
        elif i % 4 == 1:
            line = f'{{"type": "issue", "user": {user}, "number": {i}, "labels": ["bug", "p{i % 5}"]}}'
        elif i % 4 == 2:
            line = f'{{"type": "star", "user": {user}}}'
        else:
            line = f'{{"type": "fork", "user": {user}, "at": null}}'
        lines.append(line)
    total = 0
    for _ in range(5):
        for line in lines:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            try:
                total += len(describe(event))
            except ValueError as error:
                total -= len(str(error))
            if event["user"]["admin"]:
                total += 1
    return total
