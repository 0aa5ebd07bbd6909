"""How the process of a command can end."""

DONE = 0
DIFFERS = 1
REFUSED = 2  # Something about the input, the arguments or the system must change first.
UNFORESEEN = 70  # A bug in nodeless; the number is EX_SOFTWARE of sysexits.h.
# A signal adds its number, as in a shell: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP.
SIGNALLED = 128
CLOSED_PIPE = 141  # The reader went away, as `head` does. Other programs end with SIGPIPE then, which is 13.
