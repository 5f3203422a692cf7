from dataclasses import dataclass


@dataclass
class Role:
    name: str
    allowed: set[str]
    parents: list[str]


def collect(roles: dict[str, Role], name: str, seen: set[str]) -> set[str]:
    if name in seen:
        return set()
    role = roles.get(name)
    if role is None:
        return set()
    every = set(role.allowed)
    for parent in role.parents:
        every |= collect(roles, parent, seen | {name})
    return every


def work() -> int:
    actions = ["read", "write", "delete", "share", "audit", "print"]
    roles: dict[str, Role] = {}
    for i in range(40):
        allowed = {f"{actions[i % 6]}:{i % 4}", f"{actions[i * 5 % 6]}:{i % 3}"}
        parents = []
        if i > 0:
            parents.append(f"role {i // 2}")
        if i % 3 == 0:
            parents.append(f"role {i // 3}")
        roles[f"role {i}"] = Role(f"role {i}", allowed, parents)
    total = 0
    for round in range(40):
        for name, role in roles.items():
            every = collect(roles, name, set())
            if f"{actions[round % 6]}:1" in every:
                total += 1
            total += len(every - role.allowed)
    return total
