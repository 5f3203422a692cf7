from collections.abc import Iterable, Iterator
from itertools import pairwise, takewhile


class Primes:
    def __init__(self) -> None:
        self.found: list[int] = []
        self.candidate = 2

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        while True:
            candidate = self.candidate
            self.candidate += 1
            prime = True
            for known in self.found:
                if known * known > candidate:
                    break
                if candidate % known == 0:
                    prime = False
                    break
            if prime:
                self.found.append(candidate)
                return candidate


class Words:
    def __init__(self, letters: str) -> None:
        self.letters = letters
        self.at = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        while self.at < len(self.letters) and self.letters[self.at] == " ":
            self.at += 1
        if self.at == len(self.letters):
            raise StopIteration
        word = ""
        while self.at < len(self.letters) and self.letters[self.at] != " ":
            word += self.letters[self.at]
            self.at += 1
        return word


def longest(words: Iterable[str]) -> str:
    best = ""
    for word in words:
        if len(word) > len(best):
            best = word
    return best


def work() -> str:
    total = 0
    for prime in Primes():
        if prime > 6000:
            break
        total += prime
    below = takewhile(lambda prime: prime < 1500, Primes())
    twins = [before for before, after in pairwise(below) if after - before == 2]
    text = "  the quick  brown fox jumps over   the lazy dog and runs away " * 20
    counted = sum(len(word) for word in Words(text))
    starts = ",".join(word for place, word in enumerate(Words(text)) if place % 40 == 0)
    return f"{total} {len(twins)} Some({twins[-1]}) {longest(Words(text))} {counted} {starts}"
