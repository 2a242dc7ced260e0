// The API reference at /docs: Swagger UI with this service's own OpenAPI document.
import { APP, ROOT } from "./lib/router.js";

document.getElementById("home").href = APP;
document.getElementById("reference").href = `${APP}/qbxml`;
document.getElementById("document").href = `${ROOT}/openapi.json`;

const specification = await (await fetch(`${ROOT}/openapi.json`)).json();
specification.servers = [{ url: location.origin + ROOT }];
globalThis.SwaggerUIBundle({
  spec: specification,
  domNode: document.getElementById("reference-root"),
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  docExpansion: "list",
  // A validator on the internet would be told the document.
  validatorUrl: null,
  persistAuthorization: false,
});
