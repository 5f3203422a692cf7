from dataclasses import dataclass


@dataclass
class Waiting:
    floor: int


@dataclass
class Moving:
    floor: int
    goal: int


@dataclass
class Open:
    floor: int
    ticks: int


@dataclass
class Stuck:
    floor: int


@dataclass
class Call:
    floor: int


@dataclass
class Tick:
    pass


@dataclass
class Repair:
    pass


Lift = Waiting | Moving | Open | Stuck
Event = Call | Tick | Repair


def next_state(lift: Lift, event: Event) -> Lift:
    match lift, event:
        case Waiting(floor), Call(goal):
            return Open(floor, 3) if goal == floor else Moving(floor, goal)
        case Moving(floor, goal), Tick():
            if floor == goal:
                return Open(floor, 2)
            if floor == 13:
                return Stuck(13)
            return Moving(floor + 1 if floor < goal else floor - 1, goal)
        case Open(floor, 0), Tick():
            return Waiting(floor)
        case Open(floor, ticks), Tick():
            return Open(floor, ticks - 1)
        case Stuck(floor), Repair():
            return Waiting(floor - 1)
    return lift


def work() -> str:
    lift: Lift = Waiting(0)
    opened = 0
    stuck = 0
    floors = 0
    for i in range(15000):
        event: Event
        if i % 11 == 0:
            event = Call(i * 7 % 16)
        elif i % 23 == 0:
            event = Repair()
        else:
            event = Tick()
        lift = next_state(lift, event)
        floors += lift.floor
        match lift:
            case Open():
                opened += 1
            case Stuck():
                stuck += 1
    return f"{floors} {opened} {stuck}"
