// The API reference at /docs: Swagger UI with this service's own OpenAPI document.
import { APP, ROOT } from "./lib/router.js";

const page = document.documentElement;
const darkSystem = matchMedia("(prefers-color-scheme: dark)");

/** Gives Swagger UI the colours that the reader chose in the console, or else the system's. */
function applyColours() {
  const { theme } = page.dataset;
  page.classList.toggle("dark-mode", theme ? theme === "dark" : darkSystem.matches);
}

applyColours();
darkSystem.addEventListener("change", applyColours);
document.getElementById("home").href = APP;
document.getElementById("reference").href = `${APP}/qbxml`;
document.getElementById("document").href = `${ROOT}/openapi.json`;

/** A link inside the button that opens an operation confuses screen readers; the button sets the address anyway. */
const PlainText = (_, { React }) => ({ text }) => React.createElement("span", null, text);
/** There is one server, so there is nothing to choose. */
const Nothing = () => () => null;

const box = document.getElementById("reference-root");
try {
  const specification = await (await fetch(`${ROOT}/openapi.json`)).json();
  specification.servers = [{ url: location.origin + ROOT }];
  globalThis.SwaggerUIBundle({
    spec: specification,
    domNode: box,
    deepLinking: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    docExpansion: "list",
    // Without this, the document would be sent to a validator on the internet.
    validatorUrl: null,
    persistAuthorization: false,
    plugins: [() => ({ wrapComponents: { DeepLink: PlainText, ServersContainer: Nothing } })],
  });
} catch {
  box.innerHTML = '<p role="alert">The API reference could not be loaded. <a href="">Reload the page</a></p>';
}
