from collections import defaultdict
from dataclasses import dataclass


class UnionFind:
    def __init__(self, count: int) -> None:
        self.parent = list(range(count))
        self.size = [1] * count
        self.groups = count

    def find(self, item: int) -> int:
        root = item
        while self.parent[root] != root:
            self.parent[root] = self.parent[self.parent[root]]
            root = self.parent[root]
        return root

    def union(self, a: int, b: int) -> bool:
        a = self.find(a)
        b = self.find(b)
        if a == b:
            return False
        if self.size[a] < self.size[b]:
            a, b = b, a
        self.parent[b] = a
        self.size[a] += self.size[b]
        self.groups -= 1
        return True


@dataclass
class Account:
    name: str
    mails: list[str]


def accounts(count: int) -> list[Account]:
    seed = 7
    made = []
    for n in range(count):
        mails = []
        for _ in range(3):
            seed = (seed * 1103515245 + 12345) % 2147483648
            mails.append(f"user{seed // 65536 % (count * 4)}@example.org")
        made.append(Account(f"account {n}", mails))
    return made


def merged(accounts: list[Account]) -> tuple[dict[int, list[str]], int]:
    sets = UnionFind(len(accounts))
    owner: dict[str, int] = {}
    joins = 0
    for n, account in enumerate(accounts):
        for mail in account.mails:
            if mail in owner:
                if sets.union(owner[mail], n):
                    joins += 1
            else:
                owner[mail] = n
    groups: defaultdict[int, list[str]] = defaultdict(list)
    for mail, n in owner.items():
        groups[sets.find(n)].append(mail)
    return groups, joins


def work() -> int:
    groups, joins = merged(accounts(6000))
    largest = max((len(mails) for mails in groups.values()), default=0)
    total = 0
    for mails in sorted(groups.values(), key=lambda mails: (-len(mails), mails[0]))[:20]:
        total = (total * 31 + len(sorted(mails)[0]) + len(mails)) % 1000003
    return len(groups) * 100 + largest + joins + total
