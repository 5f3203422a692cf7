"""Name resolution: what a path such as `shapes::Shape::Circle` means, locals aside (E0201, E0204, E0502,
E0503)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from concerto.diagnostics import (
    Advice,
    NotExported,
    PrivateName,
    UnknownMember,
    UnknownName,
    did_you_mean,
)
from concerto.semantics.model.builtins import WRAPPING
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import (
    AgentSymbol,
    AliasSymbol,
    BuiltinSymbol,
    EnumSymbol,
    Generic,
    GenericSymbol,
    McpSymbol,
    ModuleSymbol,
    Named,
    PipelineSymbol,
    StructSymbol,
    Symbol,
    ToolSymbol,
    TraitSymbol,
    Type,
)
from concerto.semantics.typing.members import find_associated, find_trait_function, member_names
from concerto.semantics.typing.type_expressions import (
    advice_on_constant,
    advice_on_foreign,
    alias_type,
    declared_type,
)
from concerto.syntax import ast
from concerto.wording import listed

_FOREIGN = {
    "null": "`nil`, or `None` for an Option",
    "undefined": "`nil`, or `None` for an Option",
    "NULL": "`nil`, or `None` for an Option",
    "True": "`true`",
    "False": "`false`",
    "this": "`self`",
    "console": "`println(…)`",
    "printf": "`println(…)`",
    "puts": "`println(…)`",
    "echo": "`println(…)`",
    "str": "`to_string(…)` or `${…}`",
    "raise": "`throw`",
    "int": "`text.parse_int()?` for a String, `x as Int` for a Float",
    "parseInt": "`text.parse_int()?` for a String, `x as Int` for a Float",
    "float": "`text.parse_float()?` for a String, `n as Float` for an Int",
    "parseFloat": "`text.parse_float()?`",
    "range": "`0..n`, without its end, or `0..=n`, with it",
    "len": "`items.len()`",
    "sorted": "`items.sort()`",
    "reversed": "`items.reverse()`",
    "enumerate": "`items.enumerate()`",
    "zip": "`items.zip(others)`",
    "fetch": "`use std::http;` at the top of the file, and `http::get(url)`",
    "requests": "`use std::http;` at the top of the file, and `http::get(url)`",
    "setTimeout": "`use std::time;` at the top of the file, and `time::sleep(ms)`",
    "Math": "`use std::math;` at the top of the file, and `math::floor(x)`",
    "JSON": "`use std::json;` at the top of the file, and `json::parse(text)`",
    "Promise": "`await (a(), b())` for all, `race (a(), b())` for the first",
    "asyncio": "`await (a(), b())` for all, `race (a(), b())` for the first",
    **dict.fromkeys(
        ("Box", "Rc", "Arc", "Cell", "RefCell", "Mutex"), "the value alone; it is copied when needed"
    ),
    **dict.fromkeys(("HashSet", "BTreeSet", "set"), "`Set::new()`, or `Set::from(items)`"),
    "Vec": "`[]`, with its type where nothing says it: `let items: Array<T> = []`",
    "List": "`[]`, with its type where nothing says it: `let items: Array<T> = []`",
    **dict.fromkeys(("dict", "Dict", "BTreeMap"), "`{}`, with its type: `let map: Map<String, Int> = {}`"),
    "max": "`a.max(b)`, or `items.max()`",
    "min": "`a.min(b)`, or `items.min()`",
    "sum": "`items.sum()`",
    "abs": "`x.abs()`",
    "any": "`items.any(|item| …)`",
    "all": "`items.all(|item| …)`",
    "map": "`items.map(|item| …)`",
    "filter": "`items.filter(|item| …)`",
    "isinstance": "`typeof(value) == …` for an Any, or `match` on an `enum`",
    "open": "`use std::fs;` at the top of the file, and `fs::read_file(path)?`",
    "pass": "`{}`, an empty block",
    "Date": "`use std::time;` at the top of the file, and `time::now()`",
    "Object": "the methods of the map: `map.keys()`, `map.values()`, `map.entries()`",
    "Error": 'the error itself: `throw "what went wrong"`',
    "Exception": 'the error itself: `throw "what went wrong"`',
    **dict.fromkeys(
        ("thread", "tokio", "threading", "ThreadPoolExecutor", "create_task"),
        "`spawn f()`, or `parallel for item in items { … }`",
    ),
    **dict.fromkeys(
        ("gather", "join_all", "parallel", "concurrent", "all_of"),
        "`await (a(), b())`, or `parallel for item in items { … }`",
    ),
    **dict.fromkeys(
        ("input", "read_line", "readline", "readLine", "prompt", "confirm", "stdin"),
        '`let answer: String = await emit("ask", "Your name?")?;`, which asks whoever runs the program',
    ),
    **dict.fromkeys(
        ("Agent", "AssistantAgent", "LLM", "OpenAI", "ChatOpenAI", "Anthropic", "create_react_agent", "llm"),
        '`agent Name { provider: openai, model: "…" }` outside of functions, and `Name.execute(prompt)`',
    ),
    **dict.fromkeys(
        ("Tool", "FunctionTool", "BaseTool", "StructuredTool"),
        '`tool Name { description: "…", @describe("…") pub fn … }` outside of functions',
    ),
    **dict.fromkeys(
        ("Graph", "StateGraph", "Workflow", "Pipeline", "Chain", "Crew"),
        "`pipeline Name(input: T) -> U { stage first(input: T) -> U { … } }` outside of functions",
    ),
    **dict.fromkeys(
        ("MCPServer", "MCPServerStdio", "MCPClient", "McpClient"),
        '`mcp Name { command: "…", args: ["…"], fn … }` outside of functions',
    ),
    **dict.fromkeys(("BaseModel", "TypedDict"), "`schema Name { field: T }` outside of functions"),
    **dict.fromkeys(
        ("mock", "patch", "MagicMock", "Mock", "TestModel"), '`mock Name { response: "…" }` in a `@test`'
    ),
    **dict.fromkeys(("expect", "assertEqual", "assert_equal", "assertEquals"), "`assert_eq(left, right)`"),
    **dict.fromkeys(("assertTrue", "assert_true", "assertThat"), "`assert(condition)`"),
    **dict.fromkeys(
        ("exit", "quit", "sys", "process"),
        "`return` in `main`; a failure is the `Err` of `main`, or a `panic`",
    ),
    **dict.fromkeys(("os", "getenv"), '`env("NAME")`, an Option'),
    **dict.fromkeys(
        ("datetime", "Instant", "Duration"), "`use std::time;` at the top of the file, and `time::now()`"
    ),
    **dict.fromkeys(
        ("logging", "logger", "eprintln", "dbg"),
        "`use std::log;` at the top of the file, and `log::info(value)`",
    ),
    **dict.fromkeys(
        ("re", "Regex"), "`use std::regex;` at the top of the file, and `regex::find(pattern, text)`"
    ),
    **dict.fromkeys(
        ("File", "read_file", "Path", "pathlib"),
        "`use std::fs;` at the top of the file, and `fs::read_file(path)?`",
    ),
    **dict.fromkeys(
        ("subprocess", "Command"),
        "`use std::tools;` at the top of the file, and `tools::ShellTool.exec(command)?`",
    ),
    "crate": "the path without `crate::`: it begins at the root of the project",
    **dict.fromkeys(
        ("rand", "randint", "uuid4"),
        "`use std::math;` at the top of the file, and `math::random_int(low, high)`",
    ),
    **dict.fromkeys(
        ("on", "subscribe", "on_event"), "`runtime.on(channel, f)` in Python; a program emits alone"
    ),
    **dict.fromkeys(
        ("timeout", "with_timeout", "wait_for"),
        "`@timeout(seconds: 30)` before an agent, a tool method or a stage; `race (f(), g())`, the first",
    ),
    "list": "`[]`, or `to_array()`",
    "type": "`typeof(value)`",
}
"""What the names of other languages are called here."""

_EXPORTS = {
    **dict.fromkeys(
        ("std::fs::read_to_string", "std::fs::open", "std::fs::readFileSync", "std::fs::read_text"),
        "read_file",
    ),
    **dict.fromkeys(("std::fs::read_dir", "std::fs::listdir", "std::fs::readdir"), "list_dir"),
    **dict.fromkeys(("std::fs::unlink", "std::fs::delete"), "remove_file"),
    "std::fs::append": "append_file",
    **dict.fromkeys(
        ("std::fs::mkdir", "std::fs::create_dir", "std::fs::create_dir_all"),
        '`tools::ShellTool.exec("mkdir -p …")?`, with `use std::tools;`',
    ),
    **dict.fromkeys(("std::json::loads", "std::json::from_str", "std::json::decode"), "parse"),
    **dict.fromkeys(
        ("std::json::dumps", "std::json::to_string", "std::json::encode", "std::json::serialize"), "stringify"
    ),
    **dict.fromkeys(("std::env::var", "std::env::getenv"), "get"),
    "std::env::args": "`fn main(args: Array<String>)`, which gets them",
    "std::http::fetch": "get",
    **dict.fromkeys(("std::http::Client", "std::http::Session"), "`http::get(url)?` alone"),
    "std::regex::match": "is_match",
    "std::regex::search": "find",
    "std::regex::findall": "find_all",
    "std::regex::sub": "replace",
    **dict.fromkeys(("std::regex::Regex", "std::regex::compile"), "`regex::find(pattern, text)` alone"),
    **dict.fromkeys(
        ("std::time::time", "std::time::monotonic", "std::time::unix", "std::time::Instant"), "now_ms"
    ),
    **dict.fromkeys(
        ("std::time::today", "std::time::format", "std::time::strftime"),
        "`time::now().slice(0, 10)`, the day",
    ),
    "std::time::sleep_ms": "sleep",
    "std::time::Duration": "the milliseconds as an Int: `time::sleep(500)`",
    "std::math::randint": "random_int",
    "std::math::log": "ln",
}
"""What the members of other libraries are called in ours, by the path of its module."""


_MODULES_OF_RUST: Final = {
    **dict.fromkeys(
        ("cmp", "ops", "convert", "hash", "iter", "error", "str", "vec", "default", "any"),
        "leave the `use` out: what there is of it is known everywhere",
    ),
    **dict.fromkeys(
        ("rc", "sync", "cell", "boxed", "borrow", "mem"),
        "leave the `use` out: values are copied when needed, there are no pointers",
    ),
    **dict.fromkeys(("f32", "f64"), "`math::pi` and the like are in `std::math`"),
    "thread": "write `spawn f()`, or `parallel for item in items { … }`",
    "io": "`println(…)` is known everywhere, files are in `std::fs`",
    "process": "write `tools::ShellTool.exec(command)?`, with `use std::tools;`",
}


def advice_on_library(declarations: Declarations, name: str) -> str:
    """What to write for a module that the standard library has not."""
    near = declarations.problems.nearest(name, declarations.library_names())
    return _MODULES_OF_RUST.get(name) or did_you_mean(near and f"std::{near}")


def resolve_path(
    declarations: Declarations, segments: Sequence[ast.Ident], scope: TypeScope, extra: Iterable[str] = ()
) -> Symbol | None:
    """What a path means; reports E0201, E0204, E0502 or E0503 and gives None. `extra` are further names
    (locals) for the suggestion."""
    found = _first(declarations, segments, scope, extra)
    for index in range(1, len(segments)):
        if found is None:
            return None
        declarations.note(scope.module, segments[index - 1], found)
        segment = segments[index]
        if isinstance(found, ModuleSymbol):
            found = _in_module(declarations, found, segment, scope)
            continue
        trait = _trait_step(declarations, found, segment, scope) if index + 2 == len(segments) else None
        if trait is not None:
            declarations.note(scope.module, segment, trait)
            found = _through_trait(declarations, found, trait, segments[index + 1], scope)
            break
        found = _associated(declarations, found, segment, scope)
    declarations.note(scope.module, segments[-1], found)
    return found


def _first(
    declarations: Declarations, segments: Sequence[ast.Ident], scope: TypeScope, extra: Iterable[str]
) -> Symbol | None:
    segment = segments[0]
    name = segment.text
    if name == "Self" and scope.self_type is not None:
        return type_symbol(scope.self_type)
    if len(segments) > 1:
        start = start_of(declarations, segment, scope)
        if start is not None:
            return start
    found = declarations.lookup(name, scope)
    if found is None and not declarations.is_broken(name, scope):
        after = segments[1].text if len(segments) > 1 else ""
        _report_unknown_name(declarations, segment, scope, extra, after)
    return found


def start_of(declarations: Declarations, segment: ast.Ident, scope: TypeScope) -> ModuleSymbol | None:
    """`self::`, `super::`, `std::` at the head of a path."""
    match segment.text:
        case "self":
            return _outside_blocks(scope.module)
        case "super":
            return declarations.modules.parent_of(_outside_blocks(scope.module))
        case "std":
            return declarations.standard_library()
        case _:
            return None


def _outside_blocks(module: ModuleSymbol) -> ModuleSymbol:
    while module.block and module.parent is not None:
        module = module.parent
    return module


def type_symbol(type_: Type) -> Symbol | None:
    """The symbol of a type that has a name."""
    match type_:
        case Named() | Generic():
            return type_.symbol
        case _:
            return None


def _in_module(
    declarations: Declarations, module: ModuleSymbol, segment: ast.Ident, scope: TypeScope
) -> Symbol | None:
    name = segment.text
    if name == "super":
        return declarations.modules.parent_of(module)
    if module is declarations.standard_library():
        library = declarations.library_module(name)
        if library is None:
            help_ = advice_on_library(declarations, name)
            message = f"the standard library has no module `{name}`"
            declarations.report(NotExported, scope.module, segment, message, help=help_)
        return library
    declarations.modules.mention(scope.module, module)
    found = declarations.modules.member(module, name)
    if found is None:
        if name in module.broken:
            return None
        found = declarations.modules.load_below(scope.module, module, segment)
        if found is None:
            report_not_exported(declarations, scope.module, module, segment)
        return found
    if not (
        declarations.modules.is_inside(scope.module, module) or declarations.modules.is_exported(module, name)
    ):
        report_private(declarations, scope.module, module, segment, found)
    return found


def _trait_step(
    declarations: Declarations, found: Symbol, segment: ast.Ident, scope: TypeScope
) -> TraitSymbol | None:
    """`Type::Trait::f`: the segment in the middle names a trait that can be seen here."""
    if not isinstance(found, StructSymbol | EnumSymbol | BuiltinSymbol | GenericSymbol):
        return None
    trait = declarations.lookup(segment.text, scope)
    return trait if isinstance(trait, TraitSymbol) else None


def _through_trait(
    declarations: Declarations, target: Symbol, trait: TraitSymbol, segment: ast.Ident, scope: TypeScope
) -> Symbol | None:
    assert isinstance(target, StructSymbol | EnumSymbol | BuiltinSymbol | GenericSymbol)
    type_ = Generic(target) if isinstance(target, GenericSymbol) else declared_type(target)
    match = find_trait_function(declarations, type_, trait, (), segment.text)
    if match is not None:
        return match.function
    near = declarations.problems.nearest(segment.text, trait.methods)
    help_ = did_you_mean(near)
    message = f"`{target.name}` has no function `{trait.name}::{segment.text}`"
    declarations.report(UnknownMember, scope.module, segment, message, help=help_)
    return None


def _associated(
    declarations: Declarations, found: Symbol, segment: ast.Ident, scope: TypeScope
) -> Symbol | None:
    if isinstance(found, AliasSymbol):
        target = type_symbol(alias_type(declarations, found))
        return _associated(declarations, target, segment, scope) if target is not None else None
    if isinstance(found, EnumSymbol) and segment.text in found.by_name:
        return found.by_name[segment.text]
    if isinstance(found, StructSymbol | EnumSymbol):
        constant = declarations.type_constants.get(found, {}).get(segment.text)
        if constant is not None:
            return constant
    match = find_associated(declarations, found, segment.text)
    if match is not None:
        return match.function
    if isinstance(found, EnumSymbol):
        report_unknown_variant(declarations, scope.module, found, segment)
    else:
        _report_unknown_member(declarations, found, segment, scope)
    return None


# --- Reports ------------------------------------------------------------------------------------


def _report_unknown_member(
    declarations: Declarations, found: Symbol, segment: ast.Ident, scope: TypeScope
) -> None:
    match found:
        case StructSymbol() | BuiltinSymbol():
            names, what = member_names(declarations, declared_type(found)), f"type `{found.name}`"
        case GenericSymbol():
            names, what = member_names(declarations, Generic(found)), f"type `{found.name}`"
        case ToolSymbol() | McpSymbol() | AgentSymbol() | TraitSymbol():
            kind = type(found).__name__.removesuffix("Symbol").lower()
            names, what = list(found.methods), f"{kind} `{found.name}`"
        case _:
            names, what = [], f"`{found.name}`"
    near = declarations.problems.nearest(segment.text, names)
    help_ = did_you_mean(near)
    if isinstance(found, PipelineSymbol):
        help_ = f"run it: `{found.name}.run(…)`"
    declarations.report(
        UnknownMember, scope.module, segment, f"{what} has no function `{segment.text}`", help=help_
    )


def _report_unknown_name(
    declarations: Declarations, segment: ast.Ident, scope: TypeScope, extra: Iterable[str], after: str
) -> None:
    help_ = _advice_on_name(declarations, segment.text, scope, extra, after)
    declarations.report(UnknownName, scope.module, segment, f"unknown name `{segment.text}`", help=help_)


def _advice_on_name(
    declarations: Declarations, name: str, scope: TypeScope, extra: Iterable[str], after: str
) -> str:
    """`after` is what follows behind `::`, if anything does."""
    if _is_variable_around(name, scope.module):
        return "a function sees no variables of the one around it; a closure does: `let name = |x| …;`"
    if after and declarations.library_module(name) is not None:
        return Advice(f"add `use std::{name};` at the top of the file", use=f"std::{name}")
    if after and declarations.modules.load_file(name) is not None:
        return Advice(f"add `use {name};` at the top of the file", use=name)
    if name in _FOREIGN:
        instead = _FOREIGN[name].strip("`")
        return Advice(f"write {_FOREIGN[name]}", instead if instead.isidentifier() else "")
    if after and (advice := advice_on_constant(name, after)):
        return advice
    if declarations.library_module(name) is not None:
        return f"add `use std::{name};` at the top of the file, and write `{name}::…`"
    enum = declarations.enum_of_variant(name, scope)
    if enum is not None:
        return Advice(f"write `{enum.name}::{name}`", f"{enum.name}::{name}")
    near = declarations.problems.nearest(
        name, [*(n for n, _ in declarations.visible_names(scope)), *extra, *WRAPPING]
    )
    # Of names of one letter, each is as near as every other.
    if near is not None and max(len(near), len(name)) > 1:
        return did_you_mean(near)
    home = declarations.module_with(name, scope.module)
    if home is not None:
        return Advice(f"add `use {home}::{name};` at the top of the file", use=f"{home}::{name}")
    if name == "self":
        return "`self` is the first parameter of a method: `fn name(self, …)`"
    return ""


def _is_variable_around(name: str, module: ModuleSymbol | None) -> bool:
    while module is not None and module.block:
        if name in module.variables:
            return True
        module = module.parent
    return False


def report_unknown_variant(
    declarations: Declarations, user: ModuleSymbol, enum: EnumSymbol, segment: ast.Ident
) -> None:
    """E0204 for `Enum::Name`."""
    names = list(enum.by_name)
    near = declarations.problems.nearest(
        segment.text, [*names, *member_names(declarations, declared_type(enum))]
    )
    help_ = did_you_mean(near, f"its variants are {listed(names)}")
    declarations.report(
        UnknownMember, user, segment, f"enum `{enum.name}` has no variant `{segment.text}`", help=help_
    )


def report_not_exported(
    declarations: Declarations, user: ModuleSymbol, module: ModuleSymbol, segment: ast.Ident
) -> None:
    """E0502"""
    near = declarations.problems.nearest(segment.text, [*declarations.modules.exported_names(module)])
    here = _EXPORTS.get(f"{module.path}::{segment.text}", "")
    help_ = did_you_mean(here if here.isidentifier() else near)
    if here and not here.isidentifier():
        help_ = f"write {here}"
    elif not here and not near:
        help_ = advice_on_foreign(segment.text)
    if not here and segment.text in declarations.prelude.members:
        help_ = f"leave the `use` out: `{segment.text}` is known everywhere"
    shown = f"module `{module.path}`" if module.path else "the program's first file"
    declarations.report(
        NotExported, user, segment, f"{shown} has nothing called `{segment.text}`", help=help_
    )


def report_private(
    declarations: Declarations, user: ModuleSymbol, module: ModuleSymbol, segment: ast.Ident, found: Symbol
) -> None:
    """E0503"""
    home = module.path or module.name
    if segment.text in module.members:
        help_, related = (
            f"write `pub` before its declaration in `{home}`",
            declarations.declared_at(found, "declared here"),
        )
    else:
        help_, related = f"write `pub use` where `{home}` imports it", ()
    message = f"`{segment.text}` is private to module `{home}`"
    declarations.report(PrivateName, user, segment, message, help=help_, related=related)
