"""JSON Schemas as types: what they say, whether a value or another schema fits, how they read."""
