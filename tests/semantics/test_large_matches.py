"""A `match` that is too large to be decided is never taken for complete."""

from __future__ import annotations

from concerto.diagnostics import Problems
from concerto.semantics import check_program
from concerto.source import Source
from concerto.syntax.parser import parse
from tests.semantics.checking import Files


def _problems(count: int, last: str) -> list[str]:
    """What is said of a `match` over Options whose arms cover everything, but only all of them together: in a
    ring of values some follower differs, or none does."""
    stride = count // 2
    ring = ({place: "None", (place + stride) % count: "Some(_)"} for place in range(count))
    arms = [", ".join(each.get(place, "_") for place in range(count)) for each in ring]
    arms.append(", ".join(["None"] * count))
    text = f"""
        fn f(options: ({", ".join(["Option<Int>"] * count)})) -> Int {{
            match options {{ {" ".join(f"({arm}) => 1," for arm in arms)} {last} }}
        }}
    """
    problems = Problems()
    check_program(parse(Source("main.conc", text), problems), Files(), problems)
    return [f"{problem.code} {problem.message}" for problem in problems]


def _some(count: int) -> str:
    return f"({', '.join(['Some(_)'] * count)})"


def test_the_arms_cover_everything_together() -> None:
    assert _problems(5, f"{_some(5)} => 2") == []
    assert _problems(5, "") == [f"E0304 `match` does not cover `{_some(5)}`"]


def test_what_cannot_be_decided_is_refused() -> None:
    undecided = "E0304 this `match` is too large to be sure that it covers every value"
    assert _problems(41, f"{_some(41)} => 2") == [undecided]
    assert _problems(41, "_ => 2") == []


def test_one_arm_for_each_of_many_values_is_decided() -> None:
    count = 60
    arms = [", ".join("None" if place == here else "_" for place in range(count)) for here in range(count)]
    text = f"""
        fn f(options: ({", ".join(["Option<Int>"] * count)})) -> Int {{
            match options {{ {" ".join(f"({arm}) => 1," for arm in arms)} {_some(count)} => 2 }}
        }}
    """
    problems = Problems()
    check_program(parse(Source("main.conc", text), problems), Files(), problems)
    assert list(problems) == []
