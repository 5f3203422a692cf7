def work() -> int:
    text = "the quick brown fox jumps over the lazy dog"
    vowels = 0
    for _ in range(800):
        for letter in text:
            if letter in ("a", "e", "i", "o", "u"):
                vowels += 1
        for word in text.split(" "):
            if word.upper().startswith("T"):
                vowels += len(word)
    return vowels
