"""What the values and colours of masks mean, and the gate that lets nothing else pass.

Enter at `read.read_mask`. `stored` reads files, `survey` looks at all masks of a set, `decide`
decides whether values or colours are the class, `rule` holds the decision, `gate` enforces it,
`luminance` knows masks that were ruined. May import: up to `facts`.
"""
