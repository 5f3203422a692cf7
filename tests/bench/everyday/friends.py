def work() -> int:
    friends: list[set[int]] = []
    for person in range(300):
        known = set()
        for k in range(1, 12):
            known.add((person * k + k * k) % 300)
        friends.append(known)
    common = 0
    for a in range(300):
        for b in [a + 1, a + 5, a + 17]:
            other = b % 300
            both = friends[a] & friends[other]
            common += len(both)
            if a in both or friends[other] <= friends[a]:
                common += 100
            for person in friends[a] - friends[other]:
                common += person
    reached = {0}
    edge = [0]
    while edge:
        next_edge = []
        for person in edge:
            for friend in friends[person]:
                if friend not in reached:
                    reached.add(friend)
                    next_edge.append(friend)
        edge = next_edge
    return common + len(reached)
