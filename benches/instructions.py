"""Instructions of the core's hot paths, by callgrind: the same on a busy machine as on an idle one.

    python benches/instructions.py                  compare with the record; fails beyond 3 %
    python benches/instructions.py --record         measure and write the record

The kernels are those of `rust/benches/kernels.rs`. Another compiler, valgrind or C library, or
other vector instructions, give other counts, so these are compared only with a record of the same;
without one the counts are told, and nothing fails.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "benches" / "record" / "instructions.json"
SCHEMA = 1
TOLERANCE = 0.03
CHOSEN_BY = {"avx", "avx2", "bmi1", "bmi2", "popcnt", "ssse3", "sse4_1", "sse4_2"}
"""The processor's features by which code is chosen at run time."""


def run(*command: str) -> str:
    """Return what a command prints; on failure its own words end this one."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr.strip()[-2000:]}")
    return done.stdout


def built() -> str:
    """Build the kernels; return the path of the program."""
    lines = run(
        "cargo", "bench", "-p", "cantle", "--bench", "kernels", "--no-run", "--message-format=json"
    )
    for line in lines.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == "kernels":
            return str(message["executable"])
    sys.exit("cargo built no kernels")


def counted(program: str, kernel: str) -> int:
    """Return the instructions of one run of a kernel."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        run(
            "valgrind",
            "--tool=callgrind",
            "--collect-atstart=no",
            "--toggle-collect=*measured_kernel*",
            f"--callgrind-out-file={out}",
            program,
            "--once",
            kernel,
        )
        found = re.search(r"^(?:summary|totals): (\d+)$", out.read_text("utf-8"), re.MULTILINE)
    if found is None or found[1] == "0":
        sys.exit(f"callgrind counted nothing of {kernel!r}")
    return int(found[1])


def tools() -> dict[str, str]:
    """Return what the counts depend on beside the source.

    Valgrind shows a program the vector instructions that it can translate and the processor has;
    the core and the C library choose their code by these.
    """
    return {
        "machine": platform.machine(),
        "features": " ".join(sorted(CHOSEN_BY & set(_flags()))),
        "libc": " ".join(platform.libc_ver()),
        "rustc": run("rustc", "--version").split()[1],
        "valgrind": run("valgrind", "--version").strip().removeprefix("valgrind-"),
    }


def _flags() -> list[str]:
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8", "replace")
    except OSError:
        return []
    found = re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)
    return found[1].split() if found else []


def comparable(record: dict[str, Any], with_tools: dict[str, str]) -> dict[str, int]:
    """Return the recorded counts that may be compared; says why there are none."""
    if not record:
        print("there is no record: nothing is compared; --record writes one")
        return {}
    if record.get("schema") != SCHEMA:
        print(f"the record is of schema {record.get('schema')}, not {SCHEMA}: nothing is compared")
        return {}
    changed = [
        f"{name} {record['tools'].get(name)}, here {here}"
        for name, here in with_tools.items()
        if record["tools"].get(name) != here
    ]
    if changed:
        print(f"the record is of {'; '.join(changed)}: nothing is compared")
        return {}
    kernels: dict[str, int] = record["kernels"]
    return kernels


def compared(before: dict[str, int], kernels: Iterable[tuple[str, int]]) -> list[str]:
    """Print every kernel beside its record; return those that are slower beyond the tolerance."""
    beyond = []
    for kernel, count in kernels:
        change = "new" if before else ""
        if kernel in before:
            ratio = count / before[kernel] - 1
            change = f"{ratio:+.2%}"
            if ratio > TOLERANCE:
                beyond.append(f"{kernel} {change}")
        print(f"{kernel:28} {count:>14,} {change:>9}", flush=True)
    return beyond


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Instructions of the core's hot paths.")
    parser.add_argument("--record", action="store_true", help="write the record")
    given = parser.parse_args(arguments)
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not there; on Debian: apt-get install valgrind")
    program, with_tools = built(), tools()
    before = comparable(
        json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}, with_tools
    )
    names = run(program, "--list").splitlines()
    kernels: dict[str, int] = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = pool.map(lambda kernel: counted(program, kernel), names)

        def kept() -> Iterator[tuple[str, int]]:
            for kernel, count in zip(names, counts, strict=True):
                kernels[kernel] = count
                yield kernel, count

        beyond = compared(before, kept())
    if given.record:
        RECORD.parent.mkdir(exist_ok=True)
        told = {"schema": SCHEMA, "tools": with_tools, "kernels": kernels}
        RECORD.write_text(json.dumps(told, indent=2) + "\n", "utf-8")
    elif beyond:
        sys.exit(
            f"more than {TOLERANCE:.0%} beyond the record: {', '.join(beyond)}. "
            "If that is wanted: make instructions-record"
        )


if __name__ == "__main__":
    main()
