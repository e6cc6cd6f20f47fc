# SPDX-License-Identifier: MIT
"""One client under load: Python's aiohttp. Prints a sample as JSON.

    aiohttp_client.py WIDTH SECONDS URL WORK
"""

import asyncio
import dataclasses
import json
import os
import platform
import resource
import sys
import time

import aiohttp

try:
    import uvloop
except ImportError:
    uvloop = None


@dataclasses.dataclass(slots=True)
class User:
    id: int
    firstName: str
    lastName: str
    email: str
    age: int
    isActive: bool

    @classmethod
    def decode(cls, text):
        value = json.loads(text)
        return cls(value["id"], value["firstName"], value["lastName"], value["email"], value["age"], value["isActive"])


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def resident(name):
    """Megabytes, from the system's list of facts; zero where there is none."""
    try:
        with open("/proc/self/status") as facts:
            for line in facts:
                if line.startswith(name):
                    return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0


async def typed(session, url):
    async with session.get(url) as response:
        if User.decode(await response.read()).id != 1:
            raise ValueError("wrong answer")


async def whole(session, url, size):
    async with session.get(url) as response:
        if len(await response.read()) != size:
            raise ValueError("wrong answer")


async def download(session, url, path):
    if os.path.exists(path):
        os.remove(path)
    with open(path, "wb", buffering=0) as file:
        async with session.get(url) as response:
            async for chunk in response.content.iter_any():
                file.write(chunk)
            if response.status != 200:
                raise ValueError(f"status {response.status}")


async def pieces(path):
    """The library would take the file itself, but reads it in steps of 64 KiB through a pool of threads."""
    with open(path, "rb", buffering=0) as file:
        while piece := file.read(256 << 10):
            yield piece


async def upload(session, url, path):
    headers = {"Content-Length": str(os.path.getsize(path))}
    async with session.put(url, data=pieces(path), headers=headers) as response:
        await response.read()
        if response.status // 100 != 2:
            raise ValueError(f"status {response.status}")


async def load(call, width, seconds):
    """`width` lanes call one after the other until the time is over. Gives microseconds."""
    latencies = []
    end = time.monotonic() + seconds

    async def lane():
        while (before := time.monotonic()) < end:
            await call()
            latencies.append((time.monotonic() - before) * 1e6)

    await asyncio.gather(*(lane() for _ in range(width)))
    return latencies


def report(count, seconds, cpu, latencies, before):
    latencies.sort()

    def quantile(part):
        return latencies[int(part * (len(latencies) - 1))] if latencies else 0

    peak = resident("VmHWM:")
    print(json.dumps({
        "requestsPerSecond": count / seconds, "cpuMicroseconds": cpu * 1e6 / max(1, count), "median": quantile(0.5),
        "p99": quantile(0.99), "peakMegabytes": peak, "growthMegabytes": peak - before}))


async def main(width, seconds, url, work):
    kind, *rest = work.split(":", 2)
    connector = aiohttp.TCPConnector(limit=width, limit_per_host=width)
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout, auto_decompress=False) as session:
        if kind in ("download", "upload"):
            size, path = rest
            small = str(1 << 20)
            if kind == "download":
                for _ in range(3):
                    await download(session, url.replace(size + ".bin", small + ".bin"), path)
                call = download(session, url, path)
            else:
                for _ in range(3):
                    await upload(session, url, os.path.join(os.path.dirname(path), small + ".bin"))
                call = upload(session, url, path)
            before, cpu, start = resident("VmRSS:"), cpu_seconds(), time.monotonic()
            await call
            report(1, time.monotonic() - start, cpu_seconds() - cpu, [], before)
            return
        call = (lambda: whole(session, url, int(rest[0]))) if kind == "bytes" else (lambda: typed(session, url))
        await load(call, width, min(0.3, seconds / 4))
        before, cpu, start = resident("VmRSS:"), cpu_seconds(), time.monotonic()
        latencies = await load(call, width, seconds)
        report(len(latencies), time.monotonic() - start, cpu_seconds() - cpu, latencies, before)


if sys.argv[1:] == ["version"]:
    loop = f"uvloop {uvloop.__version__}" if uvloop else "asyncio"
    print(f"aiohttp {aiohttp.__version__} on Python {platform.python_version()} with {loop}")
else:
    if uvloop:
        uvloop.install()
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3], sys.argv[4]))
