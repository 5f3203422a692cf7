from dataclasses import dataclass


@dataclass
class Address:
    street: str
    postcode: str | None


@dataclass
class Customer:
    name: str
    address: Address | None
    referrer: str | None


def postcode(customer: Customer) -> str:
    if customer.address is None or customer.address.postcode is None:
        return "none"
    return customer.address.postcode


def digits(text: str) -> int | None:
    try:
        return int(text[1:])
    except ValueError:
        return None


def chain(customers: dict[str, Customer], name: str) -> int:
    length = 0
    current = customers.get(name)
    while current is not None:
        length += 1
        if length > 10:
            break
        current = customers.get(current.referrer) if current.referrer is not None else None
    return length


def work() -> int:
    customers: dict[str, Customer] = {}
    for i in range(500):
        address = None if i % 4 == 0 else Address(f"Street {i}", None if i % 3 == 0 else f"P{i * 7}")
        customers[f"c{i}"] = Customer(f"Customer {i}", address, None if i % 7 == 0 else f"c{i * 3 // 4}")
    total = 0
    for round in range(12):
        for name, customer in customers.items():
            number = digits(postcode(customer))
            total += number % 10 + round if number is not None else 3
            total += chain(customers, name)
            street = customer.address.street if customer.address is not None else ""
            if street.endswith("9"):
                total += len(street)
    return total
