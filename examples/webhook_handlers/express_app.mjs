import express from "express";
import { webhook } from "qbxml-queue/express";

const app = express();
const store = (event, webhookId) => console.log(webhookId, event.type);
app.post("/webhooks/quickbooks", webhook(process.env.WEBHOOK_SECRET, store)); // above express.json()
app.listen(process.env.PORT ?? 3001, "127.0.0.1");
