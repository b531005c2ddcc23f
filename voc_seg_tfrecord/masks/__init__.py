"""What the values and colours of masks mean, and the gate that lets nothing else pass.

Enter at `read.read_mask`. `stored` reads files. `survey` looks at all masks of a set, `decide`
decides whether values or colours give the class, `rule` is the decision as a table, and `gate`
applies it. `luminance` recognises masks that were ruined. May import: up to `facts`.
"""
