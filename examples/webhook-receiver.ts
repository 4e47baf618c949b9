// Accept notifications of Assent only if their signature is right: node examples/webhook-receiver.ts
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { pathToFileURL } from "node:url";

const FIVE_MINUTES = 300_000;

/** The header `webhook-signature` has an HMAC-SHA-256 over id, time and body, as in Standard Webhooks. */
export function isSigned(headers: IncomingHttpHeaders, body: string, secret: string, now = Date.now()): boolean {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature = "" } = headers;
  if (Math.abs(now - Number(timestamp) * 1_000) > FIVE_MINUTES) return false; // too old: someone may repeat it
  const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice("whsec_".length), "base64") : secret;
  const expected = Buffer.from(`v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`);
  const given = Buffer.from(String(signature));
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Prints each message once: a message may arrive twice, and then has the same items. */
export function webhookReceiver(secret: string, show: (line: string) => void): ReturnType<typeof createServer> {
  const seen = new Set<string>();
  return createServer(async (request, response) => {
    let body = "";
    request.setEncoding("utf8"); // a character may arrive in two pieces
    for await (const chunk of request) body += chunk;
    if (!isSigned(request.headers, body, secret)) {
      response.writeHead(401).end("wrong signature");
      return;
    }
    for (const item of JSON.parse(body).data.items) {
      if (!seen.has(item.key)) show(`${item.event}: ${item.subject}`);
      seen.add(item.key);
    }
    response.writeHead(204).end();
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const server = webhookReceiver("a secret of at least 24 random characters", console.log).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`;
  const body = JSON.stringify({ data: { items: [{ key: "approval:a_1", event: "approval", subject: "npm publish" }] } });
  const send = async (secret: string): Promise<void> => {
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const signature = `v1,${createHmac("sha256", secret).update(`msg_1.${timestamp}.${body}`).digest("base64")}`;
    const headers = { "webhook-id": "msg_1", "webhook-timestamp": timestamp, "webhook-signature": signature };
    console.log((await fetch(url, { method: "POST", headers, body })).status);
  };
  for (const secret of ["a secret of at least 24 random characters", "a guess", "a secret of at least 24 random characters"])
    await send(secret);
  server.close();
}
