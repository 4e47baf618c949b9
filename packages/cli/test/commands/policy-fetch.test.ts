import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type Place, place, projectFile, put, userFile } from "../support/assent.ts";
import { startReceiver } from "../support/receiver.ts";

const BUNDLE = JSON.stringify({ version: 1, policyVersion: "2026-11-03", permissions: { deny: ["Shell(git push)"] } });

function digestOf(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

function fetching(source: string, at: Place, ...more: string[]): readonly string[] {
  return ["policy", "fetch", source, "--to", join(at.root, "team", "policy.json"), ...more];
}

function stored(at: Place): string | undefined {
  const file = join(at.root, "team", "policy.json");
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

describe("policy fetch", () => {
  test("stores a bundle of a URL, a file or a directory, says which version it replaced, and does nothing the second time", async () => {
    using at = place();
    await using server = await startReceiver((response, { path }) =>
      path === "/old" ? response.writeHead(302, { location: "/new" }).end() : response.end(BUNDLE),
    );
    const digest = ["--digest", digestOf(BUNDLE)];
    const first = await at.hereJson(fetching(`${server.url}/old`, at, ...digest));
    assert.deepEqual([first.code, first.value.version, first.value.previous, first.value.changed], [0, "2026-11-03", null, true]);
    assert.equal(stored(at), BUNDLE);
    const newer = BUNDLE.replace("03", "04");
    mkdirSync(at.path("bundle"));
    writeFileSync(at.path("bundle/settings.json"), newer);
    const second = await at.here(fetching("bundle", at, "--digest", digestOf(newer).toUpperCase().replace("SHA256", "sha256")));
    assert.match(second.stdout, /^Stored version 2026-11-04 in .*; it had version 2026-11-03\.\n$/);
    const third = await at.here(fetching("bundle/settings.json", at, "--digest", digestOf(newer)));
    assert.match(third.stdout, /already has version 2026-11-04/);
    assert.equal(stored(at), newer);
  });

  test("says in words what is wrong with a file or its version", async () => {
    using at = place();
    const missing = await at.here(fetching("nothing.json", at, "--digest", digestOf(BUNDLE)));
    assert.match(missing.stderr, /nothing\.json could not be read: it does not exist\. Nothing was changed\./);
    const text = BUNDLE.replace("2026-11-03", "v\u00fc");
    const version = await at.here(fetching(at.write("p.json", text), at, "--digest", digestOf(text)));
    assert.match(version.stderr, /policyVersion must be a version of at most 64 ASCII characters, with single spaces, not "v\u00fc"\./);
  });

  type Case = readonly [sentence: string, source: (at: Place, url: string) => string, type: string, text?: string];
  const CASES: readonly Case[] = [
    ["another digest", (_at, url) => `${url}/other`, "policy_digest_mismatch"],
    ["a server that redirects to another host", (_at, url) => `${url}/away`, "policy_fetch_failed"],
    ["a server that redirects in a circle", (_at, url) => `${url}/circle`, "policy_fetch_failed"],
    ["an error of the server", (_at, url) => `${url}/error`, "policy_fetch_failed"],
    ["a file that is too large", (_at, url) => `${url}/large`, "policy_fetch_failed"],
    ["a server that is down", () => "http://127.0.0.1:9/x", "policy_fetch_failed"],
    ["http to another machine", () => "http://policies.example/x", "usage"],
    ["another protocol", () => "ftp://127.0.0.1/x", "usage"],
    ["a password in the URL", () => "https://a:b@policies.example/x", "usage"],
    ["a missing file", () => "nothing.json", "policy_fetch_failed"],
    ["a file without a version", (at) => at.write("p.json", '{"version":1}'), "policy_without_version", '{"version":1}'],
    ["a file with problems", (at) => at.write("p.json", '{"permission":1}'), "settings", '{"permission":1}'],
    ["text that is not JSON", (at) => at.write("p.json", "no"), "settings", "no"],
  ];
  for (const [sentence, source, type, text = BUNDLE] of CASES)
    test(`refuses ${sentence}, and changes nothing`, async () => {
      using at = place();
      put(join(at.root, "team", "policy.json"), BUNDLE.replace("03", "01"));
      await using server = await startReceiver((response, { path }) => {
        if (path === "/away") response.writeHead(302, { location: "http://127.0.0.1:9/" }).end();
        else if (path === "/circle") response.writeHead(302, { location: "/circle" }).end();
        else if (path === "/error") response.writeHead(500).end(BUNDLE);
        else response.end(path === "/large" ? " ".repeat(1_048_577) : `${BUNDLE} `);
      });
      const { code, value } = await at.hereJson(fetching(source(at, server.url), at, "--digest", digestOf(text)));
      assert.notEqual(code, 0);
      if (type !== "settings") assert.equal(value.error.type, type, JSON.stringify(value));
      else assert.match(value.error.message, /^[^:]*p\.json:\d/);
      assert.equal(stored(at), BUNDLE.replace("03", "01"));
    });

  test("replaces a file that was written by hand only if told to", async () => {
    using at = place();
    put(join(at.root, "team", "policy.json"), '{ "permissions": { "deny": ["Write"] } }');
    const source = at.write("p.json", BUNDLE);
    const refused = await at.hereJson(fetching(source, at, "--digest", digestOf(BUNDLE)));
    assert.deepEqual([refused.code, refused.value.error.type], [1, "policy_not_replaced"]);
    assert.match(stored(at) ?? "", /Write/);
    assert.equal((await at.here(fetching(source, at, "--digest", digestOf(BUNDLE), "--replace"))).code, 0);
    assert.equal(stored(at), BUNDLE);
  });

  for (const digest of [[], ["--digest", "sha256:12"], ["--digest", "md5:9e107d9d372bb6826bd81d3542a419d6"]])
    test(`needs a digest, not ${digest.join(" ") || "nothing"}`, async () => {
      using at = place();
      assert.equal((await at.here(fetching(at.write("p.json", BUNDLE), at, ...digest))).code, 2);
      assert.equal(stored(at), undefined);
    });
});

describe("the version of a policy", () => {
  test("is recorded with each decision, and shown by log, exports and explain", async () => {
    using at = place();
    assert.equal((await at.here(fetching(at.write("p.json", BUNDLE), at, "--digest", digestOf(BUNDLE)))).code, 0);
    const policy = ["--policy", join(at.root, "team", "policy.json")];
    const push = ["--input", '{"command":"git push"}'];
    const { value } = await at.hereJson(["call", "shell", ...push, ...policy]);
    assert.equal(value.outcome, "denied");
    const { stdout: log } = await at.here(["log", value.sessionId, "--type", "call.judged"]);
    assert.match(log, /policyVersion=policy 2026-11-03/);
    assert.match((await at.here(["sessions", "export", value.sessionId])).stdout, /Policy `policy 2026-11-03`/);
    assert.match(
      (await at.here(["sessions", "export", value.sessionId, "--format", "jsonl"])).stdout,
      /"policyVersion":"policy 2026-11-03"/,
    );
    const explained = ["explain", "--tool", "shell", ...push, ...policy];
    assert.equal((await at.hereJson(explained)).value.policyVersion, "policy 2026-11-03");
    assert.match((await at.here(explained)).stdout, /^Policy: policy 2026-11-03$/m);
  });

  test("names every layer that has one, but not an untrusted project's", async () => {
    using at = place();
    put(userFile(at), JSON.stringify({ policyVersion: "mine" }));
    put(projectFile(at), JSON.stringify({ policyVersion: "p1" }));
    const explained = ["explain", "--tool", "list", "--input", '{"path":"."}'];
    const before = await at.hereJson(explained);
    assert.equal(before.value.policyVersion, "user mine");
    assert.equal((await at.here(["trust", "--yes"])).code, 0);
    const after = await at.hereJson(explained);
    assert.equal(after.value.policyVersion, "user mine, project p1");
    assert.notEqual(after.value.revision, before.value.revision);
  });
});
