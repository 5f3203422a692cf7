"""Stack traces: where a failure happened, in terms of the source, for people, and for tools that ask.

Both tiers leave what is needed on the exception: generated code in its Python traceback, the interpreter in
a list of the frames it left. Nothing is computed before somebody asks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import groupby
from types import CodeType, FrameType

from concerto.ir.module import ModuleIR
from concerto.records import record
from concerto.source import Source
from concerto.vm.python_tier import TIER, PythonTier, is_function

_LIBRARY = "std/"
_SHOWN = 10
"""Lines shown from either end of a long stack."""


@record(frozen=True)
class TraceFrame:
    """One call: where in the source it was. `line` and `column` count from 1, `end_column` is exclusive;
    `text` is the line."""

    function: str
    file: str
    line: int
    column: int
    end_column: int
    text: str


def source_trace(exception: BaseException) -> list[TraceFrame]:
    """The calls of the program that an exception came through, the outermost first."""
    places: list[tuple[ModuleIR, int, int]] = []
    trace = exception.__traceback__
    outer: CodeType | None = None
    last, before = None, 0
    while trace is not None:
        tier, code = trace.tb_frame.f_globals.get(TIER), trace.tb_frame.f_code
        if isinstance(tier, PythonTier) and (found := tier.places(code, trace.tb_lasti, outer)):
            # An error that was thrown again is in its frame twice; where it came from counts. A comprehension
            # tells what its function does too.
            if trace.tb_frame is last or not is_function(code):
                del places[before:]
            last, before = trace.tb_frame, len(places)
            places += [(tier.module, *place) for place in found]
        if is_function(code):
            outer = code
        trace = trace.tb_next
    places += reversed(getattr(exception, "frames", []))
    frames = [_frame(module, index, pc) for module, index, pc in places]
    return [frame for frame in frames if frame is not None]


def calling_place(frame: FrameType | None) -> tuple[ModuleIR, int, int] | None:
    """The function and the instruction in which the innermost of the program's calls stands that a Python
    frame is part of, before those of the library; none for a frame of nobody's."""
    innermost = None
    while frame is not None:
        for module, index, pc in _places_in(frame):
            found = module, index, pc
            file = module.functions[index].file
            if 0 <= file < len(module.files) and not module.files[file].path.startswith(_LIBRARY):
                return found
            innermost = innermost or found
        frame = frame.f_back
    return innermost


def _places_in(frame: FrameType) -> Iterator[tuple[ModuleIR, int, int]]:
    """The program's calls that stand in one Python frame, the innermost first."""
    tier = frame.f_globals.get(TIER)
    if isinstance(tier, PythonTier):
        outer = frame
        while not is_function(outer.f_code) and outer.f_back is not None:
            outer = outer.f_back
        for place in reversed(tier.places(frame.f_code, frame.f_lasti, outer.f_code)):
            yield tier.module, *place
    elif frame.f_code.co_name == "until_returned":
        # Loaded only if the name is of the interpreter's.
        from concerto.vm.interpreter import CallStack

        if frame.f_code is not CallStack.until_returned.__code__:
            return
        calls: CallStack = frame.f_locals["self"]
        for call in reversed(calls.frames):
            yield calls.machine.module, call.index, call.flat.origin[call.pc - 1]


def shown_place(module: ModuleIR, index: int, pc: int) -> str:
    """A place as `main.conc:3:5`; empty if it has none."""
    frame = _frame(module, index, pc)
    return "" if frame is None else _place(frame)


def _frame(module: ModuleIR, index: int, pc: int) -> TraceFrame | None:
    """The place of a frame in the source; None for a function that only the compiler wrote."""
    function = module.functions[index]
    if not 0 <= function.file < len(module.files):
        return TraceFrame(function.name, module.source_file, 1, 1, 1, "")
    file = module.files[function.file]
    place = bisect_right(function.positions, pc, key=lambda position: position.pc) - 1
    if place < 0:
        return TraceFrame(function.name, file.path, 1, 1, 1, "") if function.positions else None
    position = function.positions[place]
    source = Source(file.path, file.text)
    line, column = source.line_column(min(position.start, len(file.text)))
    text = source.line_text(line)
    end = min(column + max(position.end - position.start, 1), max(len(text) + 1, column + 1))
    return TraceFrame(function.name, file.path, line, column, end, text)


def frames_at(module: ModuleIR, place: tuple[int, int] | None) -> list[TraceFrame]:
    """A place in the program as a stack of one call."""
    frame = None if place is None else _frame(module, *place)
    return [] if frame is None else [frame]


def render_failure(exception: BaseException, message: str) -> str:
    """The message, the source line with a caret under the place, and the call stack."""
    return render_frames(source_trace(exception), message)


def render_frames(frames: list[TraceFrame], message: str) -> str:
    """As `render_failure`, of frames that were looked at."""
    return "\n".join([f"error: {message}", *located(frames), *_help(frames, message)]) + "\n"


def _help(frames: list[TraceFrame], message: str) -> list[str]:
    """What to write where `map[key] += 1` finds no key."""
    if not frames or not message.startswith("the map has no key"):
        return []
    text, start, end = frames[-1].text, frames[-1].column - 1, frames[-1].end_column - 1
    items, _, key = text[start:end].removesuffix("]").rpartition("[")
    sign = text[end:].lstrip()[:2]
    if not items or "]" in key or sign not in ("+=", "-=", "*=", "/="):
        return []
    return [f"help: begin with a value: `{items}[{key}] = ({items}.get({key}) ?? …) {sign[0]} …`"]


def located(frames: list[TraceFrame]) -> list[str]:
    """The lines that show the innermost call's source and the call stack; none without frames."""
    lines = _excerpt(frames[-1]) if frames else []
    if len(frames) > 1:
        lines.append("call stack, innermost first:")
        lines += _listed(list(reversed(frames)))
    return lines


def place_of(frames: list[TraceFrame]) -> dict[str, str]:
    """For an event: where the innermost call was, as `place`; empty without frames."""
    return {"place": _place(frames[-1])} if frames else {}


def _place(frame: TraceFrame) -> str:
    return f"{frame.file}:{frame.line}:{frame.column}"


def _excerpt(frame: TraceFrame) -> list[str]:
    number = str(frame.line)
    margin = " " * len(number)
    before = "".join(character if character == "\t" else " " for character in frame.text[: frame.column - 1])
    return [
        f"{margin} ┌─ {_place(frame)} in `{frame.function}`",
        f"{number} │ {frame.text}",
        f"{margin} │ {before}{'^' * (frame.end_column - frame.column)}",
    ]


def _listed(frames: list[TraceFrame]) -> list[str]:
    """A line for each frame, or for equal ones in a row; the middle of a long list is only counted."""
    shown = [f"  `{frame.function}` at {_place(frame)}" for frame in frames]
    runs = [(line, len(list(run))) for line, run in groupby(shown)]
    lines = [line if count == 1 else f"{line}, {count} times" for line, count in runs]
    if len(lines) <= 2 * _SHOWN:
        return lines
    left_out = sum(count for _, count in runs[_SHOWN:-_SHOWN])
    return [*lines[:_SHOWN], f"  … {left_out} more calls", *lines[-_SHOWN:]]
