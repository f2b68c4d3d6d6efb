"""The stages as Ray Serve deployments. The only code that knows Ray."""
