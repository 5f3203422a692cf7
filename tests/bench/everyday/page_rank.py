from collections import Counter, deque

Links = dict[str, Counter[str]]


def site(pages: int) -> Links:
    links: Links = {}
    for i in range(pages):
        out: Counter[str] = Counter()
        for target in [i * 2 + 1, i * i % pages, i // 3, 7, (i * 5 + 2) % pages]:
            if target < pages and target != i and i % 17 != 11:
                out[f"/p{target}"] += 1
        links[f"/p{i}"] = out
    return links


def ranks(links: Links, damping: float = 0.85, precision: float = 1e-7) -> tuple[dict[str, float], int]:
    count = len(links)
    current = dict.fromkeys(links, 1.0 / count)
    rounds = 0
    while True:
        rounds += 1
        lost = 0.0
        for page, out in links.items():
            if not out:
                lost += current[page]
        base = (1.0 - damping + damping * lost) / count
        following = dict.fromkeys(links, base)
        for page, out in links.items():
            total = sum(out.values())
            for target, times in out.items():
                following[target] += damping * current[page] * times / total
        change = 0.0
        for page, rank in following.items():
            change += abs(rank - current[page])
        current = following
        if change < precision or rounds == 100:
            return current, rounds


def reachable(links: Links, start: str) -> dict[str, int]:
    depth = {start: 0}
    waiting = deque([start])
    while waiting:
        page = waiting.popleft()
        for target in links[page]:
            if target not in depth:
                depth[target] = depth[page] + 1
                waiting.append(target)
    return depth


def mutual(links: Links) -> set[str]:
    return {
        f"{page}<->{target}"
        for page, out in links.items()
        for target in out
        if page < target and page in links[target]
    }


def work() -> str:
    links = site(120)
    found, rounds = ranks(links)
    best = sorted(found.items(), key=lambda item: item[1], reverse=True)[:5]
    depth = reachable(links, "/p1")
    pairs = sorted(mutual(links))
    shown = ", ".join(f"{page} {rank:.5f}" for page, rank in best)
    return (
        f"{shown} in {rounds}; {len(depth)} reachable, {max(depth.values())} deep; "
        f"{len(pairs)} pairs {' '.join(pairs[:3])}"
    )
