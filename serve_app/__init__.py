"""Everything that faces the outside: Ray Serve, HTTP, the command line. The only user of ray."""
