"""What the values and colors of a set's masks mean: one decision for all masks.

Enter at `choose.choose_meaning`. `naming` is what gives the classes their names, and `candidates`
lists the ways in which the masks may be read. `evidence` and `palettes` say what the masks show.
`rules` has the table of rules by which candidates lose, and `doubts` the table of doubts for which
the user is asked although one candidate is left. `row_checks` checks the user's rows. `questions`
asks, and `proposals` has the options that an error proposes. `notes` lists what the user should
look at, and `words` names candidates and pixels in messages. The outcome is a
`core.mask_rule.MaskRule`, which `formats.index_masks` applies to every mask.

`label_meaning` does so for the labels of a folder, and chooses how a class file is numbered.
"""
