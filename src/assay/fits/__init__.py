"""A fit as data: its DataTree, storage, simulation and prediction."""
