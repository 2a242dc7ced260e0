// Applies the reader's choice of colours before the first paint. Without a choice, the system's setting applies.
{
  const theme = localStorage.getItem("qbxml-queue.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
}
