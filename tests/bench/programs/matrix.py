def work() -> int:
    n = 60
    a: list[list[int]] = []
    b: list[list[int]] = []
    for i in range(n):
        row: list[int] = []
        column: list[int] = []
        for j in range(n):
            row.append(i * j % 7)
            column.append(i + j)
        a.append(row)
        b.append(column)
    trace = 0
    for i in range(n):
        for j in range(n):
            cell = 0
            for k in range(n):
                cell += a[i][k] * b[k][j]
            if i == j:
                trace += cell
    return trace
