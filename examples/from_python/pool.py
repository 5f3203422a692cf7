"""A pool of threads that share one program."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import concerto

mails = concerto.load(Path(__file__).with_name("main.conc"), mock=True)

with ThreadPoolExecutor(16) as pool:
    subjects = [f"urgent {n}" if n % 4 == 0 else f"mail {n}" for n in range(200)]
    found = list(pool.map(lambda subject: mails.triage(mails.Mail(subject=subject)), subjects))
print(found.count(mails.Urgency.High), "of", len(found), "are urgent")
