def is_palindrome(text: str) -> bool:
    letters = list(text)
    left = 0
    right = len(letters) - 1
    while left < right:
        if letters[left] != letters[right]:
            return False
        left += 1
        right -= 1
    return True


def common_prefix(a: str, b: str) -> int:
    length = 0
    while length < len(a) and length < len(b) and a[length] == b[length]:
        length += 1
    return length


def work() -> int:
    found = 0
    for i in range(10000):
        text = str(i * 11)
        if is_palindrome(text):
            found += 1
        if is_palindrome(f"{text}{text[::-1]}"):
            found += 1
        found += common_prefix(text, str(i * 11 + 7))
    return found
