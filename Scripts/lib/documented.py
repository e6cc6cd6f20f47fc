# SPDX-License-Identifier: MIT
"""Sorts symbol graphs by the product that a reader imports, for `docc convert`.

    documented.py <folder of symbol graphs> <output folder>

`import Curlew` brings the modules beneath it, and readers never meet their names; so their graphs become one module
called Curlew. Prints the products, one per line, the umbrella first.
"""

import json
import pathlib
import shutil
import sys

import source

UMBRELLA = "Curlew"
OWN_PRODUCTS = {"CurlewTesting"}


def main():
    graphs, output = map(pathlib.Path, sys.argv[1:])
    shutil.rmtree(output, ignore_errors=True)
    modules = {path.split("/")[1] for path in source.swift_files("Sources/")}
    for path in sorted(graphs.glob("*.symbols.json")):
        module, _, extended = path.name.removesuffix(".symbols.json").partition("@")
        # Members added to types of the system have no page of their own to stand on.
        if module not in modules or (extended and extended not in modules):
            continue
        product = module if module in OWN_PRODUCTS else UMBRELLA
        graph = json.loads(path.read_text())
        graph["module"]["name"] = product
        (output / product).mkdir(parents=True, exist_ok=True)
        # An @ in the name would make docc put the members on a page for the other module.
        (output / product / path.name.replace("@", "-extends-")).write_text(json.dumps(graph))
    print(*sorted((folder.name for folder in output.iterdir()), key=lambda name: (name != UMBRELLA, name)), sep="\n")


main()
