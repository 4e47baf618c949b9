import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { ended, type Place, place, projectFile, put, until, userFile } from "../support/assent.ts";
import { startReceiver } from "../support/receiver.ts";
import { rewriteLedger } from "../support/rewrite-ledger.ts";

type Line = ReturnType<typeof JSON.parse>;

function audited(at: Place, ...audit: readonly object[]): string {
  put(userFile(at), JSON.stringify({ audit }));
  at.env["AUDIT_KEY"] = "key";
  return join(at.root, "audit.jsonl");
}

function readLines(text: string): readonly Line[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

function linesOf(file: string): readonly Line[] {
  return readLines(readFileSync(file, "utf8"));
}

/** The positions of the events, in the order of the stream. */
function positions(lines: readonly Line[]): readonly number[] {
  return lines.filter((line) => !("anchor" in line)).map(({ pos }) => pos);
}

function firstNumbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

const LIST = ["call", "list", "--input", '{"path":"."}'];

async function work(at: Place, env: Record<string, string> = {}): Promise<string> {
  const { code, value, stderr } = await at.hereJson(LIST, { env });
  assert.equal(code, 0, stderr);
  return value.sessionId;
}

async function verified(
  at: Place,
  ...argv: string[]
): Promise<{ readonly code: number | null; readonly found: readonly Line[]; readonly compared: Line }> {
  const { code, value } = await at.hereJson(["verify", ...argv]);
  return { code, found: value.findings, compared: value.compared };
}

describe("a file", () => {
  test("gets every event once and in order, with an anchor at the end, and only its owner can read it", async () => {
    using at = place();
    const file = audited(at, { file: "~/audit.jsonl" });
    await work(at);
    const before = linesOf(file).length;
    const session = await work(at);
    const lines = linesOf(file);
    const { value } = await at.hereJson(["audit"]);
    const [{ sent, head, problem }] = value.destinations;
    assert.deepEqual([sent, problem], [head, null]);
    assert.deepEqual(positions(lines), firstNumbers(head));
    assert.ok("anchor" in lines[before - 1]);
    const { anchor } = lines.at(-1);
    assert.equal(anchor.pos, head);
    const last = lines.findLast((line) => line.session === session);
    assert.deepEqual(
      anchor.heads.find((one: Line) => one.session === session),
      { session, seq: last.seq, hash: last.hash },
    );
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(await verified(at, "--anchors", file), {
      code: 0,
      found: [],
      compared: { events: head, otherLedgers: 0, unreadableLines: 0 },
    });
  });

  test("can be rotated: the next file continues after the last event of the one before", async () => {
    using at = place();
    const file = audited(at, { file: "~/audit.jsonl" });
    await work(at);
    renameSync(file, `${file}.1`);
    await work(at);
    const both = [...linesOf(`${file}.1`), ...linesOf(file)];
    assert.deepEqual(positions(both), firstNumbers(positions(both).length));
    assert.equal((await verified(at, "--anchors", `${file}.1`, "--anchors", file)).code, 0);
    assert.equal((await verified(at, "--anchors", file)).code, 0);
  });

  test("a line that was cut off is left as it is, and the events come again", async () => {
    using at = place();
    const file = audited(at, { file: "~/audit.jsonl" });
    const session = await work(at);
    writeFileSync(file, readFileSync(file, "utf8").slice(0, -20));
    await work(at);
    const { code, compared } = await verified(at, "--anchors", file);
    assert.deepEqual([code, compared.unreadableLines], [0, 1]);
    assert.match((await at.here(["verify", "--anchors", file])).stdout, /Compared with \d+ streamed events \(1 line not readable\)/);
    assert.ok(readFileSync(file, "utf8").includes(session));
  });

  const UNUSABLE: readonly (readonly [sentence: string, make: (file: string) => void, reason: RegExp])[] = [
    ["a directory", (file) => mkdirSync(file), /EISDIR|directory/],
    ["a link", (file) => symlinkSync("/dev/null", file), /it is a link/],
  ];
  for (const [sentence, make, reason] of UNUSABLE)
    test(`that is ${sentence} does not stop a call, and is reported`, async () => {
      using at = place();
      make(audited(at, { file: "~/audit.jsonl" }));
      const { code, stderr } = await at.here(LIST);
      assert.equal(code, 0);
      assert.match(stderr, /warning: The audit stream does not reach .*audit\.jsonl: /);
      const { value } = await at.hereJson(["audit"]);
      assert.match(value.destinations[0].problem.reason, reason);
    });

  test("two ledgers and several processes at once write to one file without a gap", async () => {
    using at = place();
    const file = audited(at, { file: "~/audit.jsonl" });
    const other = join(at.root, "other");
    const runs = [at.store, at.store, other].map((store) => at.run([...LIST, "--store", store]));
    for (const { code, stderr } of await Promise.all(runs)) assert.equal(code, 0, stderr);
    for (const store of [at.store, other]) assert.equal((await at.here(["audit", "send", "--store", store])).code, 0);
    const lines = linesOf(file);
    for (const store of new Set(lines.map((line) => line.store))) {
      const own = positions(lines.filter((line) => line.store === store));
      assert.deepEqual(own, firstNumbers(own.length));
    }
    const { code, compared } = await verified(at, "--anchors", file);
    assert.equal(code, 0);
    assert.ok(compared.otherLedgers > 0);
  });

  test("an older copy of the record is sent again from the beginning, and what it lacks is noticed", async () => {
    using at = place();
    const file = audited(at, { file: "~/audit.jsonl" });
    await work(at);
    copyFileSync(join(at.store, "ledger.db"), join(at.root, "backup.db"));
    const lost = await work(at);
    for (const name of ["ledger.db-wal", "ledger.db-shm"]) rmSync(join(at.store, name), { force: true });
    copyFileSync(join(at.root, "backup.db"), join(at.store, "ledger.db"));
    await work(at);
    await work(at);
    const again = positions(linesOf(file)).lastIndexOf(1);
    assert.ok(again > 0, "position 1 came twice");
    assert.deepEqual(positions(linesOf(file)).slice(again), firstNumbers((await at.hereJson(["audit"])).value.destinations[0].head));
    const { code, found } = await verified(at, "--anchors", file);
    assert.equal(code, 1);
    assert.deepEqual(found.find(({ session }) => session === lost)?.type, "missing_session");
  });
});

test("a tool that would change the file of the stream asks in every mode", async () => {
  using at = place();
  const file = audited(at, { file: "~/audit.jsonl" });
  const input = JSON.stringify({ file_path: file, content: "" });
  const { value } = await at.hereJson(["explain", "--mode", "yolo", "--tool", "write", "--input", input]);
  assert.equal(value.verdict, "ask");
});

test("a project's settings cannot set audit, also if they are trusted", async () => {
  using at = place();
  put(projectFile(at), JSON.stringify({ audit: [{ file: join(at.root, "project.jsonl") }] }));
  put(userFile(at), JSON.stringify({ audit: [] }));
  assert.equal((await at.here(["trust", "--yes"])).code, 0);
  await work(at);
  assert.equal(existsSync(join(at.root, "project.jsonl")), false);
  assert.deepEqual((await at.hereJson(["audit"])).value.destinations, []);
  const sent = await at.hereJson(["audit", "send"]);
  assert.deepEqual([sent.code, sent.value.error.type], [2, "audit_not_set"]);
});

test("settings with a fault are named, and nothing is sent", async () => {
  using at = place();
  await using receiver = await startReceiver();
  await work(at);
  const audit = [{ webhook: receiver.url, secret: "env:AUDIT_KEY" }];
  put(userFile(at), JSON.stringify({ audit, redaction: { patterns: [{ name: "mine" }] } }));
  at.env["AUDIT_KEY"] = "key";
  for (const command of [["audit"], ["audit", "send"]]) {
    const { code, stderr } = await at.here(command);
    assert.equal(code, 2);
    assert.match(stderr, /settings\.json:1:\d+: redaction\.patterns\[0\]/);
  }
  for (const command of [["inbox", "--no-open"], ["worker"]]) {
    const child = at.start(command);
    const over = ended(child);
    let said = "";
    child.stderr?.on("data", (text: Buffer) => {
      said += text;
      if (said.includes("Ctrl-C") && said.includes("takes up to")) child.kill("SIGTERM");
    });
    child.stdout?.on("data", (text: Buffer) => {
      if (String(text).includes("takes up to")) child.kill("SIGTERM");
    });
    await over;
    assert.match(said, /warning: The settings cannot be used\. Nothing is streamed[^\n]*\n {2}[^\n]*settings\.json:1:/);
  }
  assert.deepEqual(receiver.got, []);
});

describe("a webhook", () => {
  test("gets signed lines of JSON, which a file of them proves later", async () => {
    using at = place();
    await using receiver = await startReceiver();
    audited(at, { webhook: `${receiver.url}/hook`, secret: "env:AUDIT_KEY" });
    await work(at);
    const [{ path, headers, body } = assert.fail("nothing came")] = receiver.got;
    assert.deepEqual([path, headers["content-type"]], ["/hook", "application/x-ndjson"]);
    const mac = createHmac("sha256", "key").update(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`).digest("base64");
    assert.equal(headers["webhook-signature"], `v1,${mac}`);
    assert.deepEqual(positions(readLines(body)), firstNumbers(positions(readLines(body)).length));
    assert.equal((await verified(at, "--anchors", at.write("got.jsonl", body))).code, 0);
  });

  const SECRETS: readonly (readonly [sentence: string, secret: (at: Place) => string, shows: RegExp])[] = [
    ["without the variable that has its key", () => "env:OTHER_KEY", /OTHER_KEY is not set/],
    ["if its key has several lines", () => "env:LINES", /LINES must hold one line/],
    ["if its key is missing", ({ root }) => `file:${root}/key`, /there is no file \/.*\/key/],
    ["if others can read its key", (at) => `file:${put(join(at.root, "open-key"), "key")}`, /chmod 600/],
  ];
  for (const [sentence, secret, shows] of SECRETS)
    test(`${sentence}, it gets nothing`, async () => {
      using at = place();
      await using receiver = await startReceiver();
      audited(at, { webhook: receiver.url, secret: secret(at) });
      const { code, stderr } = await at.here(LIST, { env: { LINES: "one\ntwo" } });
      assert.equal(code, 0);
      assert.match(stderr, shows);
      assert.deepEqual(receiver.got, []);
    });

  test("its key is hidden from commands, and asked about in files", async () => {
    using at = place();
    const key = put(join(at.root, "keys", "audit"), "k");
    audited(at, { webhook: "http://127.0.0.1:9", secret: "env:AUDIT_KEY" }, { otlp: "http://127.0.0.1:9", token: `file:${key}` });
    const ran = await at.here(["call", "shell", "--mode", "yolo", "--input", '{"command":"printenv AUDIT_KEY; true"}'], {
      env: { AUDIT_KEY: "hidden-value" },
    });
    assert.ok(!ran.stdout.includes("hidden-value"));
    const { value } = await at.hereJson(["explain", "--tool", "read", "--input", JSON.stringify({ file_path: key })]);
    assert.equal(value.verdict, "ask");
  });

  const FAULTS: readonly (readonly [sentence: string, answer: Parameters<typeof startReceiver>[0], reason: RegExp])[] = [
    ["answers with an error", (response) => response.writeHead(503).end(), /it answered 503/],
    [
      "redirects",
      (response) => response.writeHead(302, { location: "http://127.0.0.1:9/" }).end(),
      /it redirects, which is refused; configure the final address/,
    ],
    ["answers nonsense", (response) => response.socket?.end("HTTP/9 what\r\n"), /Parse Error/],
    ["closes the connection", (response) => response.destroy(), /closed|hang up|reset/],
  ];
  for (const [sentence, answer, reason] of FAULTS)
    test(`that ${sentence} does not disturb a call, and gets everything later, once`, async () => {
      using at = place();
      await using receiver = await startReceiver(answer);
      audited(at, { webhook: receiver.url, secret: "env:AUDIT_KEY" });
      const { code, stdout, stderr } = await at.here(LIST);
      assert.deepEqual([code, stdout], [0, ".git/\n"]);
      assert.match(stderr, reason);
      assert.equal(receiver.got.length, 1);
      const failed = await at.hereJson(["audit", "send"]);
      assert.equal(failed.code, 1);
      assert.match(failed.value.destinations[0].problem.reason, reason);
      assert.deepEqual((await at.hereJson(["audit"])).value, failed.value, "both commands print the same form");
      receiver.got.length = 0;
      receiver.answer = (response) => response.end();
      const sent = await at.hereJson(["audit", "send"]);
      assert.deepEqual([sent.code, sent.value.destinations[0].problem], [0, null]);
      assert.deepEqual(positions(receiver.got.flatMap(({ body }) => readLines(body))), firstNumbers(sent.value.destinations[0].head));
    });

  test("that never answers is left when the call is over, and not waited for again by the next one", async () => {
    using at = place();
    await using receiver = await startReceiver(() => undefined);
    audited(at, { webhook: receiver.url, secret: "env:AUDIT_KEY" });
    const first = await at.here(LIST);
    assert.deepEqual([first.code, first.stdout], [0, ".git/\n"]);
    assert.equal(receiver.got.length, 1);
    assert.equal((await at.here(LIST)).code, 0);
    receiver.answer = (response) => response.end();
    assert.equal((await at.here(["audit", "send"])).code, 0);
    const got = positions(receiver.got.slice(1).flatMap(({ body }) => readLines(body)));
    assert.deepEqual(got, firstNumbers(got.length));
  });

  test("gets another id with other events, so that a receiver that drops repeated ids loses nothing", async () => {
    using at = place();
    await using receiver = await startReceiver((response) => response.destroy()); // it has the events, but the answer is lost
    audited(at, { webhook: receiver.url, secret: "env:AUDIT_KEY" });
    await work(at);
    assert.equal((await at.here(["audit", "send"])).code, 1);
    await work(at);
    receiver.answer = (response) => response.end();
    assert.equal((await at.here(["audit", "send"])).code, 0);
    const byId = new Map(receiver.got.toReversed().map(({ headers, body }) => [headers["webhook-id"], body])); // the first of each id
    assert.ok(byId.size < receiver.got.length, "the same events come with the same id");
    const got = new Set(positions([...byId.values()].flatMap(readLines)));
    assert.equal(got.size, (await at.hereJson(["audit"])).value.destinations[0].head);
  });

  test("that refuses large messages gets smaller ones", async () => {
    using at = place();
    await using receiver = await startReceiver((response, { body }) => response.writeHead(body.split("\n").length > 5 ? 413 : 200).end());
    audited(at, { webhook: receiver.url, secret: "env:AUDIT_KEY" });
    await work(at);
    const taken = receiver.got.filter(({ body }) => body.split("\n").length <= 5);
    const got = positions(taken.flatMap(({ body }) => readLines(body)));
    assert.deepEqual(got, firstNumbers((await at.hereJson(["audit"])).value.destinations[0].head));
  });

  test("gets everything after a process that was sending was killed", async () => {
    using at = place();
    await using receiver = await startReceiver(() => undefined);
    await work(at);
    audited(at, { webhook: receiver.url, secret: "env:AUDIT_KEY" });
    const sending = at.start(["audit", "send", "--follow"]);
    await until("it sends", () => receiver.got.length > 0);
    sending.kill("SIGKILL");
    await ended(sending);
    receiver.got.length = 0;
    receiver.answer = (response) => response.end();
    assert.equal((await at.here(["audit", "send"])).code, 0);
    const got = positions(receiver.got.flatMap(({ body }) => readLines(body)));
    assert.deepEqual(got, firstNumbers(got.length));
  });

  test("is followed while other processes commit, until a signal comes", async () => {
    using at = place();
    await using receiver = await startReceiver();
    audited(at, { webhook: receiver.url, secret: "env:AUDIT_KEY" });
    await work(at);
    const following = at.start(["audit", "send", "--follow"]);
    const parked = await at.hereJson(["call", "shell", "--input", '{"command":"touch x"}', "--on-ask", "park"]);
    assert.equal((await at.here(["reject", parked.value.approvalId])).code, 0);
    await until("the answer is sent", () => receiver.got.some(({ body }) => body.includes('"approval.answered"')));
    following.kill("SIGTERM");
    assert.equal((await ended(following)).code, 130);
    const got = positions(receiver.got.flatMap(({ body }) => readLines(body)));
    assert.deepEqual(got, firstNumbers(got.length));
  });
});

describe("an OTLP collector", () => {
  test("gets log records with the place, the type and the hash of each event", async () => {
    using at = place();
    await using receiver = await startReceiver((response) => response.end('{"partialSuccess":{}}'));
    audited(at, { otlp: `${receiver.url}/v1/logs`, token: "env:OTLP_TOKEN" });
    const session = await work(at, { OTLP_TOKEN: "secret" });
    const [{ path, headers, body } = assert.fail("nothing came")] = receiver.got;
    assert.deepEqual([path, headers["content-type"], headers["authorization"]], ["/v1/logs", "application/json", "Bearer secret"]);
    const {
      resourceLogs: [{ resource, scopeLogs }],
    } = JSON.parse(body);
    assert.deepEqual(resource.attributes[0], { key: "service.name", value: { stringValue: "assent" } });
    const { logRecords } = scopeLogs[0];
    const judged = logRecords.find((one: Line) => one.eventName === "assent.call.judged");
    assert.match(judged.timeUnixNano, /^\d{13}000000$/);
    assert.equal(judged.severityNumber, 9);
    const named = Object.fromEntries(judged.attributes.map(({ key, value }: Line) => [key, value]));
    assert.deepEqual(named["assent.session"], { stringValue: session });
    assert.match(named["assent.pos"].intValue, /^\d+$/);
    assert.match(named["assent.hash"].stringValue, /^[0-9a-f]{64}$/);
    assert.deepEqual(named["assent.verdict"], { stringValue: "allow" });
    assert.equal(JSON.parse(judged.body.stringValue).tool, "list");
    assert.equal(logRecords.at(-1).eventName, "assent.anchor");
  });

  const ANSWERS: readonly (readonly [sentence: string, answer: string, code: number, shows: RegExp])[] = [
    ["no body is a success", "", 0, /sent up to/],
    ["a page instead of an answer is not a success", "<html>welcome</html>", 1, /not one of an OTLP collector/],
    ["refused records are reported", '{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"old"}}', 0, /refused 2 records: old/],
  ];
  for (const [sentence, answer, code, shows] of ANSWERS)
    test(sentence, async () => {
      using at = place();
      await using receiver = await startReceiver((response) => response.end(answer));
      await work(at);
      audited(at, { otlp: `${receiver.url}/v1/logs` });
      const sent = await at.here(["audit", "send"]);
      assert.equal(sent.code, code);
      assert.match(sent.stdout, shows);
    });
});

describe("verify --anchors", () => {
  /** Ways to change the record that leave it sound in itself, or nearly so. */
  const CHANGES: readonly (readonly [
    sentence: string,
    change: (at: Place, session: string) => unknown,
    finding: { readonly type: string; readonly isShared?: true },
    isSound: boolean,
  ])[] = [
    [
      "one changed byte with all hashes computed again",
      (at) => rewriteLedger(at.store, (body) => body.replace('"path":"."', '"path":","')),
      { type: "chain_break" },
      true,
    ],
    [
      "a changed answer on the shared chain, too",
      (at) => rewriteLedger(at.store, (body) => body.replace('"version":6', '"version":5')),
      { type: "chain_break", isShared: true },
      true,
    ],
    [
      "a session whose end is gone",
      (at, session) => edit(at, (database) => database.prepare("delete from events where session = ? and seq > 3").run(session)),
      { type: "truncated" },
      false,
    ],
    [
      "a session that is gone",
      (at, session) => edit(at, (database) => database.prepare("delete from events where session = ?").run(session)),
      { type: "missing_session" },
      false,
    ],
  ];
  for (const [sentence, change, { type, isShared }, isSound] of CHANGES)
    test(`notices ${sentence}`, async () => {
      using at = place();
      const file = audited(at, { file: "~/audit.jsonl" });
      const session = await work(at);
      put(userFile(at), "{}");
      await change(at, session);
      assert.equal((await verified(at)).code, isSound ? 0 : 1);
      const { code, found } = await verified(at, "--anchors", file);
      assert.equal(code, 1);
      const wanted = isShared ? "_store" : session;
      const streamed = found.filter(({ hint }) => hint.startsWith("Find out who changed"));
      assert.ok(
        streamed.some((one) => one.type === type && one.session === wanted),
        JSON.stringify(streamed),
      );
    });

  test("names the first event that differs, also if only anchors were kept", async () => {
    using at = place();
    const file = audited(at, { file: "~/audit.jsonl" });
    const session = await work(at);
    put(userFile(at), "{}");
    rewriteLedger(at.store, (body) => body.replace('"path":"."', '"path":","'));
    const changed = linesOf(file).find((line) => line.type === "call.judged");
    const { found } = await verified(at, "--anchors", file);
    assert.deepEqual(
      found.filter((one) => one.session === session).map(({ seq }) => seq),
      [changed.seq],
    );
    const anchors = linesOf(file).filter((line) => "anchor" in line);
    const only = at.write("anchors.jsonl", anchors.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const { code, found: coarse } = await verified(at, "--anchors", only);
    assert.equal(code, 1);
    assert.deepEqual(
      coarse.filter((one) => one.session === session).map(({ type }) => type),
      ["chain_break"],
    );
  });

  test("tells a pruned session from a deleted one, and notices a false record of pruning", async () => {
    using at = place();
    const file = audited(at, { file: "~/audit.jsonl" });
    const session = await work(at);
    put(userFile(at), "{}");
    edit(at, (database) =>
      database.exec("update sessions set row = json_set(row, '$.updatedAt', '2020-01-01T00:00:00.000Z') where row is not null"),
    );
    const pruned = await at.here(["prune", "--older-than", "30d"]);
    assert.match(pruned.stdout, /Removed 1 session/, pruned.stderr);
    const { code, found } = await verified(at, "--anchors", file);
    assert.deepEqual([code, found.map(({ type, severity }) => [type, severity])], [0, [["anchor_pruned", "warning"]]]);
    rewriteLedger(at.store, (body) =>
      body.replace(/^\{"hash":"[0-9a-f]{64}","seq":(\d+),"session"/, `{"hash":"${"0".repeat(64)}","seq":$1,"session"`),
    );
    const other = await verified(at, "--anchors", file);
    assert.equal(other.code, 1);
    assert.ok(
      other.found.some((one) => one.session === session && one.type === "chain_break"),
      JSON.stringify(other.found),
    );
  });

  test("refuses the stream of another ledger, and files without one", async () => {
    using at = place();
    using other = place();
    const file = audited(other, { file: "~/audit.jsonl" });
    await work(other);
    await work(at);
    const { code, found } = await verified(at, "--anchors", file);
    assert.equal(code, 1);
    assert.match(found[0].message, /another ledger/);
    await at.here(["verify", "--export-anchor", "heads.json"]);
    const swapped: readonly (readonly [option: string, file: string, right: RegExp])[] = [
      ["--anchors", at.path("heads.json"), /A file of --export-anchor belongs to --anchor\./],
      ["--anchor", file, /A stream belongs to --anchors\./],
    ];
    for (const [option, given, right] of swapped) assert.match((await at.here(["verify", option, given])).stderr, right);
    for (const wrong of [at.write("empty", ""), at.write("text", "no\nlines\n"), at.path("missing"), at.workspace]) {
      const refused = await at.here(["verify", "--anchors", wrong]);
      assert.equal(refused.code, 2, wrong);
    }
  });
});

function edit(at: Place, change: (database: DatabaseSync) => unknown): void {
  const database = new DatabaseSync(join(at.store, "ledger.db"));
  change(database);
  database.close();
}

test("a position file that is damaged is reported and stops nothing", async () => {
  using at = place();
  audited(at, { file: "~/audit.jsonl" });
  await work(at);
  const [name = ""] = readdirSync(join(at.store, "audit"));
  writeFileSync(join(at.store, "audit", name), "not a database at all, but long enough to be looked at as one".repeat(20));
  const { code, stderr } = await at.here(LIST);
  assert.equal(code, 0);
  assert.match(stderr, /The audit stream does not reach/);
});

describe("log --format", () => {
  test("jsonl prints the events and an anchor, which verify compares; otlp prints requests", async () => {
    using at = place();
    const session = await work(at);
    const all = await at.here(["log", "--format", "jsonl"]);
    const lines = readLines(all.stdout);
    assert.deepEqual(positions(lines), firstNumbers(lines.length - 1));
    assert.equal(lines.at(-1).anchor.pos, lines.length - 1);
    assert.equal((await verified(at, "--anchors", at.write("all.jsonl", all.stdout))).code, 0);
    const one = readLines((await at.here(["log", session, "--since", "2", "--format", "jsonl"])).stdout);
    assert.ok(one.every((line) => "anchor" in line || line.session === "_store" || line.seq > 2));
    const otlp = readLines((await at.here(["log", session, "--type", "call.judged", "--format", "otlp"])).stdout);
    const names = otlp.map(({ resourceLogs }) => resourceLogs[0].scopeLogs[0].logRecords[0].eventName);
    assert.deepEqual(names, ["assent.call.judged", "assent.anchor"]);
    assert.equal((await at.here(["log", "--format", "jsonl", "--json"])).code, 2);
  });
});

test("a secret in a command, a file and an error is in no redacted view", async () => {
  using at = place();
  const file = audited(at, { file: "~/audit.jsonl" });
  const key = `ghp_${"Ab1".repeat(12)}`;
  at.write("secret.txt", `the key is ${key}\n`);
  const calls = [
    ["shell", { command: `curl -H 'X: ${key}' http://127.0.0.1:9` }],
    ["read", { file_path: "secret.txt" }],
    ["read", { file_path: `missing-${key}` }],
    ["write", { file_path: "copy.txt", content: `token ${key}` }],
  ] as const;
  const sessions: string[] = [];
  for (const [tool, input] of calls) {
    const { value } = await at.hereJson(["call", tool, "--input", JSON.stringify(input), "--on-ask", "park"]);
    sessions.push(value.sessionId);
  }
  const [session = ""] = sessions;
  const views = [
    ["log"],
    ["log", "--json"],
    ["log", "--format", "jsonl"],
    ["log", "--format", "otlp"],
    ...sessions.flatMap((id) => [
      ["sessions", "export", id],
      ["sessions", "export", id, "--format", "jsonl"],
    ]),
  ];
  for (const view of views) {
    const { code, stdout } = await at.here(view);
    assert.equal(code, 0, view.join(" "));
    assert.ok(stdout.length > 0 && !stdout.includes(key), view.join(" "));
  }
  assert.equal((await at.here(["audit", "send"])).code, 0);
  const streamed = readFileSync(file, "utf8");
  assert.ok(!streamed.includes(key));
  assert.ok(streamed.includes("[redacted: key]"));
  assert.ok((await at.here(["log", session, "--format", "jsonl", "--raw"])).stdout.includes(key));
});
