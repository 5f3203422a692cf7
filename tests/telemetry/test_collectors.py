"""Collectors that hang, refuse or are away, and what switches telemetry on and off."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.commands import command, environment
from tests.runtime.servers import free_port
from tests.telemetry.collector import Collector

PROGRAM = """
tool Till { description: "Pays", @describe("Pay") pub fn pay() -> Int { 1 } }
fn main() { println("${Till.pay()}"); }
"""


def concerto(folder: Path, *options: str, code: str = "", **told: str) -> subprocess.CompletedProcess[str]:
    """What a run of a program with one effect says; it does not wait for longer than a minute."""
    (folder / "paying.conc").write_text(PROGRAM)
    given = environment() | {"CONCERTO_STATE": str(folder / "state")} | told
    begin = command("concerto", "run", *options, "paying.conc")
    begin[2] = code + begin[2]
    return subprocess.run(begin, cwd=folder, env=given, capture_output=True, text=True, timeout=240)


@pytest.mark.parametrize("status", [400, 500, 503])
def test_a_collector_that_refuses_fails_no_run(seen: Collector, tmp_path: Path, status: int) -> None:
    seen.status = status
    done = concerto(tmp_path, "--otlp", seen.url)
    assert (done.returncode, done.stdout) == (0, "1\n")
    assert done.stderr.startswith("warning: spans or metrics were not delivered to http://127.0.0.1")
    assert done.stderr.count("\n") == 1


def test_a_collector_that_hangs_is_not_waited_for(seen: Collector, tmp_path: Path) -> None:
    seen.hangs = True
    done = concerto(tmp_path, "--otlp", seen.url)
    assert not seen.ending.is_set(), "it still hangs"
    assert (done.returncode, done.stdout) == (0, "1\n")
    assert "were not delivered" in done.stderr


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_an_answer_without_an_end_is_not_read(seen: Collector, tmp_path: Path) -> None:
    seen.floods = True
    # Not `ru_maxrss`, which counts what the process was forked from.
    peak_of = 'next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]'
    most = f"import atexit; atexit.register(lambda: print({peak_of})); "
    done = concerto(tmp_path, "--otlp", seen.url, code=most)
    paid, peak = done.stdout.split()
    assert (done.returncode, paid, done.stderr) == (0, "1", "")
    assert int(peak) < 150_000, "kilobytes"


def test_no_collector_fails_no_run(tmp_path: Path) -> None:
    done = concerto(tmp_path, "--otlp", f"http://me:secret@127.0.0.1:{free_port()}")
    assert (done.returncode, done.stdout) == (0, "1\n")
    assert "were not delivered" in done.stderr
    assert "secret" not in done.stderr


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "nonsense"}, "`nonsense` is no http or https address"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "ftp://host"}, "`ftp://host` is no http or https address"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://[1"}, "`http://[1` is no http or https address"),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            "OTEL_EXPORTER_OTLP_PROTOCOL is `grpc`, only `http/protobuf` is spoken",
        ),
    ],
)
def test_an_address_that_is_none_is_said_and_the_run_goes_on(
    tmp_path: Path, told: dict[str, str], said: str
) -> None:
    done = concerto(tmp_path, **told)
    assert (done.returncode, done.stdout) == (0, "1\n")
    assert done.stderr == f"warning: telemetry is off: {said}\n"


def test_without_the_extra_it_is_said_how_to_get_it(tmp_path: Path) -> None:
    missing = "import sys; sys.modules['opentelemetry.sdk'] = None\n"
    done = concerto(tmp_path, "--otlp", "http://127.0.0.1:1", code=missing)
    assert (done.returncode, done.stdout) == (0, "1\n")
    assert (
        done.stderr == "warning: telemetry is off: `pip install 'concerto-lang[otel]'` brings what it needs\n"
    )


@pytest.mark.parametrize(
    "off",
    [{}, {"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none"}],
)
def test_switched_off_nothing_is_sent(seen: Collector, tmp_path: Path, off: dict[str, str]) -> None:
    named = {"OTEL_EXPORTER_OTLP_ENDPOINT": seen.url} if off else {}
    done = concerto(tmp_path, **named, **off)
    assert (done.returncode, done.stdout, done.stderr, seen.bodies) == (0, "1\n", "", [])


def test_a_replay_sends_nothing(seen: Collector, tmp_path: Path) -> None:
    assert concerto(tmp_path, "--record", "paying.conc-run").returncode == 0
    told = environment() | {"OTEL_EXPORTER_OTLP_ENDPOINT": seen.url}
    for given in (("replay", "paying.conc-run"), ("run", "--replay", "paying.conc-run", "paying.conc")):
        done = subprocess.run(
            command("concerto", *given), cwd=tmp_path, env=told, capture_output=True, text=True, timeout=240
        )
        assert (done.stdout, done.stderr, seen.bodies) == ("1\n", "", [])


def test_what_is_off_or_not_needed_is_not_imported(tmp_path: Path) -> None:
    shown = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
    assert "opentelemetry" not in concerto(tmp_path, code=shown).stderr
    (tmp_path / "computing.conc").write_text('fn main() { println("1"); }\n')
    begin = [sys.executable, "-c", shown + command("concerto")[2], "run", "computing.conc"]
    told = environment() | {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}
    done = subprocess.run(begin, cwd=tmp_path, env=told, capture_output=True, text=True, timeout=240)
    assert done.stdout == "1\n"
    assert "opentelemetry" not in done.stderr
