"""The one place that runs untrusted code.

No network, no files but the system's (read-only) and a small folder in memory, an empty environment,
an unprivileged user, and limits on time, memory, output, files and processes. Where the machine
cannot give that, nothing runs: ``SandboxUnavailableError`` says why.
"""

from evaluation.sandbox.chain import SandboxUnavailableError
from evaluation.sandbox.limits import SandboxLimits, SandboxResult
from evaluation.sandbox.run import kernel_bounds_memory, run_python, why_unavailable
