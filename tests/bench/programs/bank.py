class BankError(Exception):
    pass


class Account:
    __slots__ = ("balance", "history", "id")

    def __init__(self, number: int, balance: int) -> None:
        self.id = number
        self.balance = balance
        self.history: list[int] = []

    def deposit(self, amount: int) -> int:
        if amount <= 0:
            raise BankError("bad amount")
        self.balance += amount
        self.history.append(amount)
        return self.balance

    def withdraw(self, amount: int) -> int:
        if amount > self.balance:
            raise BankError("insufficient funds")
        self.balance -= amount
        self.history.append(-amount)
        return self.balance


class Bank:
    __slots__ = ("accounts", "failures")

    def __init__(self) -> None:
        self.accounts: list[Account] = []
        self.failures = 0

    def transfer(self, source: int, to: int, amount: int) -> None:
        self.accounts[source].withdraw(amount)
        self.accounts[to].deposit(amount)


def work() -> int:
    bank = Bank()
    for i in range(20):
        bank.accounts.append(Account(i, 100))
    for i in range(5000):
        try:
            bank.transfer(i % 20, i * 7 % 20, i % 50)
        except BankError:
            bank.failures += 1
    total = bank.failures
    for account in bank.accounts:
        total += account.balance * account.id + len(account.history)
    return total
