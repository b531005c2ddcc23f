"""What the values and colours of masks mean, and the gate that lets nothing else pass.

Enter at `read.read_mask`. `stored` reads files, and counts and maps what they hold. `survey` looks
at all masks of a set. `decide` answers a `question`: values or colours. It looks for `evidence`
against both, and `advice` has its messages. `rule` is the decision as a table, and `read` applies
it. `class_map` merges, drops and reorders classes. May import: up to `formats`.
"""
