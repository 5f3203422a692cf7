import math
from dataclasses import dataclass, replace


@dataclass
class Player:
    name: str
    wins: int
    losses: int
    rating: float


@dataclass
class Game:
    winner: int
    loser: int


def expected(a: float, b: float) -> float:
    return 1 / (1 + math.pow(10, (b - a) / 400))


def play(players: list[Player], games: list[Game]) -> list[Player]:
    board = [replace(player) for player in players]
    for game in games:
        winner = board[game.winner]
        loser = board[game.loser]
        gain = 32 * (1 - expected(winner.rating, loser.rating))
        winner.rating += gain
        winner.wins += 1
        loser.rating -= gain
        loser.losses += 1
    return board


def work() -> str:
    players = [Player(f"player {i:02}", 0, 0, 1500.0) for i in range(50)]
    games = []
    for i in range(12000):
        a = i * 7 % 50
        b = (i * 11 + 3) % 50
        if a != b:
            games.append(Game(a, b) if (i * i) % 7 < 4 else Game(b, a))
    board = sorted(play(players, games), key=lambda player: (-player.wins, player.losses, player.name))
    best = [f"{player.name} {player.wins}:{player.losses} {player.rating:.1f}" for player in board[:3]]
    return f"{', '.join(best)} of {players[0].wins}"
