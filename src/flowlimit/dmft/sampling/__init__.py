"""The randomness of a replica: quasi-random paths of both sides, along the modes that matter."""
