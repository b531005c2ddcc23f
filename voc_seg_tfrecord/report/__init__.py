"""A built dataset shown to people: contact sheets, the report page, the card and Croissant file.

It reads built data through `audit` and counts with `stats`; only `commands` imports from here.
"""
