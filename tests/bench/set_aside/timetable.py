def work() -> int:
    days = ["monday", "tuesday", "wednesday", "thursday", "friday"]
    teachers = ["Adams", "Brown", "Clark", "Davis", "Evans", "Frank", "Green"]
    plan: dict[str, dict[int, list[str]]] = {}
    for i in range(12000):
        hours = plan.setdefault(days[i % 5], {})
        present = hours.setdefault(8 + i * 3 % 10, [])
        teacher = teachers[i * i % 7]
        if teacher not in present:
            present.append(teacher)
    loads: dict[str, dict[str, int]] = {}
    for day, hours in plan.items():
        for present in hours.values():
            for teacher in present:
                load = loads.setdefault(teacher, {})
                load[day] = load.get(day, 0) + 1
    total = 0
    for teacher, load in loads.items():
        for day, count in load.items():
            total += count * (len(teacher) + len(day))
    return total
