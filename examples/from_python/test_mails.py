"""pytest: the program without network, and one whose clerk says what the test wants."""

from pathlib import Path
from types import ModuleType

import pytest

import concerto


@pytest.fixture(scope="module")
def mails() -> ModuleType:
    return concerto.load(Path(__file__).with_name("main.conc"), mock={"Clerk": "On Tuesday."})


def test_the_clerk_answers(mails: ModuleType) -> None:
    heard: list[str] = []
    decide = mails.decide.using(listeners={"deciding": heard.append})
    assert decide(mails.Mail(subject="Hi", body="When?")) == mails.Action.Answer("On Tuesday.")
    assert heard == ["Hi"]


def test_a_failing_model_is_an_error(mails: ModuleType) -> None:
    decide = mails.decide.using(mock={"Clerk": {"error": "away"}})
    with pytest.raises(concerto.RunError, match="away"):
        decide(mails.Mail(subject="Hi", body="When?"))


def test_an_urgent_mail_is_forwarded(mails: ModuleType) -> None:
    action = mails.decide(mails.Mail(subject="urgent", body="The server is down"))
    assert action == mails.Action.Forward(to="duty@example.com", urgency="High")


def test_a_mail_without_a_subject_is_refused(mails: ModuleType) -> None:
    with pytest.raises(concerto.RunError) as raised:
        mails.triage(mails.Mail(subject=""))
    assert raised.value.kind == "Empty"
    assert raised.value.value == mails.Refused.Empty()
