"""More programs that are right at any size (pure.py), and those of C++."""

PURE = {}
PLUS = {}
