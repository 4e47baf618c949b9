import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { createHostFiles } from "@assent/host";
import { createCredentialStore, login } from "../src/index.ts";
import { createBench, scratch } from "./server-bench.ts";
import { startHttpServer } from "./servers/http-server.ts";

const never = new AbortController().signal;

function storeIn(directory: string): ReturnType<typeof createCredentialStore> {
  return createCredentialStore(join(directory, "logins.json"), createHostFiles({ outputDirectory: directory }));
}

/** A browser that consents and follows the redirect. */
const browse = (page: string): void => void fetch(page).then((response) => response.text());

describe("servers with an address", () => {
  test("streamable HTTP, with the configured headers", async (t) => {
    const { url } = await startHttpServer(t);
    const { set, call } = createBench(t, { web: { type: "http", url, headers: { "X-Team": "blue" } } });
    await set.settle(20_000);
    assert.equal((await call("mcp__web__echo", { text: "hi" })).content, "hi blue");
  });

  for (const type of ["http", "sse"] as const)
    test(`a server that only knows the older SSE, configured as ${type}`, async (t) => {
      const { url } = await startHttpServer(t, { sseOnly: true });
      const { set, call } = createBench(t, { web: { type, url, headers: {} } });
      await set.settle(20_000);
      assert.equal((await call("mcp__web__echo", { text: "hi" })).content, "hi");
    });

  const FAULTS: readonly [sentence: string, path: string, reason: RegExp][] = [
    ["an address without a server", "/nothing", /answered with status 404\. Check "url"/],
    ["a port where nothing listens", "", /could not be reached: .*ECONNREFUSED/],
  ];
  for (const [sentence, path, reason] of FAULTS)
    test(sentence, async (t) => {
      const { url } = await startHttpServer(t);
      const address = path === "" ? "http://127.0.0.1:2/mcp" : url.replace("/mcp", path);
      const { set } = createBench(t, { web: { type: "http", url: address, headers: {} } });
      await set.servers[0]?.start();
      const state = set.servers[0]?.state();
      assert.match(state?.state === "failed" ? `${state.reason} ${state.advice}` : "", reason);
    });
});

describe("a server that wants a login", () => {
  test("says so, and is not tried again by itself", async (t) => {
    const { url } = await startHttpServer(t, { oauth: true });
    const { set } = createBench(t, { web: { type: "http", url, headers: {} } });
    await set.settle(20_000);
    const state = set.servers[0]?.state();
    assert.ok(state?.state === "failed" && state.needsLogin && state.retryAt === undefined, JSON.stringify(state));
    assert.match(`${state.reason} ${state.advice}`, /wants you to log in\. Run: assent mcp login web/);
    const { set: withKey } = createBench(t, { web: { type: "http", url, headers: { authorization: "Bearer wrong" } } });
    await withKey.settle(20_000);
    assert.match(JSON.stringify(withKey.servers[0]?.state()), /refuses the header .*Authorization.* \(status 401\)/);
  });

  test("works after a login, renews its token, and keeps both in a file that only the user can read", async (t) => {
    const directory = scratch(t);
    const { url, seen, expire } = await startHttpServer(t, { oauth: true });
    const credentials = storeIn(directory);
    await login({ url, store: credentials, show: browse, signal: never });
    assert.equal(statSync(join(directory, "logins.json")).mode & 0o777, 0o600);
    const before = credentials.read(url)?.tokens?.access_token;
    const { set, call } = createBench(t, { web: { type: "http", url, headers: {} } }, { directory, credentials });
    await set.settle(20_000);
    assert.equal((await call("mcp__web__echo", { text: "hi" })).content, "hi");
    expire();
    assert.equal((await call("mcp__web__echo", { text: "again" })).content, "again");
    assert.notEqual(credentials.read(url)?.tokens?.access_token, before, "the new token is kept");
    assert.ok(seen.includes("POST /mcp bearer"));
  });

  test("a token that cannot be renewed leads to a new login, and none starts by itself", async (t) => {
    const directory = scratch(t);
    const { url, seen, revoke } = await startHttpServer(t, { oauth: true });
    const credentials = storeIn(directory);
    await login({ url, store: credentials, show: browse, signal: never });
    revoke();
    const logins = seen.filter((one) => one === "GET /authorize").length;
    const { set } = createBench(t, { web: { type: "http", url, headers: {} } }, { directory, credentials });
    await set.settle(20_000);
    const state = set.servers[0]?.state();
    assert.ok(state?.state === "failed" && state.needsLogin, JSON.stringify(state));
    assert.equal(seen.filter((one) => one === "GET /authorize").length, logins);
  });

  test("a token is sent only to the address it was given for", async (t) => {
    const directory = scratch(t);
    const one = await startHttpServer(t, { oauth: true });
    const other = await startHttpServer(t);
    const credentials = storeIn(directory);
    await login({ url: one.url, store: credentials, show: browse, signal: never });
    const { set } = createBench(t, { web: { type: "http", url: other.url, headers: {} } }, { directory, credentials });
    await set.settle(20_000);
    assert.deepEqual(
      other.seen.filter((request) => request.endsWith("bearer")),
      [],
    );
  });

  test("the address where a browser ended can be entered by hand; one of another login is refused", async (t) => {
    const directory = scratch(t);
    const { url } = await startHttpServer(t, { oauth: true });
    const credentials = storeIn(directory);
    const entered = Promise.withResolvers<string>();
    const show = (page: string): void =>
      void fetch(page, { redirect: "manual" }).then((response) => entered.resolve(response.headers.get("location") ?? ""));
    await login({ url, store: credentials, show, entered: entered.promise, signal: never });
    assert.ok(credentials.read(url)?.tokens);
    const wrong = Promise.resolve("http://127.0.0.1:1/callback?code=x&state=other");
    await assert.rejects(
      login({ url, store: credentials, show: () => undefined, entered: wrong, signal: never }),
      /The pasted address does not belong to this login\. Start the login again\./,
    );
  });

  test("a login can be cancelled, and forgetting one removes its tokens", async (t) => {
    const directory = scratch(t);
    const { url } = await startHttpServer(t, { oauth: true });
    const credentials = storeIn(directory);
    const cancel = new AbortController();
    await assert.rejects(login({ url, store: credentials, show: () => cancel.abort(), signal: cancel.signal }), /The login was cancelled/);
    assert.equal(existsSync(join(directory, "logins.json")), false);
    await login({ url, store: credentials, show: browse, signal: never });
    await credentials.write(url, undefined);
    assert.equal(readFileSync(join(directory, "logins.json"), "utf8"), "{}\n");
  });
});
