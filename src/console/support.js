// The support page: says whether the service answers, as the Web Connector would see it.
import { ROOT } from "./lib/router.js";

const box = document.getElementById("status");
const text = box.querySelector("p");

async function check() {
  let good = false;
  try {
    good = (await fetch(`${ROOT}/qbwc`, { credentials: "omit", cache: "no-store" })).ok;
  } catch {
    // The page shows that the service does not answer.
  }
  box.className = `note ${good ? "green" : "red"}`;
  const time = new Intl.DateTimeFormat(undefined, { timeStyle: "short" }).format(new Date());
  text.textContent = good ? `The service is up. Checked at ${time}.` : `The service does not answer right now. Checked at ${time}; this page tries again every 20 seconds.`;
}

check();
setInterval(check, 20_000);
