from collections import defaultdict
from dataclasses import dataclass


@dataclass
class Visit:
    user: int
    page: str
    seconds: int
    bought: bool


def work() -> str:
    pages = ["home", "search", "product", "basket", "help"]
    visits = [
        Visit(i * 31 % 500, pages[(i * i + i // 7) % 5], i * 17 % 240, i % 13 == 0) for i in range(6000)
    ]
    long_ones = [visit for visit in visits if visit.seconds > 30 and visit.page != "help"]
    groups = defaultdict(list)
    for visit in long_ones:
        groups[visit.page].append(visit)
    per_page = {page: sum(visit.seconds for visit in each) // len(each) for page, each in groups.items()}
    buyers = defaultdict(list)
    for visit in long_ones:
        if visit.bought:
            buyers[visit.user].append(visit)
    sums = [(user, sum(visit.seconds for visit in found)) for user, found in buyers.items()]
    best = sorted(sums, key=lambda pair: (-pair[1], pair[0]))
    pauses = " ".join(f"{page}={mean}" for page, mean in sorted(per_page.items()))
    top = " ".join(f"{user}:{seconds}" for user, seconds in best[:5])
    return f"{pauses} | {top} | {str(any(visit.seconds == 239 for visit in visits)).lower()}"
