"""Has Python called by all threads of OpenMP teams, which take its lock for that, until standard input ends.
argv: the library that has the teams."""

import ctypes
import select
import sys
import threading

TEAM, ROUNDS = 3, 20
library = ctypes.CDLL(sys.argv[1])
kind = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long, ctypes.c_long)
library.rounds_of.argtypes = [kind, ctypes.c_long]
library.rounds_of.restype = ctypes.c_long
names = set()


@kind
def called(who, step):
    names.add(threading.get_ident())
    try:
        if who == step % TEAM:
            raise KeyError(who)
    except KeyError as error:
        who = error.args[0]
    return who * 1000 + len([0] * step)


wrong = rounds = 0
expected = sum(who * 1000 + step for step in range(ROUNDS) for who in range(2 * TEAM))
while not select.select([sys.stdin], [], [], 0)[0]:
    wrong += library.rounds_of(called, ROUNDS) != expected
    wrong += len(names) > TEAM
    rounds += 1
print(f"rounds={rounds}\nwrong={wrong}")
