"""Code that functions of every kind share: services, settings and HTTP headers."""
