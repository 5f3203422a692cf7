from collections import deque


def work() -> int:
    width = 60
    distance = {0: 0}
    waiting = deque([0])
    far = 0
    while waiting:
        at = waiting.popleft()
        following = distance[at] + 1
        x = at % width
        y = at // width
        for dx, dy in ((1, 0), (0, 1), (-1, 0), (0, -1)):
            nx = x + dx
            ny = y + dy
            if 0 <= nx < width and 0 <= ny < width and (nx * 7 + ny * 3) % 5 != 0:
                place = ny * width + nx
                if place not in distance:
                    distance[place] = following
                    far = max(far, following)
                    waiting.append(place)
    return far + len(distance)
