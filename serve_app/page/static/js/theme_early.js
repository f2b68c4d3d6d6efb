// Runs before the first paint, so that a chosen theme does not flash. The only stored value besides
// it is whether single keys are shortcuts; nothing of the service is ever stored.
try {
  const theme = localStorage.getItem("quorumsql.theme");
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden; the system's theme is used then.
}
