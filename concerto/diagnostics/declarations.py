"""Problems of tools, agents, pipelines and tests (E0401–E0442, W0408)."""

from __future__ import annotations

from concerto.diagnostics.problem import Problem


class ToolWithoutDescription(Problem, code="E0401", title="tool without `description`"):
    """tool without `description`"""


class MethodWithoutDescribe(Problem, code="E0402", title="public tool method without `@describe`"):
    """public tool method without `@describe`"""


class UndescribedParameter(Problem, code="E0403", title="parameter without `@param`"):
    """parameter without `@param`"""


class UnknownParam(Problem, code="E0404", title="`@param` names no parameter"):
    """`@param` names no parameter"""


class ParamCount(Problem, code="E0405", title="`@param`s and parameters differ in number"):
    """`@param`s and parameters differ in number"""


class DescribedTwice(Problem, code="E0406", title="one parameter described twice"):
    """one parameter described twice"""


class NoJsonSchema(Problem, code="E0407", title="parameter type has no JSON Schema"):
    """parameter type has no JSON Schema"""


class BadMcpFunction(Problem, code="E0408", title="`mcp` function with a body or `self`"):
    """`mcp` function with a body or `self`"""


class McpWithoutTransport(Problem, code="W0408", title="`mcp` without transport settings"):
    """`mcp` without transport settings"""


class ProviderWithoutId(Problem, code="E0409", title="`@tool_provider` without its id field"):
    """`@tool_provider` without its id field"""


class AgentWithoutProvider(Problem, code="E0410", title="agent without `provider`"):
    """agent without `provider`"""


class UnknownReference(Problem, code="E0411", title="unknown connection, tool or memory in a declaration"):
    """unknown connection, tool or memory in a declaration"""


class BadDeclarationField(Problem, code="E0412", title="unknown or mistyped field of a declaration"):
    """unknown or mistyped field of a declaration"""


class BadWithTools(Problem, code="E0413", title="`with_tools` takes an array of tool references"):
    """`with_tools` takes an array of tool references"""


class WithoutToolsArguments(Problem, code="E0414", title="`without_tools` takes no arguments"):
    """`without_tools` takes no arguments"""


class BadToolChoice(Problem, code="E0415", title="bad `tool_choice` or `allowed_tools`"):
    """bad `tool_choice` or `allowed_tools`"""


class UnknownDecorator(Problem, code="E0420", title="unknown decorator or decorator argument"):
    """unknown decorator or decorator argument"""


class StageWithoutType(Problem, code="E0430", title="stage without a return type"):
    """stage without a return type"""


class StagesDoNotFit(Problem, code="E0431", title="stages do not fit"):
    """stages do not fit"""


class PipelineSignature(Problem, code="E0432", title="pipeline signature does not fit its stages"):
    """pipeline signature does not fit its stages"""


class MockOutsideTest(Problem, code="E0440", title="`mock` outside a test"):
    """`mock` outside a test"""


class TestMisused(Problem, code="E0441", title="test function called or mis-declared"):
    """test function called or mis-declared"""


class ExpectFailWithoutTest(Problem, code="E0442", title="`@expect_fail` without `@test`"):
    """`@expect_fail` without `@test`"""
