#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An agent that does not end: it ignores the signals that it can ignore, and so does its detached child process."""
import os
import signal
import time


def main():
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
    with open(f"stands-{os.getpid()}", "w", encoding="utf-8"):
        pass
    time.sleep(600)


main()
