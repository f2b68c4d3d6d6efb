"""What people do on the page, in Chromium and Firefox: mouse, keyboard, hostile texts, faults."""
