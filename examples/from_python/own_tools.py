"""Tools of one's own, other ones for each customer."""

import tempfile
from pathlib import Path

import concerto

SOURCE = """
agent Clerk { provider: openai, model: "gpt-4o-mini", tools: [orders] }
"""


class Orders:
    """The orders of one customer."""

    def __init__(self, customer: str, orders: dict[int, str]) -> None:
        self.customer = customer
        self.orders = orders

    def status(self, number: int) -> str:
        """Where an order is.

        Args:
            number: The order's number
        """
        return self.orders.get(number, "unknown")


with tempfile.TemporaryDirectory() as folder:
    file = Path(folder, "clerk.conc")
    file.write_text(SOURCE)
    app = concerto.load(file, tools={"orders": Orders("nobody", {})}, mock=True)
    for customer, orders in {"Ada": {1007: "on its way"}, "Bob": {1008: "packed"}}.items():
        clerk = app.Clerk.using(tools={"orders": Orders(customer, orders)})
        print(customer, clerk.execute("Where is my order?").text)
