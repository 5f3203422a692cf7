"""Calls of library functions by name, with a world that answers from a table."""

from __future__ import annotations

from typing import Any

import pytest

from concerto.vm.native import find_native
from concerto.vm.values import ErrorValue, Raised, Value


class FakeHost:
    """Answers effects with what `answers` holds for their class: a value, or an exception to raise."""

    def __init__(self, answers: dict[type, Any]) -> None:
        self.answers = answers
        self.asked: list[Any] = []
        self.printed: list[str] = []
        self.logged: list[tuple[str, str]] = []

    def perform(self, effect: Any) -> Value:
        self.asked.append(effect)
        answer = self.answers[type(effect)]
        if isinstance(answer, Exception):
            raise answer
        return answer(effect) if callable(answer) else answer

    def print(self, text: str) -> None:
        self.printed.append(text)

    def log(self, level: str, text: str) -> None:
        self.logged.append((level, text))

    def emitted(self) -> list[Value]:
        return [{"channel": "news", "payload": 1}]


class FakeMachine:
    def __init__(self, answers: dict[type, Any] | None = None) -> None:
        self.host = FakeHost(answers or {})


def call(name: str, *arguments: Any, machine: Any = None) -> Any:
    """What the library function gives for these values."""
    found = find_native(name)
    assert found is not None, f"no native {name}"
    return found.body(machine or FakeMachine(), *arguments) if found.machine else found.body(*arguments)


def failing(name: str, *arguments: Any, machine: Any = None) -> ErrorValue:
    """The error that the library function raises."""
    with pytest.raises(Raised) as caught:
        call(name, *arguments, machine=machine)
    assert isinstance(caught.value.value, ErrorValue)
    return caught.value.value


def err(result: Value) -> ErrorValue:
    """The error inside an Err."""
    assert type(result).__name__ == "Err"
    assert isinstance(result.value, ErrorValue)
    return result.value
