from dataclasses import dataclass
from itertools import pairwise


@dataclass
class Trade:
    buy: int
    sell: int
    gain: int


def best_trade(prices: list[int]) -> Trade | None:
    best: Trade | None = None
    low = 0
    for day, price in enumerate(prices):
        if price < prices[low]:
            low = day
        gain = price - prices[low]
        if gain > 0 and gain > (best.gain if best else 0):
            best = Trade(low, day, gain)
    return best


def highest_sum(prices: list[int], length: int) -> tuple[int, int]:
    total = sum(prices[:length])
    best = (0, total)
    for end in range(length, len(prices)):
        total += prices[end] - prices[end - length]
        if total > best[1]:
            best = (end - length + 1, total)
    return best


def rises(prices: list[int]) -> int:
    longest = 0
    current = 0
    for before, after in pairwise(prices):
        current = current + 1 if after > before else 0
        longest = max(longest, current)
    return longest


def peaks(prices: list[int]) -> list[int]:
    return [day for day in range(1, len(prices) - 1) if prices[day - 1] < prices[day] > prices[day + 1]]


def work() -> str:
    parts = []
    for stock in range(1, 9):
        prices = []
        price = 1000
        for day in range(500):
            price += (day * day * stock + day * 7) % 41 - 20
            prices.append(price)
        trade = best_trade(prices)
        if trade is None:
            continue
        start, total = highest_sum(prices, 20)
        parts.append(
            f"{trade.buy}-{trade.sell}:{trade.gain} {start}:{total} {rises(prices)} {len(peaks(prices))}"
        )
    return ", ".join(parts)
