"""A program as a module: what `concerto.load` gives."""

from __future__ import annotations

import copyreg
import operator
from pathlib import Path
from pickle import UnpicklingError
from types import ModuleType
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from concerto.diagnostics import Problems
from concerto.diagnostics.suggestions import did_you_mean, suggest
from concerto.embedding.agents import LoadedAgent, LoadedPipeline
from concerto.embedding.calls import (
    Loaded,
    LoadedFunction,
    LoadedStream,
    OfProcess,
    OwnSessions,
    call_of,
)
from concerto.embedding.conversions import Conversions
from concerto.embedding.models import EnumKind, ModelType, VariantsKind
from concerto.embedding.surface import Surface
from concerto.ir.module import Agent, Export, ExportedMethod
from concerto.natives.agentbuilder import AgentBuilder
from concerto.program import Program
from concerto.runtime.run.options import ResolvedOptions, RunOptions
from concerto.runtime.run.run import Run
from concerto.vm.values import Value

if TYPE_CHECKING:
    from concerto.runtime.run.options import RunKeywords


_PROGRAMS: WeakValueDictionary[str, LoadedProgram] = WeakValueDictionary()
"""The program of a file that was loaded last."""
_UNPICKLED: dict[str, LoadedProgram] = {}
"""Programs that nobody but pickle has loaded."""


def load_program(file: Path, options: RunKeywords) -> LoadedProgram:
    """A program of source or of IR."""
    from concerto.compiler import CompileError, compile_file
    from concerto.compiler.compiled import load_compiled

    if file.suffix == ".conc-ir":
        problems = Problems()
        found = load_compiled(file, problems)
        if found is None:
            raise CompileError(problems)
        return LoadedProgram(found, file, options)
    return LoadedProgram(compile_file(file, tools=options.get("tools") or {}), file, options)


class LoadedProgram(OfProcess, ModuleType):
    """A program's public functions, agents and types as attributes."""

    def __init__(self, program: Program, file: Path, options: RunKeywords) -> None:
        super().__init__(file.stem)
        self.__file__ = str(file)
        self.__program__ = program
        surface = Surface(program.module, program.classes)
        self._loaded = Loaded(program, surface, Conversions(surface, program.classes, file), OwnSessions())
        self._options = self._loaded.resolved(RunOptions(), options)
        self._loaded.warn(self._options)
        _PROGRAMS[str(file.absolute())] = self
        self.__all__ = [
            *surface.functions,
            *surface.agents,
            *surface.pipelines,
            *surface.modules,
            *self._types(),
            *surface.aliases,
        ]

    def _types(self) -> list[str]:
        return [named.name for named in self._loaded.surface.types.values()]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = self._make(name)
        setattr(self, name, made)
        return made

    def _make(self, name: str) -> Any:
        loaded, surface = self._loaded, self._loaded.surface
        if name in surface.functions:
            return _function(loaded, self._options, surface.functions[name])
        member = surface.agents.get(name) or surface.pipelines.get(name) or surface.modules.get(name)
        if member is not None:
            return _member(loaded, self._options, member)
        if name in surface.aliases:
            return loaded.conversions.models.type_of(surface.aliases[name])
        for key, named in surface.types.items():
            if named.name == name:
                return loaded.conversions.models.classes[key]
        raise AttributeError(self._unknown(name))

    def _unknown(self, name: str) -> str:
        if any(function.name == name for function in self.__program__.module.functions):
            return f"`{name}` is not public in `{self.__file__}`: write `pub fn {name}`"
        near = did_you_mean(
            suggest(name, self.__all__), f"it has {', '.join(self.__all__) or 'nothing public'}"
        )
        return f"`{self.__file__}` has no public `{name}`; {near}"

    def __dir__(self) -> list[str]:
        return self.__all__

    def __repr__(self) -> str:
        return f"<Concerto program {self.__file__!r}>"


class LoadedModule(OfProcess):
    """A module's agents and pipelines."""

    def __init__(self, loaded: Loaded, options: ResolvedOptions, path: str) -> None:
        self._loaded = loaded
        self._options = options
        self.__name__ = path

    def __getattr__(self, name: str) -> Any:
        members = self._loaded.surface.members(self.__name__)
        if name not in members:
            near = did_you_mean(
                suggest(name, members), f"a function needs `pub use {self.__name__}::{name}` in the root"
            )
            raise AttributeError(f"the module `{self.__name__}` has no agent or pipeline `{name}`; {near}")
        made = _member(self._loaded, self._options, members[name])
        setattr(self, name, made)
        return made

    def __dir__(self) -> list[str]:
        return list(self._loaded.surface.members(self.__name__))

    def __repr__(self) -> str:
        return f"<Concerto module {self.__name__}>"


def _member(
    loaded: Loaded, options: ResolvedOptions, member: Agent | ExportedMethod | str
) -> LoadedAgent | LoadedPipeline | LoadedModule:
    match member:
        case str():
            return LoadedModule(loaded, options, member)
        case ExportedMethod():
            return LoadedPipeline(loaded, options, member)
        case _:
            return LoadedAgent(loaded, options, AgentBuilder(member.name))


def _function(loaded: Loaded, options: ResolvedOptions, export: Export) -> LoadedFunction | LoadedStream:
    def work(run: Run, values: list[Value]) -> Value:
        assert export.function is not None, "it was found to be callable"
        return run.machine.call(export.function, values)

    return call_of(loaded, options, export, work, loaded.error_giving(export.result))


def class_of(file: str, name: str) -> Any:
    """A type of the program of a file, for pickle: of the one that was loaded, or else without options."""
    from concerto.compiler import CompileError

    program = _PROGRAMS.get(file)
    try:
        program = program or _UNPICKLED.setdefault(file, load_program(Path(file), {}))
        return operator.attrgetter(name)(program)
    except (OSError, AttributeError, CompileError) as error:
        advice = "load it, with its tools, before what was pickled is read"
        raise UnpicklingError(f"there is no type `{name}` of `{file}`: {error}; {advice}") from error


def _reduced(type_: Any) -> Any:
    """How pickle writes down a type."""
    known = vars(type_).get("__concerto__")
    if known is not None:
        return class_of, known
    generic = vars(type_).get("__pydantic_generic_metadata__") or {}
    if "__concerto__" in vars(generic.get("origin") or object):
        return operator.getitem, (generic["origin"], generic["args"])
    return type_.__qualname__


for kind in (ModelType, EnumKind, VariantsKind):
    copyreg.pickle(kind, _reduced)
