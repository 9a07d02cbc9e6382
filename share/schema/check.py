#!/usr/bin/env python3
"""Checks JSON objects of leat against their schemas.

usage: check.py [FILE...]      (no file: standard input; needs python3-jsonschema)

A file has one object, or one on each line. Exit code 1: an object is not as its schema says; 2: not JSON.
"""
import json
import pathlib
import sys

import jsonschema

FOLDER = pathlib.Path(__file__).parent


def validators():
    """By verb. The keys are put into each schema, so that no reference leaves it."""
    keys = json.loads((FOLDER / "keys.json").read_text())["$defs"]
    found = {}
    for path in FOLDER.glob("leat.*.json"):
        schema = json.loads(path.read_text().replace("keys.json#", "#"))
        found[path.name.split(".")[1]] = jsonschema.Draft202012Validator(schema | {"$defs": keys})
    return found


def objects(text):
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def check(text, known):
    """Complaints about the objects of a text."""
    for each in objects(text):
        name = each.get("schema", "") if isinstance(each, dict) else ""
        verb = name.split("/")[0].split(".")[1] if name.startswith("leat.") else ""
        if verb not in known:
            yield f"schema '{name}', expected one of " + " ".join(sorted(known))
            continue
        for error in known[verb].iter_errors(each):
            yield f"{name}: {error.json_path}: {error.message[:200]}"


def main():
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        return 0
    known, failed, seen = validators(), False, 0
    for path in sys.argv[1:] or ["-"]:
        try:
            text = sys.stdin.read() if path == "-" else pathlib.Path(path).read_text()
            seen += len(objects(text))
        except (OSError, ValueError) as error:
            print(f"{path}: {error}, expected JSON objects", file=sys.stderr)
            return 2
        for complaint in check(text, known):
            print(f"{path}: {complaint}", file=sys.stderr)
            failed = True
    print(f"{seen} objects checked" if seen else "no objects, expected one or more")
    return 1 if failed or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
