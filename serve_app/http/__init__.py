"""What stands between a connection and the routes: who may ask, from where, and how slowly."""
