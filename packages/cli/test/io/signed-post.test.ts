import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { postSigned } from "../../src/io/signed-post.ts";
import { startReceiver } from "../support/receiver.ts";

const MESSAGE = { type: "application/json", body: '{"a":"ü"}', now: 1_700_000_000_999, timeoutMs: 5_000 };

test("the signature covers the id, the time and the body", async () => {
  await using receiver = await startReceiver((response) => response.end("thanks"));
  const secrets = ["key", `whsec_${Buffer.from("key").toString("base64")}`];
  for (const secret of secrets)
    assert.deepEqual(await postSigned({ ...MESSAGE, url: receiver.url, signed: { id: "m1", secret } }), { sent: true, answer: "thanks" });
  for (const { headers, body } of receiver.got) {
    assert.deepEqual([body, headers["content-type"]], [MESSAGE.body, "application/json"]);
    assert.deepEqual([headers["webhook-id"], headers["webhook-timestamp"]], ["m1", "1700000000"]);
    const mac = createHmac("sha256", "key").update(`m1.1700000000.${MESSAGE.body}`).digest("base64");
    assert.equal(headers["webhook-signature"], `v1,${mac}`);
  }
});

test("without a secret there is no signature", async () => {
  await using receiver = await startReceiver((response) => response.end());
  await postSigned({ ...MESSAGE, url: receiver.url });
  assert.equal(receiver.got[0]?.headers["webhook-signature"], undefined);
});

const FAILURES: readonly (readonly [sentence: string, answer: (response: ServerResponse) => void, reason: RegExp])[] = [
  ["an error status is not a delivery", (response) => response.writeHead(500).end("no"), /it answered 500/],
  ["a redirect is not followed", (response) => response.writeHead(307, { location: "/other" }).end(), /redirect/],
  ["a closed connection is not a delivery", (response) => response.destroy(), /closed|hang up|reset/],
  ["an answer that is not HTTP is not a delivery", (response) => response.socket?.end("nonsense\r\n\r\n"), /Parse Error/],
];

for (const [sentence, answer, reason] of FAILURES)
  test(sentence, async () => {
    await using receiver = await startReceiver(answer);
    const result = await postSigned({ ...MESSAGE, url: receiver.url });
    assert.equal(result.sent, false);
    assert.match(result.sent ? "" : result.reason, reason);
    assert.equal(receiver.got.length, 1);
  });

test("a receiver that never answers is left after the time limit", async () => {
  await using receiver = await startReceiver(() => undefined);
  const result = await postSigned({ ...MESSAGE, url: receiver.url, timeoutMs: 50 });
  assert.deepEqual(result, { sent: false, reason: "it did not answer within 0.05 s" });
});

test("an endless answer is not read to its end", async () => {
  await using receiver = await startReceiver((response) => {
    const more = (): void => {
      if (!response.destroyed) response.write("x".repeat(65_536), more);
    };
    more();
  });
  const result = await postSigned({ ...MESSAGE, url: receiver.url });
  assert.equal(result.sent && result.answer.length, 65_536);
});

test("a receiver that is down is a result, not an exception", async () => {
  const receiver = await startReceiver((response) => response.end());
  await receiver[Symbol.asyncDispose]();
  const result = await postSigned({ ...MESSAGE, url: receiver.url });
  assert.match(result.sent ? "" : result.reason, /ECONNREFUSED/);
});
