"""The kinds of errors that a run gives to a program, with what each means.

The page of errors in the reference is made of them.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class ErrorKind(StrEnum):
    """The `kind` of an error as programs read it."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> Self:
        made = str.__new__(cls, value)
        made._value_ = value
        made.meaning = meaning
        return made


class AgentKind(ErrorKind):
    """Why an execution of an agent or a host failed: kinds of AgentError."""

    PROVIDER = "ProviderError", "the model server refused the request, or could not do it"
    AUTHENTICATION = "Authentication", "the model server did not accept the key"
    RATE_LIMITED = "RateLimited", "the model server was asked too often, after all attempts"
    TIMEOUT = "Timeout", "there was no answer in time"
    CONNECTION_LOST = "ConnectionLost", "the server was not reached, or the connection broke"
    STREAM_BROKEN = "StreamBroken", "a streamed answer ended before its end"
    INVALID_REPLY = "InvalidReply", "the model server's answer is none that can be read"
    MISSING_KEY = "MissingKey", "a variable of the environment is not set"
    UNKNOWN_CONNECTION = "UnknownConnection", "there is no connection of this name, or it cannot be asked"
    MAX_ITERATIONS = "MaxIterationsExceeded", "the model still calls tools after the most requests"
    BUDGET = "BudgetExceeded", "tokens, money or seconds are spent"
    PERMISSION_DENIED = "PermissionDenied", "the agent or host is not permitted in this run"
    TOOL_NOT_FOUND = "ToolNotFound", "the model calls tools that there are not"
    TOOL_NOT_CALLED = "ToolNotCalled", "the model does not call the tool that it has to"
    TOOL_FAILED = "ToolFailed", "a tool failed, and `on_tool_error` said `Fail`"
    REPEATED_FAILURE = "RepeatedFailure", "the same call failed again and again"
    SCHEMA = "SchemaError", "the answer does not fit the type that was asked for"
    BAD_TOOLS = "BadTools", "the tools cannot be offered as they are"
    UNSUPPORTED = "Unsupported", "the provider's wire cannot be told what is asked for"
    UNMOCKED = "Unmocked", "a test executes an agent that it does not mock"
    HOST = "HostFailed", "the process of a host failed"


class ToolKind(ErrorKind):
    """Why a call of a tool failed: kinds of ToolError. What a method returns or throws itself keeps its own
    kind, and an exception of a Python tool has its class's name."""

    TOOL_NOT_FOUND = "ToolNotFound", "there is no such tool"
    FORBIDDEN = "Forbidden", "the tool is shown for context only"
    PERMISSION_DENIED = "PermissionDenied", "the call is not permitted in this run"
    BLOCKED = "Blocked", "untrusted text came before the call, and nobody allows it"
    INVALID_ARGUMENTS = "InvalidArguments", "the arguments do not fit what the method declares"
    INVALID_RESULT = "InvalidResult", "the result does not fit what is declared"
    TIMEOUT = "Timeout", "the call took too long"
    TOOL_FAILED = "ToolFailed", "the tool of a server says that it failed"
    HANDLER_FAILED = "HandlerFailed", "the handler of a method without a body failed"
    COMMAND_FAILED = "CommandFailed", "a command of ShellTool could not be started, or failed"
    SERVER_UNAVAILABLE = "ServerUnavailable", "an MCP server cannot be started or reached"
    SERVER_FAILED = "ServerFailed", "an MCP server broke off, or does not keep to the protocol"
    OUTCOME_UNKNOWN = "OutcomeUnknown", "an MCP server ended during a call that may not be repeated"
    INTERFACE_MISMATCH = "InterfaceMismatch", "an MCP server does not offer what is declared or locked"
    UNMOCKED = "Unmocked", "a test calls a server's function that it does not mock"
    INVALID_PROGRAM = "InvalidProgram", "a program that a model wrote does not compile"
    PROGRAM_FAILED = "ProgramFailed", "a program that a model wrote ended with an error"
    PROGRAM_STOPPED = "ProgramStopped", "a program that a model wrote reached a limit"


class EmitKind(ErrorKind):
    """Why an awaited emit has no answer: kinds of EmitError."""

    NO_LISTENER = "NoListener", "nobody answers the channel"
    DECLINED = "Declined", "whoever was asked does not want to answer"
    CANCELLED = "Cancelled", "whoever was asked closed the question"
    TIMEOUT = "Timeout", "there was no answer in time"
    HANDLER_FAILED = "HandlerFailed", "the handler failed, or its answer has no JSON form"


class ConnectionKind(ErrorKind):
    """Why a request over HTTP failed: kinds of ConnectionError."""

    INVALID_URL = "InvalidUrl", "the text is no web address"
    INVALID_HEADER = "InvalidHeader", "a header cannot be sent as it is"
    PERMISSION_DENIED = "PermissionDenied", "the host or its address is not permitted in this run"
    TIMEOUT = "Timeout", "there was no answer in time"
    CONNECTION_LOST = "ConnectionLost", "the server was not reached, or the connection broke"
    TOO_MANY_REDIRECTS = "TooManyRedirects", "the address leads to others without end"
    TOO_LARGE = "TooLarge", "the answer is longer than `max_response_mb`"


class FsKind(ErrorKind):
    """Why a file or a hashmap's file cannot be used: kinds of FsError."""

    PERMISSION_DENIED = "PermissionDenied", "the run, or its user, may not use the path"
    NOT_FOUND = "NotFound", "there is no such file or folder"
    IS_FOLDER = "IsFolder", "the path is a folder's"
    NOT_TEXT = "NotText", "the file is not UTF-8 text"
    BAD_FILE = "BadFile", "the file is no hashmap's, or a broken or newer one"
    IO_ERROR = "IoError", "the system could not do it"


KINDS: dict[str, type[ErrorKind]] = {
    "AgentError": AgentKind,
    "ToolError": ToolKind,
    "EmitError": EmitKind,
    "ConnectionError": ConnectionKind,
    "FsError": FsKind,
}
"""By the type of the error."""
