"""Code that several tests share: builders, fakes, clients and the parts of the proofs."""
