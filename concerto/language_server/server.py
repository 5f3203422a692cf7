"""The language server's side of the protocol: which question is answered where.

Every answer is made of the texts as they are when it is asked for: questions are answered in their order, on
one thread.
"""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.uris import to_fs_path

from concerto.compiler.disk import SOURCE_SUFFIX
from concerto.language_server.actions import code_actions, fixes
from concerto.language_server.coloring import LEGEND, inlay_hints, semantic_tokens
from concerto.language_server.completion import complete_in
from concerto.language_server.definition import definition
from concerto.language_server.documents import Documents
from concerto.language_server.formatting import format_edits
from concerto.language_server.hover import hover
from concerto.language_server.names import name_at
from concerto.language_server.outline import (
    code_lenses,
    document_symbols,
    folding_ranges,
    workspace_symbols,
)
from concerto.language_server.positions import apply_change, offset_at
from concerto.language_server.programs import EditedProgram, Programs
from concerto.language_server.publishing import Publisher
from concerto.language_server.references import (
    CannotRename,
    highlights,
    locations,
    references,
    rename,
    renamed_range,
)
from concerto.language_server.signature_help import signature_help
from concerto.manifest import FILE_NAME
from concerto.source import Source
from concerto.version import __version__

R = TypeVar("R")


_REFUSALS = (types.LSPErrorCodes.RequestFailed, types.ErrorCodes.InvalidParams)


class _Protocol(LanguageServerProtocol):
    """That of pygls, which leaves a request unanswered whose parameters are not what they have to be, and
    whose texts have lines that end at form feeds and other separators too: the texts are in `Documents`."""

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Iterator[Any]:
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE], (params,), None

    def structure_message(self, data: dict[str, Any]) -> Any:
        try:
            message = super().structure_message(data)
        except JsonRpcException as wrong:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=wrong.to_response_error())
            raise
        if isinstance(message, types.InitializeRequest) and message.params.capabilities.general is not None:
            # Every editor has UTF-16, and pygls would agree to count in what it likes best.
            message.params.capabilities.general.position_encodings = None
        return message


class ConcertoServer(LanguageServer):
    """The server and what it knows."""

    def __init__(self) -> None:
        super().__init__("concerto", __version__, protocol_cls=_Protocol)
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
        """What pygls found wrong with a message; a refusal has been answered, and is no mistake."""
        if getattr(error, "code", None) not in _REFUSALS:
            self.failed("message", error)

    def opened(self, uri: str) -> tuple[EditedProgram, Source] | None:
        """The program of a document, and its text there."""
        path = path_of(uri)
        program = None
        if path is not None and path.name != FILE_NAME:
            program = self.programs.program_of(path)
        source = None if path is None or program is None else program.source(path)
        return None if program is None or source is None else (program, source)

    def manifest(self, uri: str) -> tuple[Path, Source] | None:
        """The text of a manifest; None of other documents."""
        path = path_of(uri)
        source = None if path is None or path.name != FILE_NAME else self.documents.source_of(path)
        return None if path is None or source is None else (path, source)

    def opened_document(self, document: types.TextDocumentItem) -> None:
        """Take over the text of a document."""
        path = path_of(document.uri)
        if path is not None:
            self.documents.put(path, document.uri, document.version, document.text)
            self.publisher.changed(path)

    def changed_document(self, params: types.DidChangeTextDocumentParams) -> None:
        """Take over the edits of an open document."""
        path = path_of(params.text_document.uri)
        known = None if path is None else self.documents.open.get(path)
        if path is None or known is None:
            return
        text = known.data.decode("utf-8", "surrogatepass")
        for change in params.content_changes:
            text = apply_change(text, change)
        self.documents.put(path, params.text_document.uri, params.text_document.version, text)
        self.publisher.changed(path)


def path_of(uri: str) -> Path | None:
    """The file of a URI; None for a text that is in no file."""
    path = to_fs_path(uri)
    return None if path is None else Path(path).absolute()


def serve() -> None:
    """Answer on standard input and output until the editor ends it. What is printed is not sent."""
    # Its tracebacks are of what `failed` tells the editor, who need not read the standard error.
    logging.getLogger("pygls").addHandler(logging.NullHandler())
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output, redirect_stdout(sys.stderr):
        make_server().start_io(sys.stdin.buffer, output)


def make_server() -> ConcertoServer:
    server = ConcertoServer()
    _follow_documents(server)
    _answer_at(server, types.TEXT_DOCUMENT_HOVER, hover, of_manifest=_hover_manifest)
    _answer_at(server, types.TEXT_DOCUMENT_DEFINITION, definition)
    _answer_at(server, types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, highlights)
    _complete(server)
    _answer_at(
        server,
        types.TEXT_DOCUMENT_SIGNATURE_HELP,
        signature_help,
        types.SignatureHelpOptions(trigger_characters=["(", ","]),
    )
    _answer_of(server, types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, lambda p, s, _: document_symbols(p, s))
    _answer_of(server, types.TEXT_DOCUMENT_FOLDING_RANGE, lambda p, s, _: folding_ranges(p, s))
    _answer_of(server, types.TEXT_DOCUMENT_CODE_LENS, lambda p, s, _: code_lenses(p, s))
    _answer_of(
        server, types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, lambda p, s, _: semantic_tokens(p, s), LEGEND
    )
    _answer_of(server, types.TEXT_DOCUMENT_INLAY_HINT, lambda p, s, params: inlay_hints(p, s, params.range))
    _answer_of(server, types.TEXT_DOCUMENT_FORMATTING, lambda p, s, _: format_edits(s))
    _answer_of(
        server, types.TEXT_DOCUMENT_RANGE_FORMATTING, lambda p, s, params: format_edits(s, params.range)
    )
    _answer_of(
        server,
        types.TEXT_DOCUMENT_CODE_ACTION,
        lambda p, s, params: code_actions(server.documents, p, s, params.range),
        types.CodeActionOptions([types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll]),
        of_manifest=lambda path, source, params: fixes(
            server.documents, source, server.programs.manifest_problems(path) or (), params.range
        ),
    )
    _rename(server)
    _find(server)
    gc.freeze()
    return server


def _follow_documents(server: ConcertoServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.opened_document(params.text_document)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.changed_document(params)

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
    server: ConcertoServer,
    method: str,
    answer: Callable[[EditedProgram, Source, int], Any],
    options: Any = None,
    of_manifest: Callable[[Source, int], Any] | None = None,
) -> None:
    """Register what answers a question about a place in a document."""

    def asked(params: types.TextDocumentPositionParams) -> Any:
        found = server.manifest(params.text_document.uri)
        if found is not None:
            place = offset_at(found[1], params.position)
            return None if of_manifest is None else of_manifest(found[1], place)
        opened = server.opened(params.text_document.uri)
        if opened is None:
            return None
        program, source = opened
        return answer(program, source, offset_at(source, params.position))

    server.feature(method, options)(_guarded(server, method, asked))


def _answer_of(
    server: ConcertoServer,
    method: str,
    answer: Callable[[EditedProgram, Source, Any], Any],
    options: Any = None,
    of_manifest: Callable[[Path, Source, Any], Any] | None = None,
) -> None:
    """Register what answers a question about a whole document, or a part of it."""

    def asked(params: Any) -> Any:
        found = server.manifest(params.text_document.uri)
        if found is not None:
            return None if of_manifest is None else of_manifest(*found, params)
        opened = server.opened(params.text_document.uri)
        return None if opened is None else answer(*opened, params)

    server.feature(method, options)(_guarded(server, method, asked))


def _hover_manifest(source: Source, offset: int) -> Any:
    from concerto.language_server.manifests import hover_manifest

    return hover_manifest(source, offset)


def _complete(server: ConcertoServer) -> None:
    def asked(params: types.CompletionParams) -> Any:
        path = path_of(params.text_document.uri)
        if path is not None and path.name == FILE_NAME:
            manifest = server.documents.source_of(path)
            if manifest is None:
                return None
            from concerto.language_server.manifests import complete_manifest

            programs = server.programs.checked_with(path)
            return complete_manifest(manifest, offset_at(manifest, params.position), programs)
        source = None if path is None else server.documents.source_of(path)
        if path is None or source is None:
            return None
        return complete_in(server.programs, path, offset_at(source, params.position))

    options = types.CompletionOptions(trigger_characters=[".", ":", "@", '"'])
    server.feature(types.TEXT_DOCUMENT_COMPLETION, options)(_guarded(server, "completion", asked))


def _rename(server: ConcertoServer) -> None:
    def prepare(params: types.PrepareRenameParams) -> Any:
        opened = server.opened(params.text_document.uri)
        if opened is None:
            return None
        program, source = opened
        return renamed_range(program, source, offset_at(source, params.position))

    def asked(params: types.RenameParams) -> Any:
        opened = server.opened(params.text_document.uri)
        path = path_of(params.text_document.uri)
        if opened is None or path is None:
            return None
        program, source = opened
        place = (program, source, offset_at(source, params.position))
        return rename(server.documents, server.programs.project_of(path), place, params.new_name)

    options = types.RenameOptions(prepare_provider=True)
    server.feature(types.TEXT_DOCUMENT_RENAME, options)(_guarded(server, "rename", asked))
    server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)(_guarded(server, "rename", prepare))


def _find(server: ConcertoServer) -> None:
    def found_references(params: types.ReferenceParams) -> Any:
        opened = server.opened(params.text_document.uri)
        path = path_of(params.text_document.uri)
        if opened is None or path is None:
            return None
        program, source = opened
        name = name_at(program, source, offset_at(source, params.position))
        if name is None:
            return None
        found = references(
            server.programs.project_of(path), name, declaration=params.context.include_declaration
        )
        return locations(server.documents, found)

    def found_symbols(params: types.WorkspaceSymbolParams) -> Any:
        programs = {
            program: None
            for path in server.documents.open
            if path.suffix == SOURCE_SUFFIX
            for program in server.programs.project_of(path)
        }
        return workspace_symbols(server.documents, programs, params.query)

    server.feature(types.TEXT_DOCUMENT_REFERENCES)(_guarded(server, "references", found_references))
    server.feature(types.WORKSPACE_SYMBOL)(_guarded(server, "symbols", found_symbols))


def _guarded(server: ConcertoServer, method: str, asked: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """An answer that is never a traceback."""

    def guarded(params: Any) -> Any:
        try:
            return asked(params)
        except CannotRename as reason:
            raise JsonRpcException(str(reason), types.LSPErrorCodes.RequestFailed) from None
        except Exception as error:
            server.failed(method, error)
            return None

    return guarded
