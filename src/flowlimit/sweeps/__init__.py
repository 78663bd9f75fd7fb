"""Many points on many machines: the verb `sweep`, its stores and its tables.

Nothing is imported here: a closed form on the command line needs the rows alone, and zarr takes a second to load.
"""
