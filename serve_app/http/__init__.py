"""The HTTP interface: routes, and the checks of connection, origin, token and body before them."""
