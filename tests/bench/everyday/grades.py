from dataclasses import dataclass


@dataclass
class Student:
    name: str
    marks: list[int]
    bonus: int


def average(student: Student) -> float:
    return sum(student.marks) / len(student.marks)


def grade(average: float) -> str:
    if average >= 85:
        return "A"
    if average >= 70:
        return "B"
    if average >= 50:
        return "C"
    return "F"


def work() -> str:
    students = [
        Student(f"student {i}", [(i * 13 + k * 29) % 101 for k in range(5)], i % 4) for i in range(3000)
    ]
    raised = [
        Student(student.name, [min(mark + student.bonus, 100) for mark in student.marks], student.bonus)
        for student in students
    ]
    raised = [student for student in raised if all(mark > 5 for mark in student.marks)]
    pairs = [(student.name, average(student)) for student in raised[::2]]
    pairs.sort(key=lambda pair: -pair[1])
    best = ", ".join(f"{name}: {value:.1f}" for name, value in pairs[:3])
    counts: dict[str, int] = {}
    for student in raised:
        letter = grade(average(student))
        counts[letter] = counts.get(letter, 0) + 1
    some = any(student.bonus == 3 and average(student) > 90 for student in raised)
    return f"{best} {counts['B']} {counts['C']} {'true' if some else 'false'}"
