"""What is asked of a program whose types are known: flow, exhaustiveness, ownership."""
