"""One module for figures that share their experiments, with its parameters in a file of the same name."""
