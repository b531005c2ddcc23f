"""What the values and colours of masks mean, and the gate that lets nothing else pass.

Enter at `read.read_mask`. `stored` reads files. `survey` looks at all masks of a set and notes
what they use (`used`). `decide` answers a `question` with a `decision`: values or colours. It looks
for `evidence` against both, and `refusals` and `notes` are its messages. `voc_colors` is its
longest rule, and `colors` knows which class a colour stands for. `rule` is the decision as a
table, and `gate` applies it with `lookup`. `luminance` recognises masks that were ruined.
May import: up to `facts`.
"""
