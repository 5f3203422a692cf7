"""Concerto: a statically typed language for agents, compiled to bytecode and run by a VM.

The Python API: `compile_file` and `compile_source` give a `Program` or raise `CompileError`;
`Runtime(program).run()` runs it and gives a `RunResult`; `load` gives a program as a module with typed
functions, agents and types. `tool` marks Python functions and classes as tools,
a `ToolInjectionStrategy` offers more tools while an agent works, `concerto.testing` has what tests need.
The names load on first use, so that importing the package, or running cached code, does not pay for the
compiler.
"""

from concerto.version import __version__

TYPE_CHECKING = False  # As in `typing`, which a start need not load this early.

if TYPE_CHECKING:
    from concerto.compiler import CompileError, compile_file, compile_source
    from concerto.embedding import load
    from concerto.embedding.calls import RunError
    from concerto.embedding.models import ErrorInfo, ErrResult, OkResult
    from concerto.embedding.parts import Part
    from concerto.journal.settling import CannotResume, Decision
    from concerto.natives.memory import Memory
    from concerto.program import Event, Program, Runtime
    from concerto.runtime.agents.injections import InjectionContext, ToolInjectionStrategy
    from concerto.runtime.run.options import RunOptions
    from concerto.runtime.run.reporting import RunResult
    from concerto.runtime.tools.python_tools import idempotency_key, tool
    from concerto.stored_runs import RunStore, StoredRun, open_store

__all__ = [
    "CannotResume",
    "CompileError",
    "Decision",
    "ErrResult",
    "ErrorInfo",
    "Event",
    "InjectionContext",
    "Memory",
    "OkResult",
    "Part",
    "Program",
    "RunError",
    "RunOptions",
    "RunResult",
    "RunStore",
    "Runtime",
    "StoredRun",
    "ToolInjectionStrategy",
    "__version__",
    "compile_file",
    "compile_source",
    "idempotency_key",
    "load",
    "open_store",
    "tool",
]

_HOMES = {
    "CannotResume": "concerto.journal.settling",
    "CompileError": "concerto.compiler",
    "Decision": "concerto.journal.settling",
    "ErrResult": "concerto.embedding.models",
    "ErrorInfo": "concerto.embedding.models",
    "Event": "concerto.program",
    "InjectionContext": "concerto.runtime.agents.injections",
    "Memory": "concerto.natives.memory",
    "OkResult": "concerto.embedding.models",
    "Part": "concerto.embedding.parts",
    "Program": "concerto.program",
    "RunError": "concerto.embedding.calls",
    "RunOptions": "concerto.runtime.run.options",
    "RunResult": "concerto.runtime.run.reporting",
    "RunStore": "concerto.stored_runs",
    "Runtime": "concerto.program",
    "StoredRun": "concerto.stored_runs",
    "ToolInjectionStrategy": "concerto.runtime.agents.injections",
    "compile_file": "concerto.compiler",
    "compile_source": "concerto.compiler",
    "idempotency_key": "concerto.runtime.tools.python_tools",
    "load": "concerto.embedding",
    "open_store": "concerto.stored_runs",
    "tool": "concerto.runtime.tools.python_tools",
}

# Type checkers see the imports above; this would let any name pass them.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from importlib import import_module

        home = _HOMES.get(name)
        if home is None:
            from concerto.diagnostics import did_you_mean, suggest

            near = "load" if name in ("run", "run_file", "load_file", "Agent") else suggest(name, __all__)
            hint = f"; {did_you_mean(near)}" if near and not name.startswith("_") else ""
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
        return getattr(import_module(home), name)

    def __dir__() -> list[str]:
        return __all__
