"""Instructions of the core's hot paths, by callgrind: the same on a busy machine as on an idle one.

    python benches/instructions.py                  compare with the record; fails beyond 3 %
    python benches/instructions.py --record         measure and write the record

The kernels are those of `rust/benches/kernels.rs`. Another compiler or valgrind gives other counts,
so these are compared only with a record of the same; without one the counts are told, and nothing
fails.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "benches" / "record" / "instructions.json"
TOLERANCE = 0.03


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
    """Return what the counts depend on beside the source."""
    return {
        "machine": platform.machine(),
        "rustc": run("rustc", "--version").split()[1],
        "valgrind": run("valgrind", "--version").strip().removeprefix("valgrind-"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Instructions of the core's hot paths.")
    parser.add_argument("--record", action="store_true", help="write the record")
    given = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not there; on Debian: apt-get install valgrind")
    program, with_tools = built(), tools()
    old = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
    same = old.get("tools") == with_tools
    before = old.get("kernels", {}) if same else {}
    if old and not same:
        print(f"the record is of {old['tools']}, this is {with_tools}: nothing is compared")
    kernels: dict[str, int] = {}
    beyond = []
    for kernel in run(program, "--list").splitlines():
        kernels[kernel] = counted(program, kernel)
        change = ""
        if kernel in before:
            ratio = kernels[kernel] / before[kernel] - 1
            change = f"{ratio:+.2%}"
            if ratio > TOLERANCE:
                beyond.append(f"{kernel} {change}")
        print(f"{kernel:28} {kernels[kernel]:>14,} {change:>9}", flush=True)
    if given.record:
        RECORD.parent.mkdir(exist_ok=True)
        RECORD.write_text(json.dumps({"tools": with_tools, "kernels": kernels}, indent=2) + "\n")
    elif beyond:
        sys.exit(f"more than {TOLERANCE:.0%} beyond the record: {', '.join(beyond)}")


if __name__ == "__main__":
    main()
