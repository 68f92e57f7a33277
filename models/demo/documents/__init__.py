"""The kinds of documents in the demo model's corpus, one module each.

Every maker takes a `random.Random` and draws from it in a fixed order: the corpus of a seed must
not change, so neither may the number or the order of the draws.
"""
