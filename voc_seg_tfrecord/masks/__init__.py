"""What the values and colors of masks mean, and the gate that lets nothing else pass.

Enter at `read.read_mask`. `stored` reads files, and counts and maps what they hold. `table` puts
what the user says of values, colors and names over the names that are known. `survey` looks at all
masks of a set, `readings` are the ways to read them, and `meaning` decides. `rule` is the decision,
and `read` applies it. May import: up to `formats`.
"""
