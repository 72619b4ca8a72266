"""Runs a command line on a terminal of its own: `terminal.py COLUMNS PROGRAM ARGUMENT…`.

What stands on this program's stdin is typed there at once, and the terminal echoes it.
What it shows is printed with its line ends as a program writes them, and its exit number is this one's.
COLUMNS 0 is a window that does not know its width. Python's `pty` is what every machine with the tests has.
"""

import fcntl
import os
import pty
import struct
import sys
import termios

columns, command = int(sys.argv[1]), sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.execv(command[0], command)
os.write(terminal, sys.stdin.buffer.read())
shown = b""
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:  # Linux says so when the other end is closed.
        break
    if not piece:
        break
    shown += piece
sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
