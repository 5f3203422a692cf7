"""Model servers behind TLS: a certificate of the environment's authority, and certificates nobody trusts."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
import trustme

from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Answer, Script, chat_reply

Run = Callable[..., Outcome]

TWICE = """
agent A { provider: openai, model: "m" }
fn main() {
    match A.execute("one") {
        Ok(response) => println(response.text),
        Err(error) => println("${error.kind}: ${error.message}"),
    }
    match A.stream("two") {
        Ok(chunks) => for chunk in chunks { if chunk.done { println(chunk.accumulated); } },
        Err(error) => println("${error.kind}: ${error.message}"),
    }
}
"""
STREAMED = 'data: {"choices": [{"delta": {"content": "%s"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


def serving(authority: trustme.CA, name: str) -> Script:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return Script(context)


@pytest.fixture
def trusting(authority: trustme.CA, tmp_path: Path) -> dict[str, str]:
    """An environment of a run that trusts the authority."""
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(file))
    return {"SSL_CERT_FILE": str(file)}


def test_an_authority_named_by_the_environment_is_trusted(
    authority: trustme.CA, trusting: dict[str, str], run: Run
) -> None:
    long = "schön" * 100_000  # Many TLS records.
    with serving(authority, "127.0.0.1") as server:
        server.answer(chat_reply("first"), Answer(STREAMED % long))
        outcome = run(TWICE, connections=chat_at(server.url), environment=trusting)
        assert outcome.lines == ["first", long], outcome.err
        assert server.all_closed()


def test_an_authority_named_by_the_environment_of_the_process_is_trusted(
    authority: trustme.CA, trusting: dict[str, str], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", trusting["SSL_CERT_FILE"])
    with serving(authority, "127.0.0.1") as server:
        server.answer(chat_reply("first"), Answer(STREAMED % "second"))
        assert run(TWICE, connections=chat_at(server.url)).lines == ["first", "second"]


def test_that_of_the_run_goes_before_that_of_the_process(
    authority: trustme.CA, trusting: dict[str, str], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "elsewhere.pem")
    with serving(authority, "127.0.0.1") as server:
        server.answer(chat_reply("first"), Answer(STREAMED % "second"))
        assert run(TWICE, connections=chat_at(server.url), environment=trusting).lines == ["first", "second"]


def test_requests_of_the_program_trust_it_too(
    authority: trustme.CA, trusting: dict[str, str], run: Run
) -> None:
    with serving(authority, "127.0.0.1") as server:
        server.answer(Answer("fine"))
        source = f'use std::http; fn main() {{ println(http::get("{server.url}").map(|r| r.body)); }}'
        outcome = run(source, permissions={"http": ["127.0.0.1"]}, environment=trusting)
        assert outcome.lines == ['Ok("fine")']
        assert run(source, permissions={"http": ["127.0.0.1"]}).out.startswith("Err(")


def test_what_is_named_is_not_there(authority: trustme.CA, run: Run, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.pem")
    with serving(authority, "127.0.0.1") as server:
        lines = run(TWICE, connections=chat_at(server.url), environment={"SSL_CERT_FILE": missing}).lines
    assert len(lines) == 2
    for line in lines:
        assert line.startswith("ConnectionLost: ")
        assert line.endswith(f"`SSL_CERT_FILE`, `{missing}`, cannot be read: No such file or directory")
    assert server.seen == []


def test_a_certificate_for_another_host_is_not(
    authority: trustme.CA, trusting: dict[str, str], run: Run
) -> None:
    with serving(authority, "somewhere.example") as server:
        lines = run(TWICE, connections=chat_at(server.url), environment=trusting).lines
    assert len(lines) == 2
    for line in lines:
        assert "IP address mismatch, certificate is not valid for '127.0.0.1'" in line
    assert server.seen == []


def test_an_unknown_authority_is_not_trusted(authority: trustme.CA, run: Run) -> None:
    with serving(authority, "127.0.0.1") as server:
        lines = run(TWICE, connections=chat_at(server.url)).lines
    assert len(lines) == 2
    for line in lines:
        assert "certificate verify failed: unable to get local issuer certificate" in line
    assert server.seen == []


def test_a_server_without_tls_is_told(script: Script, run: Run) -> None:
    lines = run(TWICE, connections=chat_at(script.url.replace("http:", "https:"))).lines
    assert len(lines) == 2
    for line in lines:
        assert "SSL" in line
