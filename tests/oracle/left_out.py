"""The programs of `tests/programs` that the oracle does not take, each with what it needs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

PROGRAMS: Final = Path(__file__).parents[1] / "programs"

LEFT_OUT: Final = {
    "agents/cache_keys.conc": "the world outside: @cache",
    "agents/cached_calls_at_once.conc": "the world outside: @cache",
    "agents/manifest_without_connections.conc": "the world outside: AgentCall",
    "agents/parts_from_files.conc": "the library's `std::fs::write_file`",
    "agents/tool_context.conc": "the world outside: a ToolContext",
    "concurrency/failures.conc": "the world outside: time",
    "concurrency/one_iterator.conc": "the world outside: time",
    "concurrency/panic.conc": "the world outside: time",
    "concurrency/tasks.conc": "the world outside: time",
    "concurrency/tasks_in_a_circle.conc": "the world outside: time",
    "concurrency/thrown.conc": "the world outside: time",
    "concurrency/trace.conc": "the world outside: time",
    "concurrency/values.conc": "the world outside: time",
    "declarations/partial_schemas.conc": "the library's `std::prelude::parse_schema`",
    "everything.conc": "the world outside: an answer to an emit",
    "hosts/listen.conc": "the world outside: Listen",
    "library/aliases.conc": "the library's `std::prelude::parse_schema`",
    "library/crypto_module.conc": "the library's `std::crypto::sha256`",
    "library/failures.conc": "the world outside: chance",
    "library/json_both_ways.conc": "the library's `std::json::parse_as`",
    "library/json_defaults.conc": "the library's `std::json::parse_as`",
    "library/json_of_keys.conc": "the library's `std::json::parse_as`",
    "library/json_of_tuples.conc": "the library's `std::json::parse_as`",
    "library/math_module.conc": "the world outside: chance",
    "library/parts_of_prompts.conc": "the library's `Part::image`",
    "library/regex_long_literals.conc": "the library's `std::regex::is_match`",
    "library/regex_module.conc": "the library's `std::regex::is_match`",
    "library/reading_by_type.conc": "the library's `std::prelude::parse_schema`",
    "library/reading_hard_cases.conc": "the library's `std::prelude::parse_schema`",
    "library/schemas.conc": "the library's `std::prelude::parse_schema`",
    "library/time_module.conc": "the world outside: time",
    "library/validators_everywhere.conc": "the library's `std::prelude::parse_schema`",
    "modules/tools_of_modules.conc": "the world outside: `FileTool::exists`",
    "pipelines/decorators.conc": "the world outside: @retry",
    "runtime_errors/denied_tool.conc": "the world outside: `Files::fetch`",
    "state/handles_behind_any.conc": "values of type Ledger",
    "state/kept_as_they_are.conc": "the world outside: files",
    "state/persistence.conc": "the world outside: files",
    "state/updates.conc": "the world outside: time",
    "state/updates_and_tasks.conc": "the world outside: time",
    "types/named_like_the_library.conc": "the library's `std::prelude::parse_schema`",
}
