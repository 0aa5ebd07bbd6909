"""The error for something outside the project that stacks cannot be built with: Node, or the framework."""


class SetupError(RuntimeError):
    """Says where to look, what is there, what is expected and the fix. The command shows it as a message."""

    def __init__(self, subject: str, value: str, expected: str, fix: str) -> None:
        super().__init__(f"{subject}: {value}; expected {expected}; {fix}")
        self.subject, self.value, self.expected, self.fix = subject, value, expected, fix
