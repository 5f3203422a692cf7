"""Publishes diagnostics: of an edited file at once, of all the others when there is a rest.

After a rest, what was published of a project is what `concertoc check` says of its folder; of a file without
a project, what it says of the file.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator
from pathlib import Path

from lsprotocol.types import Diagnostic, PublishDiagnosticsParams

from concerto.diagnostics import Problem, Problems
from concerto.language_server.diagnostics import diagnostic_of
from concerto.language_server.documents import Documents
from concerto.language_server.programs import Programs, problems_by_file
from concerto.manifest import FILE_NAME

_BURST_SECONDS = 0.03
_REST_SECONDS = 0.25
# Of edits that come without a rest: each may leave a whole program as garbage.
_MOST_UNCOLLECTED = 30


class Publisher:
    """What was published by now, and the work that is to be done. `failed` is told of our own mistakes."""

    def __init__(
        self,
        documents: Documents,
        programs: Programs,
        send: Callable[[PublishDiagnosticsParams], None],
        failed: Callable[[str, Exception], None],
    ) -> None:
        self._documents = documents
        self._programs = programs
        self._send = send
        self._failed = failed
        self._published: dict[Path, tuple[int | None, list[Diagnostic]]] = {}
        self._changed: dict[Path, None] = {}
        self._changes = 0
        self._uncollected = 0
        self._work: asyncio.Task[None] | None = None

    def changed(self, path: Path | None = None) -> None:
        """A file was opened, edited or closed; or one that is not open may have changed."""
        self._changes += 1
        if path is not None:
            self._changed[path] = None
        if self._work is None or self._work.done():
            self._work = asyncio.get_running_loop().create_task(self._publish())

    async def settled(self) -> None:
        """Waits until everything is published."""
        while self._work is not None and not self._work.done():
            await asyncio.wait([self._work])

    async def _publish(self) -> None:
        try:
            seen = -1
            while seen != self._changes:
                seen = self._changes
                # Who opens the first file does not type yet.
                await asyncio.sleep(_BURST_SECONDS if self._published else 0)
                if seen != self._changes:
                    continue
                changed, self._changed = self._changed, {}
                for path in changed:
                    self._publish_file(path)
                    await asyncio.sleep(0)
                await self._rest(seen)
                if seen == self._changes:
                    await self._publish_everything(seen)
                for _ in self._documents.save_trees() if seen == self._changes else ():
                    await asyncio.sleep(0)
                    if seen != self._changes:
                        break
        except Exception as error:
            self._failed("diagnostics", error)

    async def _rest(self, seen: int) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + _REST_SECONDS
        while seen == self._changes and loop.time() < end:
            await asyncio.sleep(_BURST_SECONDS)

    def _publish_file(self, path: Path) -> None:
        """What is wrong with an edited file, without what other files say of it."""
        if path not in self._documents.open or path.name == FILE_NAME:
            return
        manifest = self._programs.manifest_problems(path)
        program = None if manifest is not None and manifest.errors else self._programs.program_of(path)
        source = None if program is None else program.source(path)
        if program is not None and source is not None:
            program.check(source)
            self._tell(path, problems_by_file(program.problems()).get(path, []))
        self._uncollected += 1
        if self._uncollected > _MOST_UNCOLLECTED:
            self._collect()

    def _collect(self) -> None:
        self._uncollected = 0
        gc.collect()

    async def _publish_everything(self, seen: int) -> None:
        found: dict[Path, list[Problem]] = {}
        for path in list(self._documents.open):
            if path not in found:
                problems = Problems()
                for _ in self._check_with(path, problems):
                    await asyncio.sleep(0)
                    if seen != self._changes:
                        return
                found |= problems_by_file(problems) | {path: problems_by_file(problems).get(path, [])}
        for path in [*found, *(self._published.keys() - found.keys())]:
            self._tell(path, found.get(path, []))
        self._programs.forget_others()
        self._collect()

    def _check_with(self, path: Path, problems: Problems) -> Iterator[None]:
        """Add the problems of all that is checked together with a file, in small steps."""
        manifest = self._programs.manifest_problems(path)
        if manifest is not None and (manifest.errors or path.name == FILE_NAME):
            problems.add_all(manifest)
        if manifest is not None and manifest.errors:
            return
        for program in self._programs.checked_with(path):
            yield
            while program.check_next():
                yield
            problems.add_all(program.problems())

    def _tell(self, path: Path, problems: list[Problem]) -> None:
        document = self._documents.open.get(path)
        version = None if document is None else document.version
        diagnostics = [diagnostic_of(self._documents, problem) for problem in problems]
        if self._published.get(path) == (version, diagnostics):
            return
        if diagnostics or document is not None:
            self._published[path] = version, diagnostics
        else:
            self._published.pop(path, None)
        self._send(PublishDiagnosticsParams(self._documents.uri_of(path), diagnostics, version))
