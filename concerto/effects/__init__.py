"""What a program asks of the world (`kinds`), and the one door it goes through (`gate`)."""
