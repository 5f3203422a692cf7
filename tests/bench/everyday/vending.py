from dataclasses import dataclass


@dataclass
class Idle:
    pass


@dataclass
class Paying:
    wanted: str
    paid: int


@dataclass
class Serving:
    what: str


@dataclass
class Broken:
    what: str


@dataclass
class Choose:
    what: str


@dataclass
class Coin:
    value: int


@dataclass
class Take:
    pass


@dataclass
class Kick:
    pass


State = Idle | Paying | Serving | Broken
Event = Choose | Coin | Take | Kick


def price(product: str) -> int:
    return 120 if product == "tea" else 200


def following(state: State, event: Event) -> State:
    match state, event:
        case Idle(), Choose(wanted):
            return Paying(wanted, 0)
        case Paying(wanted, paid), Coin(value):
            if paid + value >= price(wanted):
                return Serving(wanted)
            return Paying(wanted, paid + value)
        case Serving(), Take():
            return Idle()
        case Broken(), Kick():
            return Idle()
        case Serving(what), Kick():
            return Broken(what)
        case _:
            return state


def event_of(i: int) -> Event:
    match i * 7 % 11:
        case 0 | 1:
            return Choose("tea")
        case 2:
            return Choose("soup")
        case 3 | 4 | 5:
            return Coin(50)
        case 6:
            return Coin(100)
        case 7 | 8:
            return Take()
        case 9:
            return Kick()
        case _:
            return Coin(20)


def work() -> int:
    state: State = Idle()
    served = 0
    broken = 0
    for i in range(25000):
        state = following(state, event_of(i))
        match state:
            case Serving(what):
                served += len(what)
            case Broken():
                broken += 1
    return served * 10 + broken
