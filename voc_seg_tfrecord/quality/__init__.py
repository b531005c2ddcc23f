"""Labels that may be wrong, found without a model, in a tree or in built data.

`evidence.examine` takes from an image and its mask what `rules.find` needs to compare it with the
rest of its set. `fit` says how well a mask's borders lie on the edges of its image, and `alike`
which images look alike. What is found is a `finding.Finding`.
"""
