"""One side of a comparison: a process of its own that stays up and runs the work when asked.

Memory is the most that the process had resident (VmHWM) less what it had before the work was made.
SPDX-License-Identifier: MIT
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
WAIT = 300  # seconds for a side to be ready or to answer
UNLOCK = "int mkl_serv_intel_cpu_true(void);\nint mkl_serv_intel_cpu_true(void) { return 1; }\n"


class Missing(Exception):
    """A side that cannot run; str() says why."""


def unlock(cache):
    """The object that lets MKL take its AVX-512 path on any processor that has AVX-512."""
    path = cache / "mkl_unlock.so"
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        source = path.with_suffix(".c")
        source.write_text(UNLOCK)
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", path, source], check=True)
    return str(path)


def environment(threads, mkl=None):
    env = dict(os.environ, HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
    env.pop("OPENBLAS_CORETYPE", None)  # a preset type halves OpenBLAS
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        env[name] = str(threads)
    if mkl:
        env["LD_PRELOAD"] = mkl
    return env


class Side:
    def __init__(self, command, env):
        self.log = []
        self.process = subprocess.Popen(
            command,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        threading.Thread(target=self._drain, daemon=True).start()
        try:
            self.about = json.loads(self._line())
        except ValueError as error:
            self.close()
            raise Missing(f"no answer: {error}") from None
        self.seconds = []
        self.process.send_signal(signal.SIGSTOP)

    def _drain(self):
        for line in self.process.stderr:
            self.log = [*self.log[-20:], line.rstrip()]

    def _line(self):
        timer = threading.Timer(WAIT, self.process.kill)
        timer.start()
        line = self.process.stdout.readline()
        timer.cancel()
        if not line:
            self.process.wait()
            words = [text for text in self.log if text.strip()]
            raise Missing(words[-1][:160] if words else f"status {self.process.returncode}")
        return line

    def run(self):
        """One turn. Who does not have it is stopped: threads that wait for work would spin."""
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write("run\n")
        self.seconds.append(float(self._line()))
        self.process.send_signal(signal.SIGSTOP)

    def peak(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            most = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
        return most * 1024 - self.about.get("base", 0)

    def close(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()


def peer(name, line, kind, threads, cache):
    plain, _, mkl = name.partition("+")
    command = [sys.executable, HERE / "serve.py", plain, line, kind, str(threads)]
    return Side(command, environment(threads, unlock(cache) if mkl else None))


def heed(command, line, kind, threads, isa, model):
    words = [command, "bench", "--serve", line, "--type", kind, "--threads", str(threads)]
    words += ["--isa", isa] if isa else []
    words += ["--model", str(model)] if model else []
    return Side(words, environment(threads))
