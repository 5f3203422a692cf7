"""What an executor is for a machine, and what a machine is for an executor."""

from __future__ import annotations

from collections.abc import Callable

from concerto.annotating import Protocol
from concerto.vm.classes import ClassTable
from concerto.vm.dispatch import Methods, Surroundings
from concerto.vm.type_checks import TypeChecks
from concerto.vm.values import TypeValue, Value


class Executor(Protocol):
    """One of the two ways to run a function."""

    def function(self, index: int) -> Callable[..., Value]:
        """The function of an index as a callable; captures come first."""

    def give_methods(self, *, alone: bool) -> None:
        """Make methods of traits attributes of the classes of the types that have them, if it calls them so:
        its own functions if it is `alone`, else what finds those of whoever calls."""

    def cancel(self) -> None:
        """Make running code come to `Machine.poll` soon; called from any thread."""

    def revive(self) -> None:
        """Undo `cancel` when nothing runs any more."""


class Executed(Surroundings, Protocol):
    """What running code needs of its machine."""

    classes: ClassTable
    checks: TypeChecks
    methods: Methods

    def required_native(self, name: str) -> Callable[..., Value]: ...

    def type_value(self, type_index: int) -> TypeValue: ...

    def give_methods(self) -> None: ...

    def entry_left(self, function_index: int, pc: int) -> None:
        """Called where `main` is left."""

    def poll(self) -> None:
        """Called by running code every now and then; raises Cancelled if the run was told to stop."""
