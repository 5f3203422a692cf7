from dataclasses import dataclass

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


@dataclass
class Board:
    cells: list[str]
    turn: str

    def winner(self) -> str | None:
        for a, b, c in LINES:
            if self.cells[a] != " " and self.cells[a] == self.cells[b] == self.cells[c]:
                return self.cells[a]
        return None

    def moves(self) -> list[int]:
        return [place for place, cell in enumerate(self.cells) if cell == " "]

    def played(self, place: int) -> "Board":
        cells = list(self.cells)
        cells[place] = self.turn
        return Board(cells, "o" if self.turn == "x" else "x")


def score(board: Board) -> int:
    winner = board.winner()
    if winner is not None:
        return 1 if winner == "x" else -1
    moves = board.moves()
    if not moves:
        return 0
    scores = [score(board.played(place)) for place in moves]
    return max(scores) if board.turn == "x" else min(scores)


def work() -> int:
    total = 0
    for opening in ["x o  x   ", "xo  x   o", "o  x o  x", "x  o   x ", " ox  x o "]:
        total = total * 3 + score(Board(list(opening), "o"))
    return total
