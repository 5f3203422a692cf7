"""A pool of processes: each has the program, mails go in and urgencies come back as they are."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import concerto

mails = concerto.load(Path(__file__).with_name("main.conc"), mock=True)


def triage(mail: mails.Mail) -> mails.Urgency:  # type: ignore[name-defined]
    return mails.triage(mail)


if __name__ == "__main__":
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        todo = [mails.Mail(subject=subject) for subject in ("urgent: help", "hello")]
        print([urgency is mails.Urgency.High for urgency in pool.map(triage, todo)])
