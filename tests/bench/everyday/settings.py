from dataclasses import dataclass


@dataclass
class User:
    name: str
    email: str | None
    manager: int | None


def manager_of(users: dict[int, User], id: int) -> User | None:
    user = users.get(id)
    if user is None or user.manager is None:
        return None
    return users.get(user.manager)


def domain(user: User) -> str | None:
    if user.email is None:
        return None
    at = user.email.find("@")
    if at < 0:
        return None
    return user.email[at + 1 :]


def work() -> int:
    users: dict[int, User] = {}
    for i in range(1000):
        users[i] = User(
            name=f"user {i}",
            email=None if i % 3 == 0 else f"u{i}@example.org",
            manager=None if i % 5 == 0 else i // 2,
        )
    total = 0
    for i in range(20000):
        id = i * 7 % 1100
        manager = manager_of(users, id)
        if manager is not None:
            total += len(manager.name)
            text = domain(manager)
            total += len(text) if text is not None else 1
        user = users.get(id)
        email = user.email if user is not None else None
        total += len(email if email is not None else "nobody")
    return total
