from dataclasses import dataclass


@dataclass
class Added:
    value: str


@dataclass
class Removed:
    value: str


@dataclass
class Changed:
    old: str
    new: str


Node = str | dict[str, "Node"]
Change = Added | Removed | Changed
Patch = dict[str, Change]


class PatchError(Exception):
    pass


def flat(node: Node, path: str, found: dict[str, str]) -> dict[str, str]:
    if isinstance(node, str):
        found[path] = node
    else:
        for name, child in node.items():
            flat(child, f"{path}.{name}" if path else name, found)
    return found


def diff(old: dict[str, str], new: dict[str, str]) -> Patch:
    patch: Patch = {}
    for path, value in old.items():
        if path not in new:
            patch[path] = Removed(value)
        elif new[path] != value:
            patch[path] = Changed(value, new[path])
    for path, value in new.items():
        if path not in old:
            patch[path] = Added(value)
    return patch


def apply(base: dict[str, str], patch: Patch) -> dict[str, str]:
    result = dict(base)
    for path, change in patch.items():
        match change:
            case Added(value):
                if path in result:
                    raise PatchError(f"{path} is already {result[path]}")
                result[path] = value
            case Removed():
                if path not in result:
                    raise PatchError(f"{path} is not there")
                del result[path]
            case Changed(old, new):
                if result.get(path) != old:
                    raise PatchError(f"{path} is not {old}")
                result[path] = new
    return result


def merged(mine: Patch, theirs: Patch) -> tuple[Patch, list[str]]:
    conflicts = []
    both = dict(mine)
    for path, change in theirs.items():
        if path in mine and mine[path] != change:
            conflicts.append(path)
        else:
            both[path] = change
    return both, conflicts


def put(node: Node, path: list[str], value: str | None) -> dict[str, Node]:
    children: dict[str, Node] = dict(node) if isinstance(node, dict) else {}
    name, *rest = path
    if rest:
        children[name] = put(children.get(name, {}), rest, value)
    elif value is None:
        children.pop(name, None)
    else:
        children[name] = value
    return children


def changed(base: Node, seed: int) -> Node:
    node = base
    for n in range(40):
        path = [f"service{n * seed % 9}", f"group{n % 4}", f"key{(n * n + seed) % 12}"]
        node = put(node, path, None if (n + seed) % 5 == 0 else f"v{(n + seed) % 30}")
    return node


def work() -> str:
    base: Node = {}
    for n in range(150):
        base = put(base, [f"service{n % 9}", f"group{n % 4}", f"key{n * 5 % 12}"], f"v{n % 30}")
    start = flat(base, "", {})
    conflicts = 0
    errors = []
    sizes = 0
    for seed in range(1, 101):
        mine = diff(start, flat(changed(base, seed), "", {}))
        theirs = diff(start, flat(changed(base, seed + 36 if seed % 2 == 0 else seed * 3 + 1), "", {}))
        patch, clashes = merged(mine, theirs)
        conflicts += len(clashes)
        try:
            sizes += len(apply(start, patch)) + len(patch)
        except PatchError as error:
            errors.append(str(error))
        if seed % 4 == 0:
            try:
                apply({path: value for path, value in start.items() if not path.endswith("key1")}, patch)
            except PatchError as error:
                errors.append(str(error))
    return f"{len(start)} {conflicts} {sizes} {'; '.join(errors)}"
