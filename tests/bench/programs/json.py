import json


def work() -> int:
    users = []
    for i in range(300):
        users.append({"id": i, "name": f"user {i}", "tags": ["a", "b", "c"], "score": i / 7.0})
    text = json.dumps(users, separators=(",", ":"))
    total = len(text)
    for _ in range(5):
        for user in json.loads(text):
            total += user["id"] + len(user["name"])
    return total
