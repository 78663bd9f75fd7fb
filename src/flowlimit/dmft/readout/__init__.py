"""From a replica's arrays to numbers for people: the grid of nodes, curves, time errors and kernels."""
