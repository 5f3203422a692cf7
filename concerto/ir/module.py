"""The compiled program: one `ModuleIR` for a whole program, all of its source modules linked.

Everything refers to everything else by index or by qualified name; nothing here refers to syntax.
Dictionaries under `settings`, `schema` and `metadata` hold JSON values only.
"""

from __future__ import annotations

from concerto.annotating import Any, TypeAlias
from concerto.json_data import Json
from concerto.records import field, record

IR_VERSION = 1

Instr: TypeAlias = tuple[Any, ...]
"""`(opcode name, operand, …)`"""


@record
class FieldDef:
    """A struct or payload field; a tuple-like payload's fields are named "0", "1", …; `default` is a JSON
    value that takes the place of an absent field when `has_default`."""

    name: str
    type: int
    required: bool = True
    has_default: bool = False
    default: Json = None


@record
class VariantDef:
    name: str
    fields: list[FieldDef] = field(default_factory=list)
    named: bool = False


@record
class TypeDef:
    """One type. `kind`: `builtin` (Int Float String Bool Nil Any Never and handles, by `name`), `array map
    option result tuple set queue stack task range fn hashmap` (parts in `items`), `literals`, `struct`,
    `schema`, `enum`, `error` (built-in error types, by `name`), `param` (a generic parameter: like Any).

    Structs, schemas, enums and tools appear once in general form (`items` empty; the one that BUILD_ uses
    and that carries `methods`) and once more for each instantiation that CHECK or a schema needs; all share
    `name`, and the run-time class belongs to the name. Names are qualified by their module unless it is the
    root (`models::User`), where only one that is called as a type of the library is (`self::Message`).
    """

    kind: str
    name: str = ""
    items: list[int] = field(default_factory=list)
    fields: list[FieldDef] = field(default_factory=list)
    variants: list[VariantDef] = field(default_factory=list)
    literals: list[Json] = field(default_factory=list)
    methods: dict[str, int] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    """What models call fields and variants that have another name for them."""
    immutable: bool = False
    """Whether no part of its values ever changes, so that a copy is the value itself."""

    @property
    def declared(self) -> bool:
        """Whether it is declared with fields or variants, so that its values know it by its name."""
        return self.kind in ("struct", "schema", "enum")

    @property
    def positional(self) -> bool:
        """Whether it is a tuple struct, whose fields are named "0", "1", …"""
        return bool(self.fields) and self.fields[0].name == "0"


def partial_name(name: str) -> str:
    """The name of the type that has what there is of a struct or schema while it arrives."""
    module, colons, own = name.rpartition("::")
    return f"{module}{colons}Partial<{own}>"


@record
class Position:
    """From instruction `pc` on, the code comes from `start` to `end` of the function's file."""

    pc: int
    start: int
    end: int


@record
class Function:
    """`locals` counts all slots: captures first, then parameters, then the rest. An `inout` function
    returns the tuple (result, self). `file` indexes `ModuleIR.files`."""

    name: str
    parameters: list[str]
    captures: int
    locals: int
    code: list[Instr]
    file: int
    positions: list[Position]
    inout: bool = False


@record
class ParameterDef:
    """`context` marks a ToolContext, filled by the runtime. `default` is a JSON value if `has_default`."""

    name: str
    type: int
    has_default: bool = False
    default: Json = None
    context: bool = False


@record
class DecoratorDef:
    """`@retry(max: 3)` with literal arguments by name (positional ones are named by semantics)."""

    name: str
    arguments: dict[str, Json]


@record
class MethodDef:
    """A method of a tool (or a function of an mcp server: `function` None). `function` takes the tool's state
    first if `takes_self`. Without `function` a tool method is executed outside."""

    name: str
    function: int | None
    public: bool
    takes_self: bool
    parameters: list[ParameterDef]
    result: int
    decorators: list[DecoratorDef] = field(default_factory=list)


@record
class Tool:
    """`init` is a function without parameters that gives the first state (a struct of type `type`).
    `result_schemas` say of each public method what it gives (in Ok, if it gives a Result)."""

    name: str
    module: str
    description: str
    type: int
    init: int
    fields: list[FieldDef]
    methods: list[MethodDef]
    tool_schemas: list[Json]
    result_schemas: dict[str, Json] = field(default_factory=dict)


@record
class McpServerDef:
    """`result_schemas` say of each function what it gives (in Ok, if it gives a Result)."""

    name: str
    module: str
    settings: dict[str, Json]
    methods: list[MethodDef]
    tool_schemas: list[Json]
    result_schemas: dict[str, Json] = field(default_factory=dict)


@record
class Served:
    """A function that clients of a served program use: a prompt, or, with a `uri`, a resource. `schema` is
    that of its parameters."""

    name: str
    description: str
    method: MethodDef
    schema: Json
    uri: str = ""
    media_type: str = ""


@record
class ToolUse:
    """An entry of a `tools:` list. `kind`: tool, mcp, method (`name` and `method`), hosted (`name`
    "openai:web_search"), agent."""

    kind: str
    name: str
    method: str = ""


@record
class Agent:
    """`settings` has the declared fields but tools, allowed_tools and memory, as JSON (`model` also for
    `base:`). `tool_choice` in settings is "auto", "required", "none" or {"tool": T, "method": m},
    `input` the name of a schema, `handoffs` the names of agents.
    `methods`: name → function."""

    name: str
    module: str
    settings: dict[str, Json]
    tools: list[ToolUse]
    allowed_tools: list[ToolUse] | None
    memory: str | None
    methods: dict[str, int]
    decorators: list[DecoratorDef]


@record
class HostDef:
    name: str
    module: str
    settings: dict[str, Json]
    decorators: list[DecoratorDef]


@record
class Schema:
    """What `execute_with_schema<T>` and `parse_schema<T>` need of a type: its JSON Schema, the mode and
    coercion, the schema's own validators as ([field], function index), ([], function index) for the whole."""

    name: str
    type: int
    schema: Json
    partial: bool = False
    coerce: bool = False
    coerced_fields: list[str] = field(default_factory=list)
    validators: list[tuple[list[str], int]] = field(default_factory=list)


@record
class Definition:
    """A part of several schemas, which refer to it by its name: those of a program whose schemas would be
    very long, if each had all that it holds."""

    name: str
    schema: Json


@record
class ConnectionDef:
    name: str
    settings: dict[str, Json]


@record
class State:
    """A hashmap, ledger or memory; `settings`: capacity, persistence."""

    name: str
    type: int
    settings: dict[str, Json]


@record
class Stage:
    name: str
    function: int
    result: int
    tools: list[ToolUse]
    decorators: list[DecoratorDef]


@record
class Pipeline:
    name: str
    module: str
    stages: list[Stage]
    tools: list[ToolUse]
    decorators: list[DecoratorDef]


@record
class ToolProvider:
    """`@tool_provider` on a struct: its bound methods with schemas (`name` is the method's, without
    prefix)."""

    type: int
    prefix: str
    id: str
    methods: list[MethodDef]
    tool_schemas: list[Json]


@record
class Export:
    """A public function of the root. `function` is None if only code of the language can call it, since it
    has bounds. `result` may be a Result."""

    name: str
    function: int | None
    parameters: list[ParameterDef]
    result: int
    docs: str = ""


@record
class ExportedMethod(Export):
    """Of any module: a public method of an agent, whose `function` takes the agent before the parameters, or
    `run` of a pipeline, which has no function. `owner` is the agent or the pipeline."""

    owner: str = ""


@record
class ExportedType:
    """A struct, schema or enum that exported functions speak of or that is public in the root, in general
    form; or an alias of the root, by its own name. `generics` are its type parameters."""

    name: str
    type: int
    generics: list[str] = field(default_factory=list)
    docs: str = ""


@record
class Test:
    """`start` is where its name stands in the text of the function's file; `recording` is the file from which
    its effects are answered."""

    name: str
    function: int
    expect_fail: bool = False
    fail_message: str | None = None
    start: int = 0
    recording: str | None = None


@record
class TrustRule:
    """What is known of a tool's method (empty for all others of the tool, and for a host).

    `sources` are labels of its result: `untrusted`, `secret`; `sinks` the ways in which it acts on the world.
    Of these calls, those are harmless whose `trusted` parameters stand in trusted text or fit a pattern of
    `allow`. `ways` says why, for each label: the calls that lead from the method to what has it, or that it
    is declared. What a `closed` method answers was written by the author, though it comes from outside; what
    it says when it fails was not."""

    tool: str
    method: str
    sources: list[str] = field(default_factory=list)
    sinks: list[str] = field(default_factory=list)
    trusted: list[str] = field(default_factory=list)
    allow: dict[str, list[str]] = field(default_factory=dict)
    ways: dict[str, list[str]] = field(default_factory=dict)
    closed: bool = False


@record
class TrustTable:
    """The table that the checker has looked at and the gate enforces; `mode` is that of the manifest."""

    mode: str
    rules: list[TrustRule] = field(default_factory=list)


@record
class SourceFile:
    """`text` is kept so that a run-time error can show its line."""

    path: str
    text: str


@record
class ModuleIR:
    module: str
    source_file: str
    constants: list[int | float | str] = field(default_factory=list)
    types: list[TypeDef] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    agents: list[Agent] = field(default_factory=list)
    hosts: list[HostDef] = field(default_factory=list)
    tools: list[Tool] = field(default_factory=list)
    mcp_servers: list[McpServerDef] = field(default_factory=list)
    schemas: list[Schema] = field(default_factory=list)
    connections: list[ConnectionDef] = field(default_factory=list)
    hashmaps: list[State] = field(default_factory=list)
    ledgers: list[State] = field(default_factory=list)
    memories: list[State] = field(default_factory=list)
    pipelines: list[Pipeline] = field(default_factory=list)
    providers: list[ToolProvider] = field(default_factory=list)
    served: list[Served] = field(default_factory=list)
    tests: list[Test] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)
    exports: list[Export] = field(default_factory=list)
    exported_methods: list[ExportedMethod] = field(default_factory=list)
    exported_types: list[ExportedType] = field(default_factory=list)
    files: list[SourceFile] = field(default_factory=list)
    entry: int | None = None
    metadata: dict[str, Json] = field(default_factory=dict)
    trust: TrustTable | None = None

    def schema_of(self, type_: int) -> Json:
        """The schema of a type that some text is read into, whole; None if it has none."""
        found = next((each.schema for each in self.schemas if each.type == type_), None)
        return None if found is None else self.whole_schema(found)

    def whole_schema(self, schema: Json) -> Json:
        """A schema of this module with all definitions that it refers to."""
        if not self.definitions or "$defs" in schema:
            return schema
        known = {each.name: each.schema for each in self.definitions}
        needed: dict[str, Json] = {}
        waiting = [schema]
        while waiting:
            part = waiting.pop()
            if isinstance(part, list):
                waiting.extend(part)
            elif isinstance(part, dict):
                waiting.extend(part.values())
                name = str(part.get("$ref")).removeprefix("#/$defs/")
                if name in known and name not in needed:
                    needed[name] = known[name]
                    waiting.append(known[name])
        if "$ref" in schema:
            schema = known[str(schema["$ref"]).removeprefix("#/$defs/")]
        return {**schema, "$defs": needed} if needed else schema
