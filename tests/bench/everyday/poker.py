from collections import Counter
from dataclasses import dataclass
from enum import Enum, IntEnum


class Suit(Enum):
    CLUBS = "c"
    DIAMONDS = "d"
    HEARTS = "h"
    SPADES = "s"


class Rank(IntEnum):
    HighCard = 0
    Pair = 1
    TwoPairs = 2
    Three = 3
    Straight = 4
    Flush = 5
    FullHouse = 6
    Four = 7
    StraightFlush = 8


@dataclass
class Card:
    value: int
    suit: Suit

    def __str__(self) -> str:
        return "23456789TJQKA"[self.value - 2] + self.suit.value


@dataclass(order=True)
class Hand:
    rank: Rank
    values: list[int]


def ranked(cards: list[Card]) -> Hand:
    counts = sorted(
        ((count, value) for value, count in Counter(card.value for card in cards).items()), reverse=True
    )
    values = [value for _, value in counts]
    flush = all(card.suit is cards[0].suit for card in cards)
    wheel = values == [14, 5, 4, 3, 2]
    straight = len(values) == 5 and (values[0] - values[4] == 4 or wheel)
    match [count for count, _ in counts]:
        case _ if straight and flush:
            rank = Rank.StraightFlush
        case [4, *_]:
            rank = Rank.Four
        case [3, 2]:
            rank = Rank.FullHouse
        case _ if flush:
            rank = Rank.Flush
        case _ if straight:
            rank = Rank.Straight
        case [3, *_]:
            rank = Rank.Three
        case [2, 2, *_]:
            rank = Rank.TwoPairs
        case [2, *_]:
            rank = Rank.Pair
        case _:
            rank = Rank.HighCard
    return Hand(rank, [5, 4, 3, 2, 1] if straight and wheel else values)


def shuffled(deck: list[Card], seed: int) -> list[Card]:
    cards = list(deck)
    for last in reversed(range(1, len(cards))):
        seed = (seed * 1103515245 + 12345) % 2147483648
        other = seed // 65536 % (last + 1)
        cards[last], cards[other] = cards[other], cards[last]
    return cards


def work() -> str:
    deck = [Card(value, suit) for suit in Suit for value in range(2, 15)]
    wins = [0] * 4
    seen: Counter[Rank] = Counter()
    best: tuple[Hand, str] | None = None
    for n in range(1, 1001):
        cards = shuffled(deck, n * 7919)
        hands = [(ranked(five), five) for five in (cards[start : start + 5] for start in range(0, 20, 5))]
        strongest = max(hand for hand, _ in hands)
        for player, (hand, five) in enumerate(hands):
            seen[hand.rank] += 1
            if hand == strongest:
                wins[player] += 1
            if best is None or hand > best[0]:
                best = (hand, " ".join(str(card) for card in five))
    assert best is not None
    hand, text = best
    counts = ", ".join(f"Rank::{rank.name} {count}" for rank, count in sorted(seen.items()))
    return f"{wins} {text} Rank::{hand.rank.name} | {counts}"
