"""The language server's side of the protocol: which question is answered where.

Every answer is made of the texts as they are when it is asked for: questions are answered in their order, on
one thread.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from concerto.language_server.definition import definition
from concerto.language_server.documents import Documents
from concerto.language_server.hover import hover
from concerto.language_server.positions import offset_at
from concerto.language_server.programs import EditedProgram, Programs
from concerto.language_server.publishing import Publisher
from concerto.source import Source
from concerto.version import __version__

R = TypeVar("R")


class ConcertoServer(LanguageServer):
    """The server and what it knows."""

    def __init__(self) -> None:
        super().__init__("concerto", __version__)
        self.documents = Documents()
        self.programs = Programs(self.documents)
        self.publisher = Publisher(
            self.documents, self.programs, self.text_document_publish_diagnostics, self.failed
        )

    def failed(self, what: str, error: Exception) -> None:
        """A mistake of ours: the editor's log has a line of it, and its user sees nothing."""
        message = f"{what}: {type(error).__name__}: {error}"
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, message))

    def report_server_error(self, error: Exception, source: Any) -> None:
        """What pygls found wrong with a message."""
        self.failed("message", error)

    def opened(self, uri: str) -> tuple[EditedProgram, Source] | None:
        """The program of a document, and its text there."""
        path = path_of(uri)
        program = None if path is None else self.programs.program_of(path)
        source = None if path is None or program is None else program.source(path)
        return None if program is None or source is None else (program, source)

    def update(self, uri: str) -> None:
        """Take over the text of a document from pygls."""
        path = path_of(uri)
        if path is not None:
            document = self.workspace.get_text_document(uri)
            self.documents.put(path, uri, document.version, document.source)
            self.publisher.changed(path)


def path_of(uri: str) -> Path | None:
    """The file of a URI; None for a text that is in no file."""
    path = to_fs_path(uri)
    return None if path is None else Path(path).absolute()


def serve() -> None:
    """Answer on standard input and output until the editor ends it. What is printed is not sent."""
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output, redirect_stdout(sys.stderr):
        make_server().start_io(sys.stdin.buffer, output)


def make_server() -> ConcertoServer:
    server = ConcertoServer()
    _follow_documents(server)
    _answer_at(server, types.TEXT_DOCUMENT_HOVER, hover)
    _answer_at(server, types.TEXT_DOCUMENT_DEFINITION, definition)
    gc.freeze()
    return server


def _follow_documents(server: ConcertoServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.update(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.update(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.publisher.changed()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        path = path_of(params.text_document.uri)
        if path is not None:
            server.documents.close(path)
            server.publisher.changed(path)

    @server.feature("concerto/settled")
    async def settled(params: Any) -> None:
        """Answered when no diagnostics are left to be published."""
        await server.publisher.settled()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed_on_disk(params: types.DidChangeWatchedFilesParams) -> None:
        server.publisher.changed()

    @server.feature(types.INITIALIZED)
    def initialized(params: types.InitializedParams) -> None:
        workspace = server.client_capabilities.workspace
        watching = None if workspace is None else workspace.did_change_watched_files
        if watching is None or not watching.dynamic_registration:
            return
        patterns = ("**/*.conc", "**/Concerto.toml", "**/Concerto.lock")
        options = types.DidChangeWatchedFilesRegistrationOptions(
            [types.FileSystemWatcher(pattern) for pattern in patterns]
        )
        watch = types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        server.client_register_capability(types.RegistrationParams([watch]))


def _answer_at(
    server: ConcertoServer, method: str, answer: Callable[[EditedProgram, Source, int], Any]
) -> None:
    """Register what answers a question about a place in a document."""

    def asked(params: types.TextDocumentPositionParams) -> Any:
        opened = server.opened(params.text_document.uri)
        if opened is None:
            return None
        program, source = opened
        return answer(program, source, offset_at(source, params.position))

    server.feature(method)(_guarded(server, method, asked))


def _guarded(server: ConcertoServer, method: str, asked: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """An answer that is never a traceback."""

    def guarded(params: Any) -> Any:
        try:
            return asked(params)
        except Exception as error:
            server.failed(method, error)
            return None

    return guarded
