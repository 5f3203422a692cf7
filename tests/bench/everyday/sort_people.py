from collections import defaultdict
from dataclasses import dataclass


@dataclass
class Person:
    name: str
    age: int
    city: str


def work() -> str:
    cities = ["Rome", "Oslo", "Lima", "Bonn"]
    people = []
    for i in range(4000):
        people.append(Person(f"p{i * 7919 % 4001}", i * 31 % 80, cities[i % 4]))
    by_age = sorted(people, key=lambda person: person.age)
    by_name = sorted(people, key=lambda person: person.name)
    by_both = sorted(people, key=lambda person: (person.city, -person.age))
    groups = defaultdict(list)
    for person in people:
        groups[person.city].append(person)
    text = f"{by_age[7].name} {by_name[9].age} {by_both[11].name}"
    for city, members in groups.items():
        oldest = max(reversed(members), key=lambda person: person.age)
        youngest = min(members, key=lambda person: person.age)
        ages = sum(person.age for person in members)
        text += f" {city}: {oldest.name} {youngest.name} {ages}"
    return text
