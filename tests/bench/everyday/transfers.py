from dataclasses import dataclass


@dataclass
class Account:
    owner: str
    balance: int
    frozen: bool


@dataclass
class Transfer:
    source: str
    target: str
    amount: int


class TransferError(Exception):
    pass


class Unknown(TransferError):
    def __init__(self, name: str) -> None:
        self.name = name


class Frozen(TransferError):
    def __init__(self, owner: str) -> None:
        self.owner = owner


class Short(TransferError):
    def __init__(self, missing: int) -> None:
        self.missing = missing


def lookup(accounts: dict[str, Account], name: str) -> Account:
    account = accounts.get(name)
    if account is None:
        raise Unknown(name)
    if account.frozen:
        raise Frozen(account.owner)
    return account


def checked(account: Account, amount: int) -> int:
    if account.balance < amount:
        raise Short(amount - account.balance)
    return account.balance - amount


def settle(accounts: dict[str, Account], transfer: Transfer) -> tuple[int, int]:
    source = lookup(accounts, transfer.source)
    target = lookup(accounts, transfer.target)
    left = checked(source, transfer.amount)
    return left, target.balance + transfer.amount


def work() -> str:
    accounts = {f"acc-{i}": Account(f"owner {i}", 500 + i * 10, i % 9 == 5) for i in range(20)}
    done = 0
    failures: dict[str, int] = {}
    for i in range(5000):
        transfer = Transfer(f"acc-{i * 3 % 21}", f"acc-{(i * 7 + 1) % 20}", i % 170)
        try:
            left, right = settle(accounts, transfer)
        except TransferError as problem:
            match problem:
                case Unknown():
                    text = f"unknown {problem.name}"
                case Frozen():
                    text = f"frozen {problem.owner}"
                case Short():
                    text = "short" if problem.missing < 100 else "far too short"
            failures[text] = failures.get(text, 0) + 1
        else:
            accounts[transfer.source].balance = left
            accounts[transfer.target].balance = right
            done += 1
    return f"{done} {', '.join(f'{text}: {failures[text]}' for text in sorted(failures))}"
