"""A fit as data: into the DataTree and out of it, saved, simulated, predicted from."""
