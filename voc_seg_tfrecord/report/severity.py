"""How grave a finding is, in the words of all pages."""

ERROR = "Error"
"""The severity of what stops a build, or makes results wrong."""

WARNING = "Warning"
"""The severity of what may be wrong."""

INFORMATION = "Note"
"""The severity of what asks for nothing."""

SEVERITIES = (ERROR, WARNING, INFORMATION)
"""All of them, the gravest first."""
