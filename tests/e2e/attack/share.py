#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An agent that writes to every file that it shares with the operator, through its own HOME and through the operator's."""
import json
import os


def write(path):
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write("an agent was here\n")
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        return error.strerror


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        return error.strerror


def main():
    with open(os.path.join(os.path.dirname(__file__), "know.json"), encoding="utf-8") as file:
        know = json.load(file)
    answer = {name: {"before": read(os.path.join(os.environ["HOME"], name)), "own": write(os.path.join(os.environ["HOME"], name)),
                     "outside": write(os.path.join(know["operator"], name))} for name in know["files"]}
    with open("answer.json.new", "w", encoding="utf-8") as file:
        json.dump(answer, file)
    os.rename("answer.json.new", "answer.json")


main()
