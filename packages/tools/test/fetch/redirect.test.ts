import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type CallReport, createDispatcher, createRegistry, type DispatchEvent, memoryLedger, openSession } from "@assent/core";
import { type ApprovalScript, type ScriptedApprover, scriptedApprover } from "@assent/core/testing";
import { createHostPorts, currentHolder } from "@assent/host";
import { createWorkspacePolicy } from "@assent/policy";
import { fetchTool } from "../../src/builtin/fetch.ts";
import { scratch } from "../scratch.ts";
import { shown } from "../session.ts";
import { fetcher, redirect, server, text } from "./server.ts";

type Governed = {
  readonly fetch: (input: object) => Promise<Exclude<CallReport, { outcome: "waiting" }>>;
  /** The calls that were judged, as `id url`. */
  readonly ran: string[];
  readonly approver: ScriptedApprover;
};

type Rules = {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
  readonly mode?: string;
};

/** The tool in the real runtime, judged by real rules; every host is this machine. */
async function governed(t: TestContext, { mode = "default", ...permissions }: Rules, script: ApprovalScript = {}): Promise<Governed> {
  const root = scratch(t);
  const [workspace, stateDirectory, policyFile] = [join(root, "ws"), join(root, "state"), join(root, "policy.json")];
  mkdirSync(workspace);
  writeFileSync(policyFile, JSON.stringify({ version: 1, mode, permissions }));
  const { clock, ids, digest, files, processes } = createHostPorts({ stateDirectory });
  const lookup = async () => [{ address: "127.0.0.1", family: 4 }];
  const { source, tools, facts, rules } = createWorkspacePolicy({
    places: {
      workspace,
      home: root,
      policyFile,
      userFile: join(root, "none"),
      teamFile: join(root, "none"),
      session: { allow: [], ask: [], deny: [] },
      trusted: false,
    },
    stateDirectory,
    digest,
    tools: () => {
      const registry = createRegistry();
      registry.add(fetchTool({ files, lookup, privateAllowed: () => true }));
      return registry;
    },
  });
  const session = await openSession(
    { ledger: memoryLedger({ clock, ids }), clock, ids },
    { holder: currentHolder("test"), create: { cwd: workspace } },
  );
  t.after(() => session.close("done", 0));
  const approver = scriptedApprover(script);
  const dispatcher = createDispatcher({ session, clock, ids, digest, files, processes, policy: source, facts, rules, approver });
  const ran: string[] = [];
  const emit = (event: DispatchEvent): void => {
    if (event.type === "toolCall") ran.push(`${event.callId} ${event.input["url"]}`);
  };
  return {
    ran,
    approver,
    fetch: async (input) => {
      const calls = [{ id: "c1", name: "fetch", arguments: input }];
      const [report] = (await dispatcher.process({ calls, tools, signal: new AbortController().signal }, emit)).results;
      if (!report || report.outcome === "waiting") throw new Error("no result");
      return report;
    },
  };
}

test("each redirect is a call of its own, judged and recorded, and its text is the result", async (t) => {
  const made = await governed(t, { mode: "yolo" });
  const { port: to } = await server(t, { "/c": text("there") });
  const { port: from } = await server(t, { "/a": redirect("/b", 301), "/b": redirect(`http://two.test:${to}/c`, 308) });
  const report = await made.fetch({ url: `http://one.test:${from}/a`, format: "text", max_bytes: 5000 });
  assert.equal(report.outcome, "succeeded", report.result.error?.message);
  assert.match(shown(report.result.content), new RegExp(`^\\[data from outside [0-9a-f]+: http://two\\.test:${to}/c .*\\nthere\\n\\[end`));
  assert.deepEqual(made.ran, [`c1 http://one.test:${from}/a`, `c1/1 http://one.test:${from}/b`, `c1/1/1 http://two.test:${to}/c`]);
});

test("a redirect to a host that a rule denies stops there and names it; nothing is asked of that host", async (t) => {
  const other = await server(t, { "/": text("secret") });
  const { port } = await server(t, { "/": redirect(`http://evil.test:${other.port}/?q=1`) });
  const made = await governed(t, { mode: "yolo", deny: ["WebFetch(evil.test)"] });
  const report = await made.fetch({ url: `http://one.test:${port}/` });
  assert.deepEqual([report.outcome, report.type], ["failed", "web_fetch_blocked"]);
  assert.match(
    report.result.error?.message ?? "",
    new RegExp(`redirects to http://evil\\.test:${other.port}/\\?q=1, which was not fetched: Tool 'fetch' is denied`),
  );
  assert.equal(other.asked.length, 0);
});

test("a redirect on the same host is judged as well: a rule may speak of its path", async (t) => {
  const { port, asked } = await server(t, { "/public": redirect("/private/x"), "/private/x": text("secret") });
  const allow = [`fetch:url=http://one.test:${port}/*`];
  const made = await governed(t, { allow, deny: [`fetch:url=http://one.test:${port}/private/*`] });
  const report = await made.fetch({ url: `http://one.test:${port}/public` });
  assert.equal(report.type, "web_fetch_blocked");
  assert.equal(asked.length, 1);
});

test("what a rule allows on one host does not allow a redirect to another: a person is asked, and sees from where it came", async (t) => {
  const other = await server(t, { "/x": text("there") });
  const { port } = await server(t, { "/": redirect(`http://two.test:${other.port}/x`) });
  const allow = [`fetch:url=http://one.test:${port}/*`];
  const yes = await governed(t, { allow }, { fetch: "approve" });
  assert.equal((await yes.fetch({ url: `http://one.test:${port}/` })).outcome, "succeeded");
  assert.deepEqual(
    yes.approver.shown.map(({ callId, details }) => [callId, details.type === "info" && details.urls, details.warnings]),
    [["c1/1", [`http://two.test:${other.port}/x`], [`Redirected from http://one.test:${port}/`]]],
  );
  const no = await governed(t, { allow }, { fetch: "reject" });
  const report = await no.fetch({ url: `http://one.test:${port}/` });
  assert.equal(report.type, "web_fetch_blocked");
  assert.match(report.result.error?.message ?? "", /which was not fetched: The user rejected the tool call\./);
  assert.equal(other.asked.length, 1);
});

test("a redirect to letters beyond ASCII leads where a browser would go", async (t) => {
  const { port, asked } = await server(t, {
    "/": (response) => void response.socket?.end("HTTP/1.1 302 Found\r\nLocation: /\u00e9\r\nContent-Length: 0\r\n\r\n"),
    "/%C3%A9": text("there"),
  });
  assert.equal((await (await governed(t, { mode: "yolo" })).fetch({ url: `http://one.test:${port}/` })).outcome, "succeeded");
  assert.equal(asked.length, 2);
});

test("five redirects are followed, a sixth is not", async (t) => {
  const routes = Object.fromEntries(Array.from({ length: 7 }, (_, n) => [`/${n}`, n === 0 ? text("end") : redirect(`/${n - 1}`)]));
  const { port, asked } = await server(t, routes);
  const made = await governed(t, { mode: "yolo" });
  assert.equal((await made.fetch({ url: `http://one.test:${port}/5` })).outcome, "succeeded");
  const report = await made.fetch({ url: `http://one.test:${port}/6` });
  assert.deepEqual([report.outcome, report.type], ["failed", "web_fetch_failed"]);
  assert.match(
    report.result.error?.message ?? "",
    /after 5 redirects and redirects again, to http:\/\/one\.test:\d+\/0, which was not fetched/,
  );
  assert.equal(asked.length, 12);
});

test("a failure after a redirect is reported unchanged", async (t) => {
  const { port } = await server(t, { "/": redirect("/absent") });
  const report = await (await governed(t, { mode: "yolo" })).fetch({ url: `http://one.test:${port}/` });
  assert.equal(report.type, "web_fetch_failed");
  assert.match(report.result.error?.message ?? "", /\/absent answered with status 404/);
});

test("a long text behind a redirect is cut once", async (t) => {
  const { port } = await server(t, { "/": redirect("/long"), "/long": text("x\n".repeat(50_000)) });
  const { result } = await (await governed(t, { mode: "yolo" })).fetch({ url: `http://one.test:${port}/` });
  assert.equal(shown(result.content).match(/only the first|output truncated/g)?.length, 1);
  assert.equal(result.spilled?.length, 1);
});

test("a redirect with a user name in it is refused", async (t) => {
  const { port, asked } = await server(t, { "/": (response) => redirect(`http://me:pw@one.test:${port}/x`)(response, asked[0]!) });
  const report = await (await governed(t, { mode: "yolo" })).fetch({ url: `http://one.test:${port}/` });
  assert.equal(report.type, "web_fetch_blocked");
  assert.equal(asked.length, 1);
});

test("a redirect into a private network is refused like any other way there", async (t) => {
  const { port, asked } = await server(t, { "/": redirect("http://169.254.169.254/latest/meta-data/") });
  const lookup = async () => [{ address: "127.0.0.1", family: 4 }];
  const made = fetcher(t, { lookup, privateAllowed: (url) => url.includes("one.test") });
  const result = await made({ url: `http://one.test:${port}/` }); // without a runtime a redirect is named, not followed
  assert.equal(result.error?.type, "web_fetch_blocked");
  assert.match(result.error.message, /redirects to http:\/\/169\.254\.169\.254\/latest\/meta-data\/, which was not fetched/);
  assert.equal((await made({ url: "http://169.254.169.254/latest/meta-data/" })).error?.type, "web_fetch_blocked");
  assert.equal(asked.length, 1);
});
