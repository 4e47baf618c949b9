import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type TestContext, test } from "node:test";
import {
  type By,
  type Facts,
  type FileReview,
  type ProposalPart,
  type ProposalRow,
  readPart,
  reviewProposal,
  type Safeguard,
} from "@assent/core";
import { until } from "../harness.ts";
import { type Patch, type ProposalBench, type ProposalOptions, proposalBench } from "./proposal-bench.ts";

const person: By = { kind: "person", user: "u", name: "n", door: "test", pid: 7 };
const digest = { sha256: (text: string): string => createHash("sha256").update(text).digest("hex") };

const NUMBERS: string = Array.from({ length: 30 }, (_, at) => `${at + 1}\n`).join("");
/** Two hunks, far apart. */
const CHANGED: string = NUMBERS.replace("2\n", "two\n").replace("28\n", "twenty-eight\n");
const TEXTS = { "/workspace/a": NUMBERS, "/workspace/b": "two\n", "/workspace/gone": "old\n", "/workspace/bin": "\u0000\u0001" };
const PATCH: Patch = { a: CHANGED, b: "zwei\n", gone: null, made: "new\n", bin: "\u0000\u0002" };

type PartBench = ProposalBench & { readonly row: ProposalRow; readonly reviews: readonly FileReview[] };

async function partBench(t: TestContext, deps: ProposalOptions["deps"] = {}): Promise<PartBench> {
  const b = await proposalBench(t, { texts: TEXTS, deps });
  const row = await b.stage(PATCH);
  return { ...b, row, reviews: await reviewProposal(b.session, row, digest) };
}

const hunksOf = ({ reviews }: PartBench, name: string): readonly string[] =>
  reviews.find((file) => file.name === name)?.hunks.map(({ id }) => id) ?? [];

const texts = ({ files }: PartBench): Readonly<Record<string, string>> =>
  Object.fromEntries([...files.texts].map(([path, text]) => [path.replace("/workspace/", ""), text]));

const before = Object.fromEntries(Object.entries(TEXTS).map(([path, text]) => [path.replace("/workspace/", ""), text]));
const ONE_HUNK = NUMBERS.replace("28\n", "twenty-eight\n");

const CHOICES: readonly {
  readonly name: string;
  readonly part: (b: PartBench) => ProposalPart;
  readonly after: Readonly<Record<string, string | undefined>>;
  readonly says: RegExp;
}[] = [
  {
    name: "one file of several",
    part: () => ({ files: [{ path: "b" }] }),
    after: { b: "zwei\n" },
    says: /^Applied: b\.\nNot applied: a, gone, made, bin\.$/m,
  },
  {
    name: "one hunk of a file, and a new file",
    part: (b) => ({ files: [{ path: "a", hunks: hunksOf(b, "a").slice(1) }, { path: "/workspace/made" }] }),
    after: { a: ONE_HUNK, made: "new\n" },
    says: /^Applied: a \(hunk 2 of 2\), made\.\nNot applied: a \(hunk 1\), b, gone, bin\.\nRead these files again/m,
  },
  {
    name: "a deletion and a binary file, each as a whole",
    part: () => ({ files: [{ path: "gone" }, { path: "bin" }] }),
    after: { gone: undefined, bin: "\u0000\u0002" },
    says: /^Applied: gone, bin\.\nNot applied: a, b, made\.$/m,
  },
  {
    name: "content that the person wrote instead",
    part: () => ({ files: [{ path: "b", content: "deux\n" }] }),
    after: { b: "deux\n" },
    says: /^Applied: b \(as the person changed it\)\.\nNot applied: a, gone, made, bin\./m,
  },
];

for (const { name, part, after, says } of CHOICES) {
  test(`a person applies a part: ${name}`, async (t) => {
    const b = await partBench(t);
    const report = await b.dispatcher.proposals.apply(b.row.id, person, "enough", part(b));
    assert.deepEqual([report.ok, report.type, report.state], [true, "applied", "superseded"], report.text);
    const { gone: _gone, ...kept } = { ...before, ...after };
    assert.deepEqual(texts(b), "gone" in after ? kept : { ...before, ...after });
    const [notice] = [...b.session.state.notices.values()].map(({ modelText }) => modelText);
    assert.match(notice ?? "", /^A person applied a part of Patch: .* Reason: enough Result: Applied a part of Patch: /);
    assert.match(notice ?? "", says);
    const staged = (await b.stored("proposal.staged")).at(-1)?.body;
    const applying = (await b.stored("proposal.applying")).at(-1)?.body;
    assert.equal(applying?.digest, staged?.digest, "what was chosen is what is applied");
    assert.notEqual(staged?.digest, b.row.digest);
    assert.deepEqual((await b.stored("proposal.applied")).at(-1)?.body, { proposal: staged?.proposal, superseded: [b.row.id] });
    const undone = await b.dispatcher.proposals.undo(staged?.proposal ?? "", person);
    assert.equal(undone.ok, true, undone.text);
    assert.deepEqual(texts(b), before, "the undo restores the part that was applied");
  });
}

test("hunks of a long file can be chosen, and the report names the first of many", async (t) => {
  const lines = Array.from({ length: 300_000 }, (_, at) => `line ${at}\n`);
  const isChanged = (at: number): boolean => at > 299_000 && at % 20 === 0;
  const b = await proposalBench(t, { texts: { "/workspace/a": lines.join("") } });
  const row = await b.stage({ a: lines.map((line, at) => (isChanged(at) ? "new\n" : line)).join("") });
  const [review] = await reviewProposal(b.session, row, digest);
  const hunks = (review?.hunks ?? []).filter((_, at) => at !== 1).map(({ id }) => id);
  const report = await b.dispatcher.proposals.apply(row.id, person, "", { files: [{ path: "a", hunks }] });
  assert.equal(report.ok, true, report.text);
  const [notice] = [...b.session.state.notices.values()].map(({ modelText }) => modelText);
  assert.match(notice ?? "", /a \(hunks 1, 3, 4, .*, 21 and \d+ more of 49\)\.\nNot applied: a \(hunk 2\)/);
  assert.equal(b.files.texts.get("/workspace/a"), lines.map((line, at) => (isChanged(at) && at !== 299_040 ? "new\n" : line)).join(""));
});

test("all files with all hunks is the proposal itself", async (t) => {
  const b = await partBench(t);
  const files = b.reviews.map(({ path, hunks }) => ({ path, ...(hunks.length > 0 && { hunks: hunks.map(({ id }) => id) }) }));
  const report = await b.dispatcher.proposals.apply(b.row.id, person, "", { files });
  assert.deepEqual([report.ok, report.state], [true, "applied"]);
  assert.equal((await b.stored("proposal.staged")).length, 1);
});

const REFUSED: readonly (readonly [name: string, part: (b: PartBench) => unknown, text: RegExp])[] = [
  ["a file that it does not change", () => ({ files: [{ path: "c" }] }), /^c is not among the changes\. Nothing was applied\./],
  ["a file twice", () => ({ files: [{ path: "b" }, { path: "/workspace/b" }] }), /\/workspace\/b is chosen twice/],
  ["a hunk that does not exist", () => ({ files: [{ path: "a", hunks: ["h_0"] }] }), /a has no hunk h_0\./],
  ["a hunk of another file", (b) => ({ files: [{ path: "b", hunks: hunksOf(b, "a") }] }), /b has no hunk h_\w+\./],
  ["no hunk at all", () => ({ files: [{ path: "a", hunks: [] }] }), /Nothing is chosen\./],
  ["no hunk of a binary file", () => ({ files: [{ path: "bin", hunks: [] }] }), /Nothing is chosen\./],
  ["no files", () => ({ files: [] }), /The part cannot be read: /],
  ["other fields", () => ({ files: [{ path: "a", mode: 7 }] }), /files\[0\] needs a path/],
  ["content for a binary file", () => ({ files: [{ path: "bin", content: "x" }] }), /bin cannot be edited here\./],
  ["content for a deletion", () => ({ files: [{ path: "gone", content: "x" }] }), /gone cannot be edited here\./],
];
for (const [name, part, text] of REFUSED) {
  test(`a part is refused, and the proposal stays pending: ${name}`, async (t) => {
    const b = await partBench(t);
    const report = await b.dispatcher.proposals.apply(b.row.id, person, "", part(b) as ProposalPart);
    assert.deepEqual([report.ok, report.type, report.state], [false, "invalid_part", "staged"]);
    assert.match(report.text, text);
    assert.deepEqual(texts(b), before);
  });
}

test("a part whose file changed since is stale, and the rest can still be applied", async (t) => {
  const b = await partBench(t);
  b.files.texts.set("/workspace/b", "mine\n");
  const stale = await b.dispatcher.proposals.apply(b.row.id, person, "", { files: [{ path: "b" }, { path: "made" }] });
  assert.deepEqual([stale.ok, stale.type, stale.state], [false, "proposal_stale", "staged"]);
  assert.equal(b.files.texts.has("/workspace/made"), false, "all or nothing");
  const fine = await b.dispatcher.proposals.apply(b.row.id, person, "", { files: [{ path: "made" }] });
  assert.deepEqual([fine.ok, b.files.texts.get("/workspace/made")], [true, "new\n"]);
});

test("a part that cannot be written is dropped, and the proposal stays pending", async (t) => {
  const b = await partBench(t);
  b.files.faults.push("write");
  const failed = await b.dispatcher.proposals.apply(b.row.id, person, "", { files: [{ path: "b" }] });
  assert.deepEqual([failed.ok, failed.type, failed.state], [false, "proposal_apply_failed", "staged"]);
  assert.deepEqual(
    b.dispatcher.proposals.list().map(({ id }) => id),
    [b.row.id],
  );
});

test("a part is judged by its own files: what is denied can be left out", async (t) => {
  const facts: Facts = ({ locations }) => ({ units: (locations ?? []).map(({ path }) => ({ subject: path })), binds: {} });
  const b = await partBench(t, { facts });
  const keep: Safeguard = {
    id: "keep-b",
    check: (_request, unit) => ({ verdict: JSON.stringify(unit).includes("/workspace/b") ? "deny" : "none" }),
  };
  b.policy.set({ mode: "yolo", safeguards: [keep] });
  const denied = await b.dispatcher.proposals.apply(b.row.id, person, "", { files: [{ path: "b" }] });
  assert.deepEqual([denied.ok, denied.state], [false, "staged"]);
  const allowed = await b.dispatcher.proposals.apply(b.row.id, person, "", { files: [{ path: "made" }] });
  assert.deepEqual([allowed.ok, texts(b)], [true, { ...before, made: "new\n" }]);
});

type Crash = readonly [name: string, fault: "crash-before" | "crash" | "crash-after", part: string, whole: string, a: string];
const CRASHES: readonly Crash[] = [
  ["before the first file", "crash-before", "discarded", "staged", NUMBERS],
  ["between two files", "crash", "discarded", "staged", NUMBERS],
  ["after the last file", "crash-after", "applied", "superseded", ONE_HUNK],
];
for (const [name, fault, part, whole, a] of CRASHES) {
  test(`a process that is killed while it applies a part, ${name}`, async (t) => {
    const b = await partBench(t);
    b.files.faults.push(fault);
    const files = [{ path: "a", hunks: hunksOf(b, "a").slice(1) }, { path: "b" }];
    void b.dispatcher.proposals.apply(b.row.id, person, "", { files });
    await until(() => b.files.reached.crashed === 1);
    const next = await proposalBench(t, { beside: b, files: b.files, reopen: { id: b.session.id, takeOver: true } });
    await next.resume();
    const rows = await next.ledger.pending("proposals", { all: true });
    assert.deepEqual(
      rows.map(({ id, state }) => [id === b.row.id ? "whole" : "part", state]),
      [
        ["whole", whole],
        ["part", part],
      ],
    );
    assert.equal(b.files.texts.get("/workspace/a"), a);
    assert.equal(next.session.state.notices.size, 1);
  });
}

test("the same hunk has the same id in every review, and readPart takes what a review gives", async (t) => {
  const b = await partBench(t);
  assert.deepEqual(hunksOf({ ...b, reviews: await reviewProposal(b.session, b.row, digest) }, "a"), hunksOf(b, "a"));
  assert.equal(new Set(b.reviews.flatMap(({ hunks }) => hunks.map(({ id }) => id))).size, 5);
  assert.deepEqual(readPart({ files: [{ path: "a", hunks: hunksOf(b, "a") }] }), { files: [{ path: "a", hunks: hunksOf(b, "a") }] });
});
