from dataclasses import dataclass, field
from enum import Enum, auto

START = 0x7E
ESCAPE = 0x7D
LONGEST = 40


class State(Enum):
    IDLE = auto()
    KIND = auto()
    LENGTH = auto()
    BODY = auto()
    CHECKSUM = auto()


@dataclass(slots=True)
class Frame:
    kind: int
    data: list[int]


def checksum(kind: int, data: list[int]) -> int:
    total = kind
    for byte in data:
        total = (total << 1 ^ byte ^ total >> 7) & 0xFF
    return total


@dataclass(slots=True)
class Decoder:
    state: State = State.IDLE
    escaped: bool = False
    kind: int = 0
    left: int = 0
    data: list[int] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    errors: dict[str, int] = field(default_factory=dict)

    def fail(self, reason: str) -> None:
        self.errors[reason] = self.errors.get(reason, 0) + 1
        self.state = State.IDLE

    def feed(self, byte: int) -> None:
        if byte == START:
            if self.state is not State.IDLE:
                self.fail("cut")
            self.state = State.KIND
            self.escaped = False
        elif self.state is State.IDLE:
            pass
        elif self.escaped:
            self.escaped = False
            self.accept(byte ^ 0x20)
        elif byte == ESCAPE:
            self.escaped = True
        else:
            self.accept(byte)

    def accept(self, byte: int) -> None:
        match self.state:
            case State.KIND:
                if byte > 4:
                    self.fail("kind")
                else:
                    self.kind = byte
                    self.state = State.LENGTH
            case State.LENGTH:
                self.data = []
                self.left = byte
                if byte > LONGEST:
                    self.fail("length")
                elif byte == 0:
                    self.state = State.CHECKSUM
                else:
                    self.state = State.BODY
            case State.BODY:
                self.data.append(byte)
                self.left -= 1
                if self.left == 0:
                    self.state = State.CHECKSUM
            case State.CHECKSUM:
                if checksum(self.kind, self.data) == byte:
                    self.frames.append(Frame(self.kind, self.data))
                    self.state = State.IDLE
                else:
                    self.fail("checksum")


def encode(frame: Frame) -> list[int]:
    out = [START]
    for byte in [frame.kind, len(frame.data), *frame.data, checksum(frame.kind, frame.data)]:
        if byte in (START, ESCAPE):
            out += [ESCAPE, byte ^ 0x20]
        else:
            out.append(byte)
    return out


def work() -> str:
    stream: list[int] = []
    for i in range(160):
        stream += encode(Frame(i % 6, [(n * n * 3 + i * 11) & 0xFF for n in range(i * 7 % 38)]))
        if i % 9 == 0:
            stream += [1, 2, 3]
    decoder = Decoder()
    for i, byte in enumerate(stream):
        if i % 211 != 0:
            decoder.feed(byte ^ 1 if i % 307 == 0 else byte)
    per_kind: dict[int, int] = {}
    for frame in decoder.frames:
        per_kind[frame.kind] = per_kind.get(frame.kind, 0) + sum(frame.data)
    text = " ".join(f"{byte:02x}" for byte in decoder.frames[2].data)
    errors = ", ".join(f'"{reason}": {count}' for reason, count in decoder.errors.items())
    return f"{len(stream)} bytes, {len(decoder.frames)} frames, {{{errors}}}, {per_kind}, {text}"
