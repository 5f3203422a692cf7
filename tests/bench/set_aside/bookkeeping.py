from dataclasses import dataclass, field
from enum import Enum


class Side(Enum):
    DEBIT = "debit"
    CREDIT = "credit"


@dataclass
class Posting:
    account: str
    side: Side
    amount: int


@dataclass
class Account:
    name: str
    debit: int = 0
    credit: int = 0
    entries: list[int] = field(default_factory=list)

    def balance(self) -> int:
        return self.debit - self.credit


class Ledgers:
    def __init__(self, names: list[str]) -> None:
        self.accounts = {name: Account(name) for name in names}
        self.rejected = 0

    def post(self, number: int, postings: list[Posting]) -> None:
        difference = 0
        for posting in postings:
            if posting.side is Side.DEBIT:
                difference += posting.amount
            else:
                difference -= posting.amount
        if difference != 0 or any(posting.account not in self.accounts for posting in postings):
            self.rejected += 1
            return
        for posting in postings:
            account = self.accounts[posting.account]
            if posting.side is Side.DEBIT:
                account.debit += posting.amount
            else:
                account.credit += posting.amount
            account.entries.append(number)


def work() -> str:
    names = ["cash", "bank", "sales", "rent", "wages", "tax"]
    ledgers = Ledgers(names)
    for i in range(2500):
        amount = 100 + i * 17 % 900
        tax = amount // 5
        wrong = 1 if i % 50 == 0 else 0
        ledgers.post(
            i,
            [
                Posting(names[i % 2], Side.DEBIT, amount + tax),
                Posting("nowhere" if i % 70 == 3 else names[2 + i % 3], Side.CREDIT, amount),
                Posting("tax", Side.CREDIT, tax + wrong),
            ],
        )
    lines = [f"{each.name} {each.balance()} ({len(each.entries)})" for each in ledgers.accounts.values()]
    return f"{', '.join(lines)}; {ledgers.rejected} rejected"
