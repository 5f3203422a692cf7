"""A program as a module: what `concerto.load` gives."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from concerto.diagnostics.suggest import did_you_mean, suggest
from concerto.embedding.agents import LoadedAgent, LoadedPipeline
from concerto.embedding.calls import Loaded, LoadedFunction, LoadedStream, call_of, resolved_options
from concerto.embedding.conversions import Conversions
from concerto.embedding.surface import Surface
from concerto.ir.module import Export
from concerto.natives.agentbuilder import AgentBuilder
from concerto.program import Program
from concerto.runtime.run.options import ResolvedOptions, RunOptions
from concerto.runtime.run.run import Run
from concerto.vm.values import Value

if TYPE_CHECKING:
    from concerto.runtime.run.options import RunKeywords


class LoadedProgram(ModuleType):
    """A program's public functions, agents and types as attributes."""

    def __init__(self, program: Program, file: Path, options: RunKeywords) -> None:
        super().__init__(file.stem)
        self.__file__ = str(file)
        self.__program__ = program
        surface = Surface(program.module, program.classes)
        self._loaded = Loaded(program, surface, Conversions(surface, program.classes, file.stem))
        self._options = resolved_options(program, RunOptions(), options)
        self._loaded.warn(self._options)
        names = (surface.functions, surface.agents, surface.pipelines)
        self.__all__ = [*(name for each in names for name in each), *self._types(), *surface.aliases]

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
        if name in surface.agents:
            return LoadedAgent(loaded, self._options, AgentBuilder(surface.agents[name].name))
        if name in surface.pipelines:
            return LoadedPipeline(loaded, self._options, surface.pipelines[name])
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


def _function(loaded: Loaded, options: ResolvedOptions, export: Export) -> LoadedFunction | LoadedStream:
    def work(run: Run, values: list[Value]) -> Value:
        assert export.function is not None, "it was found to be callable"
        return run.machine.call(export.function, values)

    return call_of(loaded, options, export, work, loaded.error_giving(export.result))
