"""One replica's causal solve: compiled programs that go from block to block, of panels or of steps."""
