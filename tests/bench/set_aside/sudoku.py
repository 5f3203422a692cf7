class Board:
    def __init__(self, text: str) -> None:
        if len(text) != 81:
            raise ValueError(f"a board has 81 cells, not {len(text)}")
        self.cells = [0] * 81
        self.rows = [0] * 9
        self.columns = [0] * 9
        self.boxes = [0] * 9
        self.tried = 0
        for at, letter in enumerate(text):
            if letter == ".":
                continue
            if not letter.isdigit():
                raise ValueError(f"`{letter}` at {at} is no digit")
            digit = int(letter)
            if self.taken(at) & (1 << digit):
                raise ValueError(f"a second {digit} at {at}")
            self.place(at, digit)

    def taken(self, at: int) -> int:
        return self.rows[at // 9] | self.columns[at % 9] | self.boxes[at // 27 * 3 + at % 9 // 3]

    def place(self, at: int, digit: int) -> None:
        self.cells[at] = digit
        self.rows[at // 9] |= 1 << digit
        self.columns[at % 9] |= 1 << digit
        self.boxes[at // 27 * 3 + at % 9 // 3] |= 1 << digit

    def clear(self, at: int) -> None:
        keep = ~(1 << self.cells[at])
        self.cells[at] = 0
        self.rows[at // 9] &= keep
        self.columns[at % 9] &= keep
        self.boxes[at // 27 * 3 + at % 9 // 3] &= keep

    def tightest(self) -> tuple[int, list[int]] | None:
        best = None
        fewest = 10
        for at in range(81):
            if self.cells[at]:
                continue
            taken = self.taken(at)
            free = [digit for digit in range(1, 10) if not taken & (1 << digit)]
            if len(free) < fewest:
                fewest = len(free)
                best = at, free
                if fewest < 2:
                    break
        return best

    def solve(self) -> bool:
        cell = self.tightest()
        if cell is None:
            return True
        at, free = cell
        for digit in free:
            self.tried += 1
            self.place(at, digit)
            if self.solve():
                return True
            self.clear(at)
        return False


PUZZLES = [
    "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79",
    "1....7.9..3..2...8..96..5....53..9...1..8...26....4...3......1..4......7..7...3..",
    "..9748...7.........2.1.9.....7...24..64.1.59..98...3.....8.3.2.........6...2759..",
    "55......." * 9,
    "12x" * 27,
    "123",
]


def solution(puzzle: str) -> str:
    try:
        board = Board(puzzle)
    except ValueError as error:
        return str(error)
    solved = "true" if board.solve() else "false"
    return f"{solved} {board.tried} {''.join(map(str, board.cells))}"


def work() -> str:
    return "\n".join(map(solution, PUZZLES))
