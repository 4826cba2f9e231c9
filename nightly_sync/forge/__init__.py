"""Where pull requests and checks live: the protocol and its implementations."""
