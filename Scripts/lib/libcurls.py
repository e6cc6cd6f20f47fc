# SPDX-License-Identifier: MIT
"""Gets other versions of libcurl: complete builds, which wheels of Python packages carry. None of it is committed.

    libcurls.py names           the versions in the table below, newest first
    libcurls.py fetch VERSION   fetches and checks it once, and prints the folder for LD_LIBRARY_PATH

Ends with status 75 if a wheel cannot be had, and with another one if there is something wrong with it.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

FOLDER = pathlib.Path(".build/libcurls")
UNAVAILABLE = 75

# Version of libcurl: package, its version, tags of the wheel, its SHA-256. What each has beside libcurl:
# 8.23.0: OpenSSL 3.6, nghttp2 1.70, brotli; 8.16.0 and 8.12.1: OpenSSL 3.5 and 3.4, nghttp2, brotli;
# 8.4.0 and 8.1.2: OpenSSL 1.1.1, nghttp2. None has zstd.
WHEELS = {
    "8.23.0": ("pycurl", "7.49.0", "manylinux_2_28_x86_64",
               "6f88539845d3bb2cf2ce0ccbc1bb8b9ed9e401a0d874798aeabc5f16f0f95c4d"),
    "8.16.0": ("pycurl", "7.45.7", "manylinux_2_28_x86_64",
               "3d19b4a94c2e20976cbc7773e5398bae19e3bc65a0894fcd01d8477bfc5fdb2f"),
    "8.12.1": ("pycurl", "7.45.6", "manylinux_2_28_x86_64",
               "0cd6b7794268c17f3c660162ed6381769ce0ad260331ef49191418dfc3a2d61a"),
    "8.4.0": ("rasterio", "1.3.10", "manylinux2014_x86_64",
              "30f27e309a14a70c821d10a0ea18b110968dc2e2186b06a900aebd92094f4e00"),
    "8.1.2": ("pyproj", "3.6.1", "manylinux2014_x86_64",
              "65ad699e0c830e2b8565afe42bd58cc972b47d829b2e0e48ad9638386d994915"),
}

# The names by which a program asks for the libraries, and how those of the wheel begin. The libssl of a wheel must not
# meet the system's libcrypto: the process would crash. OpenSSL 1.1.1 has names of its own, and stays beside the
# system's OpenSSL 3.
LINKS = {"libcurl.so.4": "libcurl-", "libssl.so.3": "libssl-", "libcrypto.so.3": "libcrypto-"}


def fetch(version):
    folder = FOLDER / version
    if folder.is_dir():
        return folder
    FOLDER.mkdir(parents=True, exist_ok=True)
    # Complete or not there at all: the last step gives it its name.
    made = pathlib.Path(tempfile.mkdtemp(prefix=f"{version}-", dir=FOLDER))
    try:
        with zipfile.ZipFile(download(version, made)) as wheel:
            for member in wheel.infolist():
                path = pathlib.PurePosixPath(member.filename)
                if len(path.parts) == 2 and path.parts[0].endswith(".libs") and ".so" in path.name:
                    (made / path.name).write_bytes(wheel.read(member))
        link(made)
        made.rename(folder)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return folder


def download(version, folder):
    """The path of the wheel. pip compares it with the sum."""
    package, package_version, platform, checksum = WHEELS[version]
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{package}=={package_version} --hash=sha256:{checksum}\n")
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
        "--only-binary=:all:", "--require-hashes", "--requirement", str(wanted), "--platform", platform,
        "--implementation", "cp", "--python-version", "3.11", "--abi", "cp311", "--dest", str(folder)]
    try:
        result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, timeout=240, check=False)
        text, code = result.stdout.strip(), result.returncode
    except subprocess.TimeoutExpired:
        text, code = "pip did not end within 240 s", 1
    wheels = list(folder.glob("*.whl"))
    if code == 0 and len(wheels) == 1:
        return wheels[0]
    print(f"{text}\nlibcurl {version} cannot be fetched (the wheel of {package} {package_version}).", file=sys.stderr)
    sys.exit(1 if "HASHES" in text else UNAVAILABLE)


def link(folder):
    for name, beginning in LINKS.items():
        found = [file.name for file in folder.iterdir() if file.name.startswith(beginning)]
        if len(found) == 1 and not found[0].endswith(".so.1.1"):
            (folder / name).symlink_to(found[0])
    if not (folder / "libcurl.so.4").exists():
        sys.exit("the wheel has no libcurl, or several")
    for file in list(folder.glob("*.whl")) + [folder / "wanted.txt"]:
        file.unlink()


def main(arguments):
    if arguments == ["names"]:
        print("\n".join(WHEELS))
    elif len(arguments) == 2 and arguments[0] == "fetch":
        if arguments[1] not in WHEELS:
            sys.exit(f"no wheel is known for libcurl {arguments[1]}; known are {', '.join(WHEELS)}")
        print(fetch(arguments[1]).resolve())
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
