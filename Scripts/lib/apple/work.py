# SPDX-License-Identifier: MIT
"""Steps that need each other, run side by side, and kept: a step whose inputs are what they were is not run again."""

import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import subprocess
import threading
import time

# Far beyond what any step takes. A type checker that finds itself in a dead end may search for hours.
LIMIT = 1800


@dataclasses.dataclass
class Step:
    """Commands that make `outputs` from `files`, after the steps in `needs`."""

    name: str
    commands: list
    files: list
    outputs: list
    folder: pathlib.Path
    needs: list = dataclasses.field(default_factory=list)
    # Called after the commands; what it returns is kept with the result.
    examine: object = None


@dataclasses.dataclass
class Result:
    digest: str
    status: int
    log: str
    facts: object
    seconds: float
    is_kept: bool = False

    @property
    def has_run(self):
        return self.digest != ""


def write(path, text):
    """Writes a file only if that changes it, and at once: other checks may run beside this one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        whole = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
        whole.write_text(text, encoding="utf-8")
        whole.replace(path)
    return path


def digest(step, results, salt):
    """Of everything that decides what the step brings."""
    hashed = hashlib.sha256(salt.encode())
    for need in step.needs:
        hashed.update(results[need].digest.encode())
    for command in step.commands:
        hashed.update("\0".join(map(str, command)).encode())
    for file in sorted(map(str, step.files)):
        hashed.update(file.encode() + hashlib.sha256(pathlib.Path(file).read_bytes()).digest())
    return hashed.hexdigest()


def perform(step, results, salt):
    if any(results[need].status != 0 for need in step.needs):
        return Result("", 1, "", None, 0)
    kept = step.folder / "results" / (step.name.replace("/", "-") + ".json")
    key = digest(step, results, salt)
    if kept.is_file() and all(pathlib.Path(output).exists() for output in step.outputs):
        old = json.loads(kept.read_text(encoding="utf-8"))
        if old["digest"] == key:
            return Result(**{**old, "is_kept": True})
    started, status, log = time.monotonic(), 0, ""
    for command in step.commands:
        try:
            run = subprocess.run(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, errors="replace", timeout=LIMIT, check=False)
        except subprocess.TimeoutExpired:
            status, log = 1, log + f"not ready after {LIMIT} s"
            break
        log += run.stdout
        status = run.returncode
        if status != 0:
            break
    facts = step.examine() if step.examine and status == 0 else None
    result = Result(key, status, log, facts, time.monotonic() - started)
    write(kept, json.dumps({name: value for name, value in vars(result).items() if name != "is_kept"}))
    return result


def run(steps, salt, tell):
    """The result of every step by its name; `tell` receives each as soon as it is known."""
    results, waiting, running = {}, {step.name: step for step in steps}, {}
    with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, os.cpu_count() or 1)) as pool:
        while waiting or running:
            ready = [step for step in waiting.values() if all(need in results for need in step.needs)]
            for step in ready:
                del waiting[step.name]
                running[pool.submit(perform, step, results, salt)] = step
            if not running:
                raise ValueError(f"these steps need each other: {', '.join(waiting)}")
            done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                step = running.pop(future)
                results[step.name] = future.result()
                tell(step, results[step.name])
    return results
