"""Model endpoints: services to connect at, prices, and whether a model holds what a pilot needs."""
