"""Requests of programs to hosts that they may not ask: by spelling, by redirect, by what a name leads to."""

from __future__ import annotations

import gzip
import itertools
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any

import pytest
import trustme

from concerto.effects.permissions import Permissions
from tests.runtime.conftest import _private_state as _private_state
from tests.runtime.conftest import run as run
from tests.runtime.conftest import script as script
from tests.runtime.running import Outcome
from tests.runtime.servers import Answer, Script

Run = Callable[..., Outcome]


def asked(run: Run, url: str, allowed: list[str]) -> str:
    """The kind of the error, or `reached`."""
    source = f"""
        use std::http;
        fn main() {{
            match http::get("{url}") {{
                Ok(_) => println("reached"),
                Err(error) => println(error.kind),
            }}
        }}
    """
    outcome = run(source, permissions={"http": allowed})
    assert outcome.err == ""
    return outcome.out.strip()


SPELLINGS = [
    "http://good.example@HOST/",
    "http://good.example:x@HOST/",
    "http://good.example\\\\@HOST/",
    "http://HOST/?http://good.example/",
    "http://HOST/#@good.example",
    "http://HOST\\\\.good.example/",
    "http://good.example%2f@HOST/",
    "http://HOST%00.good.example/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::1]:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f000001:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://127.1:PORT/",
    "http://127。0。0。1:PORT/",
    "http://0:PORT/",
    "http://0.0.0.0:PORT/",
    "http://localhost:PORT/",
    "http://localhost.:PORT/",
    "file:///etc/passwd",
    "ftp://HOST/",
    "HTTP+UNIX://HOST/",
    "//HOST/",
]


@pytest.mark.parametrize("allowed", [["good.example"], ["*.good.example"], ["*"]], ids=str)
@pytest.mark.parametrize("url", SPELLINGS)
def test_no_spelling_leads_to_this_machine(script: Script, run: Run, url: str, allowed: list[str]) -> None:
    script.answer(Answer("secret"))
    port = script.url.rpartition(":")[2]
    url = url.replace("HOST", f"127.0.0.1:{port}").replace("PORT", port)
    assert asked(run, url, allowed) in ("PermissionDenied", "InvalidUrl", "ConnectionLost")
    assert script.seen == []


@pytest.mark.parametrize("allowed", ["127.0.0.1", "127.0.0.1:PORT", "localhost"])
def test_what_stands_on_the_list_is_reached(script: Script, run: Run, allowed: str) -> None:
    script.answer(Answer("fine"))
    port = script.url.rpartition(":")[2]
    host = allowed.partition(":")[0]
    assert asked(run, f"http://{host}:{port}/", [allowed.replace("PORT", port)]) == "reached"


@pytest.mark.parametrize(
    ("address", "allowed", "kind"),
    [
        ("127.0.0.1", ["*"], "PermissionDenied"),
        ("127.0.0.1", ["*.example"], "PermissionDenied"),
        ("127.0.0.1", ["name.example"], "PermissionDenied"),
        ("::1", ["name.example"], "PermissionDenied"),
        ("::ffff:127.0.0.1", ["name.example"], "PermissionDenied"),
        ("2002:7f00:1::", ["name.example"], "PermissionDenied"),
        ("169.254.169.254", ["name.example"], "PermissionDenied"),
        ("0.0.0.0", ["name.example"], "PermissionDenied"),
        ("10.1.2.3", ["*"], "PermissionDenied"),
        ("fd00::1", ["*"], "PermissionDenied"),
        ("127.0.0.1", ["name.example", "127.0.0.1"], "reached"),
    ],
)
def test_a_name_is_no_way_around_the_list(
    script: Script, run: Run, monkeypatch: pytest.MonkeyPatch, address: str, allowed: list[str], kind: str
) -> None:
    """The owner of a name lets it lead wherever he likes; here that is what the resolver says."""
    script.answer(Answer("secret"))
    look_up = socket.getaddrinfo

    def resolver(host: Any, *rest: Any, **more: Any) -> Any:
        return look_up(address if host in ("name.example", b"name.example") else host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolver)
    port = script.url.rpartition(":")[2]
    assert asked(run, f"http://name.example:{port}/", allowed) == kind
    assert len(script.seen) == (kind == "reached")


def test_a_name_is_looked_up_once(script: Script, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second answer of the resolver, which may be another one, is never asked for."""
    script.answer(Answer("fine"))
    look_up, asked_for = socket.getaddrinfo, []

    def resolver(host: Any, *rest: Any, **more: Any) -> Any:
        if host == "name.example":
            asked_for.append(host)
            host = "127.0.0.1"
        return look_up(host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolver)
    port = script.url.rpartition(":")[2]
    assert asked(run, f"http://name.example:{port}/", ["name.example", "127.0.0.1"]) == "reached"
    assert asked_for == ["name.example"]
    assert script.seen[0].headers["host"] == f"name.example:{port}"


@pytest.mark.parametrize(
    ("url", "rule", "fits"),
    [
        ("https://name.example/", "name.example:443", True),
        ("http://name.example/", "name.example:80", True),
        ("https://name.example/", "name.example:80", False),
        ("https://name.example:444/", "name.example:443", False),
        ("https://name.example:444/", "name.example", True),
        ("https://name.example/", "NAME.Example", True),
        ("https://a.name.example:444/", "*.name.example:444", True),
        ("https://a.name.example:445/", "*.name.example:444", False),
        ("https://name.example:444/", "*:444", True),
        ("https://name.example/", "*:444", False),
        ("https://name.example/", "*.name.example", False),
        ("http://[::1]/", "::1", True),
        ("http://[::1]:8000/", "[::1]", True),
        ("http://[::1]:8000/", "[::1]:8000", True),
        ("http://[::1]:8001/", "[::1]:8000", False),
    ],
)
def test_rules_with_and_without_a_port(url: str, rule: str, fits: bool) -> None:
    assert Permissions(hosts=(rule,)).allows_url(url) is fits


@pytest.mark.parametrize(
    "address",
    ["64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::1", "::ffff:0:10.0.0.1", "::127.0.0.1", "fec0::1"],
)
def test_no_address_that_carries_one_of_another_network(
    run: Run, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    leading(monkeypatch, address)
    assert asked(run, "http://name.example:9/", ["*"]) == "PermissionDenied"


def test_an_address_is_on_the_list_for_its_port(
    script: Script, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    leading(monkeypatch, "127.0.0.1")
    script.answer(Answer("secret"))
    port = script.url.rpartition(":")[2]
    rules = ["name.example", f"127.0.0.1:{int(port) - 1}"]
    assert asked(run, f"http://name.example:{port}/", rules) == "PermissionDenied"


def test_a_redirect_leaves_a_request_for_a_head_one(run: Run) -> None:
    asked_for = []

    class There(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            asked_for.append((self.command, self.path))
            self.send_response(302 if self.path == "/" else 204)
            self.send_header("Location", "/there")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), There) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        source = f"""
            use std::http;
            fn main() {{ println(http::request(method: "HEAD", url: "{url}").unwrap().status); }}
        """
        outcome = run(source, permissions={"http": ["127.0.0.1"]})
        server.shutdown()
    assert outcome.lines == ["204"]
    assert asked_for == [("HEAD", "/"), ("HEAD", "/there")]


def test_secrets_do_not_leave_tls(
    authority: trustme.CA, script: Script, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor where both are the same host and port by their rules."""
    leading(monkeypatch, "127.0.0.1")
    script.answer(Answer("fine"))
    with over_tls(authority, "name.example") as server:
        there = script.url.replace("127.0.0.1", "name.example")
        server.answers = [Answer("", 302, {"Location": there})]
        url = server.url.replace("127.0.0.1", "name.example")
        source = f'use std::http; fn main() {{ http::get("{url}", {{"Authorization": "key"}}).unwrap(); }}'
        outcome = run(source, permissions={"http": ALLOWED})
    assert outcome.err == ""
    assert [seen.headers.get("authorization") for seen in script.seen] == [None]


def test_a_redirect_to_another_spelling(script: Script, run: Run) -> None:
    port = script.url.rpartition(":")[2]
    script.answer(Answer("", 302, {"Location": f"http://2130706433:{port}/secret"}))
    assert asked(run, script.url, ["127.0.0.1"]) == "PermissionDenied"
    assert len(script.seen) == 1


def test_a_small_answer_that_unpacks_to_a_large_one(script: Script, run: Run) -> None:
    packed = gzip.compress(b"x" * 100_000_000)
    script.answer(Answer(packed, 200, {"Content-Encoding": "gzip"}))
    assert asked(run, script.url, ["127.0.0.1"]) == "TooLarge"


@pytest.mark.parametrize("method", ["GET / HTTP/1.1\\r\\nX-Evil: 1\\r\\n\\r\\nGET", "G T", "GET\\n", "é", ""])
def test_a_method_is_no_way_to_a_second_request(script: Script, run: Run, method: str) -> None:
    script.answer(Answer("fine"))
    source = f"""
        use std::http;
        fn main() {{ println(http::request(method: "{method}", url: "{script.url}").is_ok()); }}
    """
    outcome = run(source, permissions={"http": ["127.0.0.1"]})
    assert outcome.lines == ["false"]
    assert not script.seen


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    """An authority that the process's environment trusts."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    return authority


@contextmanager
def over_tls(authority: trustme.CA, name: str) -> Iterator[Script]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    with Script(context) as server:
        server.answer(Answer("secret"))
        yield server


def leading(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> list[str]:
    """Lets `name.example` lead to one address after the other; gives the look-ups made."""
    look_up, look_ups = socket.getaddrinfo, list[str]()

    def resolver(host: Any, *rest: Any, **more: Any) -> Any:
        if host in ("name.example", b"name.example"):
            host = addresses[min(len(look_ups), len(addresses) - 1)]
            look_ups.append(host)
        return look_up(host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolver)
    return look_ups


ALLOWED = ["name.example", "127.0.0.1"]


def test_over_tls_the_connection_goes_to_the_address_that_was_judged(
    authority: trustme.CA, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 127.0.0.2, to which a second look-up would lead, nobody listens."""
    look_ups = leading(monkeypatch, "127.0.0.1", "127.0.0.2")
    with over_tls(authority, "name.example") as server:
        port = server.url.rpartition(":")[2]
        assert asked(run, f"https://name.example:{port}/", ALLOWED) == "reached"
    assert look_ups == ["127.0.0.1"]
    assert server.seen[0].headers["host"] == f"name.example:{port}"


def test_over_tls_every_request_is_judged_anew(
    authority: trustme.CA, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    leading(monkeypatch, "127.0.0.1", "127.0.0.2", "10.1.2.3")
    with over_tls(authority, "name.example") as server:
        url = f"https://name.example:{server.url.rpartition(':')[2]}/"
        source = f"""
            use std::http;
            fn main() {{
                for _ in 0..3 {{ println(http::get("{url}").map_err(|e| e.kind)); }}
            }}
        """
        outcome = run(source, permissions={"http": ["*", "127.0.0.1"]})
    assert [line.split("(")[0] for line in outcome.lines] == ["Ok", "Err", "Err"]
    assert outcome.lines[1:] == ['Err("PermissionDenied")'] * 2
    assert len(server.seen) == 1


@pytest.mark.parametrize("name", ["other.example", "127.0.0.1"])
def test_a_certificate_is_checked_against_the_name_not_the_address(
    authority: trustme.CA, run: Run, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    leading(monkeypatch, "127.0.0.1")
    with over_tls(authority, name) as server:
        url = f"https://name.example:{server.url.rpartition(':')[2]}/"
        source = f"""
            use std::http;
            fn main() {{ println(http::get("{url}").err().unwrap().message); }}
        """
        outcome = run(source, permissions={"http": ALLOWED})
    assert "certificate is not valid for 'name.example'" in outcome.out
    assert server.seen == []


@contextmanager
def sending(parts: Iterable[bytes], pause: float) -> Iterator[str]:
    """The URL of a server that sends `parts`, a pause of seconds before each, until its client leaves."""
    stopped = threading.Event()

    class Endless(BaseRequestHandler):
        def handle(self) -> None:
            try:
                self.request.recv(65536)
                for part in parts:
                    if stopped.wait(pause):
                        return
                    self.request.sendall(part)
            except OSError:
                return

    with ThreadingTCPServer(("127.0.0.1", 0), Endless) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            stopped.set()
            server.shutdown()


HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"
DRIPS = {
    "a status line": [b"HTTP/1.1 200 ", b"O"],
    "headers": [HEAD, b"x-more: 1\r\n"],
    "one header": [HEAD + b"x-more: ", b"1"],
    "a body": [HEAD + b"\r\n", b"x"],
    "a body with a length": [HEAD + b"content-length: 1000000\r\n\r\n", b"x"],
    "chunks": [CHUNKED, b"1\r\nx\r\n"],
    "hints before the answer": [b"HTTP/1.1 103 Early Hints\r\n\r\n"],
}


@pytest.mark.parametrize("drip", DRIPS)
def test_what_drips_for_ever_ends_by_its_time(run: Run, drip: str) -> None:
    *first, last = DRIPS[drip]
    with sending(itertools.chain(first, itertools.repeat(last)), 0.02) as url:
        source = f"""
            use std::http;
            fn main() {{
                println(http::request(method: "GET", url: "{url}", timeout_ms: 300).err().unwrap().kind);
            }}
        """
        assert run(source, permissions={"http": ["127.0.0.1"]}).lines == ["Timeout"]


def test_what_pours_for_ever_ends_by_its_size(run: Run) -> None:
    with sending(itertools.chain([HEAD + b"\r\n"], itertools.repeat(b"x" * 1_000_000)), 0) as url:
        assert asked(run, url, ["127.0.0.1"]) == "TooLarge"
