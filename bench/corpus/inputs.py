"""Small inputs for the corpus's programs, the same ones every time.

inputs.py KIND NUMBER...   to standard output; the kinds are the functions below
"""

import random
import sys

RNG = random.Random(7)


def mutated(text, rate):
    return "".join(RNG.choice("ACGT") if RNG.random() < rate else letter for letter in text)


def dna(number, length):
    """Related sequences in FASTA: each descends from an earlier one."""
    known = ["".join(RNG.choices("ACGT", k=length))]
    while len(known) < number:
        known.append(mutated(RNG.choice(known[-20:]), 0.05))
    return "".join(f">s{index}\n{text}\n" for index, text in enumerate(known))


def protein(number, length):
    """Related sequences of amino acids in FASTA."""
    letters = "ACDEFGHIKLMNPQRSTVWY"
    known = ["".join(RNG.choices(letters, k=length))]
    while len(known) < number:
        parent = RNG.choice(known[-20:])
        known.append("".join(RNG.choice(letters) if RNG.random() < 0.08 else letter for letter in parent))
    return "".join(f">p{index}\n{text}\n" for index, text in enumerate(known))


def reads(number, length, genome):
    """Pieces of one genome in FASTA, as a sequencer reads them."""
    whole = "".join(RNG.choices("ACGT", k=genome))
    starts = (RNG.randrange(genome - length) for _ in range(number))
    return "".join(f">r{index}\n{mutated(whole[at:at + length], 0.005)}\n" for index, at in enumerate(starts))


def matrix(size, row):
    """A sparse symmetric matrix in MatrixMarket's format."""
    cells = {(i, RNG.randrange(i + 1)) for i in range(size) for _ in range(row)}
    cells |= {(i, i) for i in range(size)}
    lines = [f"{i + 1} {j + 1} {4.0 * row if i == j else RNG.uniform(-1, 1):.6f}" for i, j in sorted(cells)]
    head = f"%%MatrixMarket matrix coordinate real symmetric\n{size} {size} {len(lines)}\n"
    return head + "\n".join(lines) + "\n"


def image(width, height):
    """A picture in the portable pixmap format."""
    body = bytearray()
    for y in range(height):
        for x in range(width):
            body += bytes(((x * x + y) // 97 % 256, (x ^ y) % 256, RNG.randrange(64) + (x + y) // 16 % 128))
    return b"P6\n%d %d\n255\n" % (width, height) + bytes(body)


if __name__ == "__main__":
    kinds = {"dna": dna, "protein": protein, "reads": reads, "matrix": matrix, "image": image}
    made = kinds[sys.argv[1]](*map(int, sys.argv[2:]))
    sys.stdout.buffer.write(made if isinstance(made, bytes) else made.encode())
