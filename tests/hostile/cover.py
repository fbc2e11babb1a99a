"""Looks for inputs that reach new code, with atheris: `python tests/hostile/cover.py TARGET SECONDS`.

It needs an environment with atheris beside what the tests need. It begins with the kept inputs, and what it found is in
`build/hostile/<target>/reached`, reduced to as few files as reach the same code; what broke a law stands beside that
folder. Copy what is worth keeping to `corpus/<target>/`, under a name that says what it is.
"""

import random
import shutil
import subprocess
import sys
from hashlib import blake2b
from pathlib import Path

import atheris

SUPPORT = Path(__file__).parents[1] / "support"
sys.path[:0] = [str(folder) for folder in (SUPPORT, *SUPPORT.glob("[a-z]*/"))]
with atheris.instrument_imports(include=["vantage"]):
    from hunting import BUILD
    from mutator import Mutator
    from targets import TARGETS


def reach(name: str, arguments: list[str]) -> None:
    """One process of libFuzzer: mutations are its own, or ours, in turn."""
    target = TARGETS[name]
    kept = [*target.kept().values(), *target.seeds()]

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        if random.Random(seed).random() < 0.5:
            return atheris.Mutate(data, most)
        return Mutator(
            [data, data, *random.Random(seed).sample(kept, min(3, len(kept)))], target.tokens, seed, most
        ).input()

    myself = f"{sys.executable} {__file__} {name}"  # libFuzzer starts it again by this to merge
    atheris.Setup([myself, *arguments], target.check, custom_mutator=mutate)
    atheris.Fuzz()


def main(name: str, seconds: str) -> None:
    place = BUILD / name
    begin, grown, reached = place / "begin", place / "grown", place / "reached"
    for folder in (begin, grown, reached):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    for data in [*TARGETS[name].kept().values(), *TARGETS[name].seeds()]:
        (begin / blake2b(data, digest_size=8).hexdigest()).write_bytes(data)
    again = [sys.executable, __file__, name]
    most = f"-max_len={TARGETS[name].most}"
    where = [f"-artifact_prefix={place}/"]
    subprocess.run(
        [*again, str(grown), str(begin), f"-max_total_time={seconds}", most, *where, "-len_control=0"], check=False
    )
    subprocess.run([*again, "-merge=1", str(reached), str(begin), str(grown), most, *where], check=False)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        main(*sys.argv[1:])
    else:
        reach(sys.argv[1], sys.argv[2:])
