"""From a prompt to candidates: how many, of which variant, until when, and which are one."""
