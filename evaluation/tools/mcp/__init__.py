"""Tools over the Model Context Protocol, both ways: the simulated apps as a server, and servers that personas bind.

The SDK takes half a second to import, so only the functions that need it do.
"""
