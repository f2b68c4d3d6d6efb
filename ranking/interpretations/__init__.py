"""What is offered where no candidate is sure enough: queries, and what they ask for in words."""
