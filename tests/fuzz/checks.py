"""What must hold of hostile input, by the names that the campaign and the tests use."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.fuzz import ir_files, mcp_messages, replies, sources

CHECKS: dict[str, Callable[[Random], None]] = {
    "source-parts": sources.parts_compile_and_run_alike,
    "source-bytes": sources.bytes_compile_and_run_alike,
    "ir-bytes": ir_files.bytes_are_refused_or_run,
    "ir-parts": ir_files.parts_are_refused_or_run,
    "ir-code": ir_files.code_is_refused_or_runs,
    "ir-declarations": ir_files.declarations_are_refused_or_run,
    "replies": replies.decoding_gives_replies_or_errors,
    "loops": replies.loops_end_in_answers_or_errors,
    "mcp-interfaces": mcp_messages.interfaces_are_read_or_refused,
    "mcp-results": mcp_messages.results_are_read_or_refused,
    "mcp-sessions": mcp_messages.sessions_end_in_values_or_errors,
    "mcp-real": mcp_messages.real_sessions_end_in_values_or_errors,
}
