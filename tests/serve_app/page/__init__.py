"""What people do on the page, in Chromium: mouse, keyboard, hostile texts, faults."""
