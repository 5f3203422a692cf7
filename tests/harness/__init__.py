"""What the tests of this project share: programs with their expectations in comments."""
