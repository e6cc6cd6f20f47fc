# SPDX-License-Identifier: MIT
"""Whether the package works on a file system that ignores case, as those of most Macs and of Windows do.

    case_folding.py                              clones the repository there, reads its manifest, builds a dependent
    case_folding.py --serve <folder> <mount>     shows a folder as such a file system, until it is unmounted

Two folders or targets whose names differ in case only are one there, and neither the package nor an app that depends
on it can be resolved. Needs /dev/fuse; without it, colliding folders are merged by hand.
"""

import errno
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import source

# A small product, which any app could use.
PRODUCT = "CurlewJSON"
DEPENDENT = f"""\
// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "Dependent",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "Curlew", path: "../curlew")],
    targets: [.executableTarget(name: "Dependent", dependencies: [.product(name: "{PRODUCT}", package: "Curlew")])]
)
"""
SECONDS = 600


def serve(root, mount):
    """Serves until it is unmounted. A name that does not exist as written is looked for without case."""
    import fusepy

    def real(path):
        found = root
        for part in filter(None, path.split("/")):
            exact = os.path.join(found, part)
            if not os.path.lexists(exact) and os.path.isdir(found):
                same = (name for name in os.listdir(found) if name.lower() == part.lower())
                exact = os.path.join(found, next(same, part))
            found = exact
        return found

    def facts(status, prefix):
        return {name: getattr(status, name) for name in dir(status) if name.startswith(prefix)}

    def make_folder(path, mode):
        if os.path.lexists(real(path)):
            raise OSError(errno.EEXIST, path)
        os.mkdir(real(path), mode)

    def check(path, mode):
        if not os.access(real(path), mode):
            raise OSError(errno.EACCES, path)

    operations = {
        "getattr": lambda path, handle=None: facts(os.lstat(real(path)), "st_"),
        "statfs": lambda path: facts(os.statvfs(real(path)), "f_"),
        "access": check,
        "mkdir": make_folder,
        "readdir": lambda path, handle: [".", "..", *os.listdir(real(path))],
        "readlink": lambda path: os.readlink(real(path)),
        "symlink": lambda name, target: os.symlink(target, real(name)),
        "link": lambda name, existing: os.link(real(existing), real(name)),
        "rename": lambda old, new: os.rename(real(old), real(new)),
        "rmdir": lambda path: os.rmdir(real(path)),
        "unlink": lambda path: os.unlink(real(path)),
        "chmod": lambda path, mode: os.chmod(real(path), mode),
        "chown": lambda path, user, group: os.chown(real(path), user, group),
        "utimens": lambda path, times=None: os.utime(real(path), times),
        "truncate": lambda path, length, handle=None: os.truncate(real(path), length),
        "open": lambda path, flags: os.open(real(path), flags),
        "create": lambda path, mode, info=None: os.open(real(path), os.O_RDWR | os.O_CREAT, mode),
        "read": lambda path, size, offset, handle: os.pread(handle, size, offset),
        "write": lambda path, data, offset, handle: os.pwrite(handle, data, offset),
        "fsync": lambda path, data_only, handle: os.fsync(handle),
        "release": lambda path, handle: os.close(handle),
    }
    # The names that the library asks for become methods, and errors of the system become its own.
    class Folder(fusepy.Operations):
        def __call__(self, name, *arguments):
            if name not in operations:
                return super().__call__(name, *arguments)
            try:
                return operations[name](*arguments) or 0
            except OSError as error:
                raise fusepy.FuseOSError(error.errno) from error

    fusepy.FUSE(Folder(), mount, foreground=True)


def run(*command, folder=None):
    result = subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=SECONDS)
    if result.returncode:
        print(result.stdout[:1500], file=sys.stderr)
        sys.exit(f"case: failed: {' '.join(map(str, command))}")
    return result.stdout


def clone(target):
    run("git", *source.TRUST, "clone", "--quiet", "--depth", "1", source.ROOT.as_uri(), target)
    # What is not committed counts too.
    for path in source.files():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source.ROOT / path, target / path)
    tracked = run("git", *source.TRUST, "ls-files", "-z", folder=target).split("\0")
    for path in set(filter(None, tracked)) - set(source.files()):
        (target / path).unlink(missing_ok=True)


def merged(target):
    """The same files in an ordinary folder: the first spelling of a folder holds the files of all of them."""
    spellings = {}
    for path in source.files():
        folder = target
        for part in pathlib.PurePath(path).parts[:-1]:
            first = spellings.setdefault((folder, part.lower()), part)
            folder.mkdir(parents=True, exist_ok=True)
            if first != part and not (folder / part).exists():
                (folder / part).symlink_to(first)
            folder = folder / first
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source.ROOT / path, folder / pathlib.PurePath(path).name)


def verify(folder):
    described = run("swift", "package", "describe", folder=folder / "curlew")
    if "different case" in described:
        sys.exit("case: the names of targets and of folders differ in case")
    dependent = folder / "dependent"
    (dependent / "Sources/Dependent").mkdir(parents=True)
    (dependent / "Package.swift").write_text(DEPENDENT)
    (dependent / "Sources/Dependent/main.swift").write_text(f"import {PRODUCT}\n")
    run("swift", "build", folder=dependent)


def main():
    work = pathlib.Path(tempfile.mkdtemp(prefix="curlew-case-")).resolve()
    server = None
    try:
        mount = work / "mount"
        mount.mkdir()
        if os.path.exists("/dev/fuse"):
            (work / "files").mkdir()
            server = subprocess.Popen([sys.executable, __file__, "--serve", work / "files", mount])
            end = time.monotonic() + 20
            while not os.path.ismount(mount):
                if server.poll() is not None or time.monotonic() > end:
                    sys.exit("case: the file system could not be mounted")
                time.sleep(0.05)
            clone(mount / "curlew")
            how = "a clone on a file system that ignores case"
        else:
            merged(mount / "curlew")
            how = "folders merged by hand, because there is no /dev/fuse"
        verify(mount)
        print(f"case: {how}: the manifest loads, and a dependent of {PRODUCT} builds")
    finally:
        if server:
            subprocess.run(["umount", "--lazy", mount], check=False)
            try:
                server.wait(timeout=10)
            except subprocess.TimeoutExpired:
                server.kill()
        shutil.rmtree(work, ignore_errors=True)


if sys.argv[1:2] == ["--serve"]:
    serve(*sys.argv[2:4])
else:
    main()
