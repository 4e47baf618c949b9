import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalJson, type Json, LedgerError } from "@assent/core";
import { endedDraft, judgedDraft, proposedDraft } from "@assent/core/testing";
import fc from "fast-check";
import { storedBody, withBlobs } from "../src/write/blobs.ts";
import { begin, madeLedger, readAll, tamper } from "./made-store.ts";

const LIMIT = 65_536;

function roundTrip(value: Json): Json {
  const { body, text, blobs } = storedBody("test", { value });
  assert.equal(text, canonicalJson(body));
  const bytes = new Map(blobs.map((blob) => [blob.sha, blob.bytes]));
  const whole = withBlobs(JSON.parse(text) as Json, (sha) => bytes.get(sha));
  assert.equal(canonicalJson(whole), canonicalJson({ value }));
  return body["value"] ?? null;
}

const SIZES: readonly (readonly [string, Json, boolean])[] = [
  ["a string of exactly 64 KiB stays", "x".repeat(LIMIT), false],
  ["a string of one byte more is taken out", "x".repeat(LIMIT + 1), true],
  ["the size counts in bytes of UTF-8", "é".repeat(LIMIT / 2 + 1), true],
  ["half as many such characters stay", "é".repeat(LIMIT / 2), false],
  ["a caller's own $blob is kept apart", { $blob: "0".repeat(64), size: 3 }, true],
  ["whatever such a $blob holds", { $blob: null, deep: [{ $blob: 1 }] }, true],
  ["a text that merely speaks of it stays", '"$blob":', false],
  ["many small values together stay while they fit", Array.from({ length: 100 }, (_, at) => `${at}`.repeat(300)), false],
  [
    "many small values are taken out together when the event would be too large",
    Array.from({ length: 200 }, (_, at) => `${at % 10}`.repeat(6_000)),
    true,
  ],
  [
    "so are values that a caller's own $blob is among",
    [{ $blob: 1 }, ...Array.from({ length: 200 }, (_, at) => `${at % 10}`.repeat(6_000))],
    true,
  ],
];

for (const [title, value, taken] of SIZES) {
  test(title, () => {
    const stored = roundTrip(value);
    assert.equal(typeof stored === "object" && stored !== null && "$blob" in stored, taken);
  });
}

test("whatever goes in comes out, with keys like $blob and __proto__ among it", () => {
  const keys = fc.oneof(fc.constantFrom("$blob", "size", "json", "__proto__", "toJSON"), fc.string({ unit: "grapheme" }));
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<Json[]>(null, true, 0, -1.5, "x".repeat(LIMIT + 1)),
      fc.string({ unit: "grapheme" }),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.array(fc.tuple(keys, tie("value")), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
    ),
  }));
  fc.assert(fc.property(value, (any) => void roundTrip(any)));
});

test("a large body is written in canonical form, with what stays and without what is not there", () => {
  const value = Array.from({ length: 200 }, () => "x".repeat(6_000));
  const { body, text, blobs } = storedBody("test", { é: 1, z: [2], b: value, a: "y".repeat(LIMIT + 1), none: undefined as never });
  assert.equal(text, canonicalJson(body));
  assert.deepEqual(Object.keys(body).toSorted(), ["a", "b", "z", "é"]);
  assert.deepEqual([body["z"], body["é"]], [[2], 1]);
  assert.deepEqual(
    new Set(blobs.map(({ bytes }) => Buffer.from(bytes).toString())),
    new Set(["y".repeat(LIMIT + 1), canonicalJson(value)]),
  );
});

test("an event that stays over 1 MiB is refused", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  const raw = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`k${at}`, "x".repeat(60_000)]));
  await writer.append(proposedDraft("c0", { raw }));
  const members = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`k${at}`, "x".repeat(60_000)]));
  const draft = proposedDraft("c1", members as never);
  await assert.rejects(writer.append(draft), (error) => error instanceof LedgerError && error.type === "event_too_large");
  assert.equal((await readAll(ledger, { session: writer.lease.session, seq: 0 })).length, 3);
});

test("a reader is given references, and the values come back whole", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  const content = "0123456789".repeat(10_000);
  const lookalike = { $blob: "0".repeat(64), size: 1 };
  const [appended] = await writer.append(proposedDraft("c1", { raw: { content, lookalike } }));
  const [read] = await readAll(ledger, { session: writer.lease.session, seq: 2 });
  assert.deepEqual(appended, read);
  const raw = read?.body["raw"] as { readonly content: { readonly $blob: string; readonly size: number } };
  assert.equal(raw.content.size, content.length);
  assert.match(raw.content.$blob, /^[0-9a-f]{64}$/);
  assert.deepEqual((await ledger.resolve(read?.body ?? {}))["raw"], { content, lookalike });
});

test("a value that two events share is kept once", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  const content = "x".repeat(100_000);
  await writer.append(proposedDraft("c1", { raw: content }), judgedDraft("c1", { input: { content } }));
  tamper(ledger.directory, (database) => assert.equal(database.prepare("select count(*) as n from blobs").get()?.["n"], 1));
});

const BROKEN: readonly (readonly [string, string, string])[] = [
  ["whose bytes changed is never given out", "update blobs set bytes = cast('other' as blob)", "blob_corrupt"],
  ["that is gone is missed", "delete from blobs", "blob_missing"],
];

for (const [title, sql, type] of BROKEN) {
  test(`a value ${title}, and the fold does not need it`, async (t) => {
    const ledger = await madeLedger(t);
    const writer = await begin(ledger);
    const [event] = await writer.append(proposedDraft("c1", { raw: "x".repeat(100_000) }));
    tamper(ledger.directory, (database) => database.exec(sql));
    await assert.rejects(ledger.resolve({ raw: event?.body } as never), { type });
    assert.equal((await writer.append(endedDraft("c1", { outcome: "cancelled" }))).length, 1);
    assert.equal((await readAll(ledger, { session: writer.lease.session, seq: 0 })).length, 4);
  });
}
