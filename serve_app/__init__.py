"""Everything that faces the outside: Ray Serve, HTTP, the command line. The only user of ray."""

import os

# Ray reads it when it is imported. Without it, SIGTERM prints a stack trace.
os.environ.setdefault("RAY_DISABLE_FAILURE_SIGNAL_HANDLER", "1")
