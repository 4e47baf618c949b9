import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { place } from "../support/assent.ts";

test("assent inbox says what to do if its port is in use", async () => {
  using at = place();
  const other = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  const address = other.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const { code, stderr } = await at.here(["inbox", "--no-open", "--port", String(port)]);
  other.close();
  assert.equal(code, 1);
  assert.match(stderr, new RegExp(`Port ${port} is in use`));
  assert.match(stderr, /Choose another --port, or leave it out/);
});
