"""A pytest fixture: the program without network, and one whose model is a function of the test's."""

from pathlib import Path
from types import ModuleType

import pytest

import concerto


@pytest.fixture(scope="module")
def mails() -> ModuleType:
    return concerto.load(Path(__file__).with_name("main.conc"), mock=True)


def test_an_urgent_mail_is_forwarded(mails: ModuleType) -> None:
    action = mails.decide(mails.Mail(subject="urgent", body="The server is down"))
    assert action == mails.Action.Forward(to="duty@example.com", urgency="High")


def test_a_mail_without_a_subject_is_refused(mails: ModuleType) -> None:
    with pytest.raises(concerto.RunError) as raised:
        mails.triage(mails.Mail(subject=""))
    assert raised.value.kind == "Empty"
    assert raised.value.value == mails.Refused.Empty()
