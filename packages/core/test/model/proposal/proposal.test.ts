import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type FileEffect,
  judgedPaths,
  type ProposalIdentity,
  proposalIdentityText,
  touchedPaths,
} from "../../../src/model/proposal/proposal.ts";

const effect: FileEffect = {
  path: "/w/a",
  realPath: "/real/a",
  op: "modify",
  before: "sha256:1",
  after: "sha256:2",
  mode: 0o644,
};
const identity: ProposalIdentity = { tool: "edit", toolDigest: "d", input: { b: 1, a: [2] }, label: "Edit: a", effects: [effect] };

test("the digest is over canonical JSON of tool, toolDigest, input, label and all effects", () => {
  assert.equal(
    proposalIdentityText(identity),
    '{"effects":[{"after":"sha256:2","before":"sha256:1","mode":420,"op":"modify","path":"/w/a"}],"input":{"a":[2],"b":1},"label":"Edit: a","tool":"edit","toolDigest":"d"}',
  );
});

type Row = readonly [name: string, other: Partial<ProposalIdentity>];
const DIFFERENT: readonly Row[] = [
  ["tool", { tool: "write" }],
  ["toolDigest", { toolDigest: "e" }],
  ["input", { input: { a: [2] } }],
  ["label", { label: "Edit: b" }],
  ["a path", { effects: [{ ...effect, path: "/w/b" }] }],
  ["an operation", { effects: [{ ...effect, op: "rename", to: "/w/c" }] }],
  ["where a file goes", { effects: [{ ...effect, to: "/w/d" }] }],
  ["what was there", { effects: [{ ...effect, before: "absent" }] }],
  ["what will be there", { effects: [{ ...effect, after: "absent" }] }],
  ["a mode", { effects: [{ ...effect, mode: null }] }],
  ["an effect more", { effects: [effect, { ...effect, path: "/w/z" }] }],
];
for (const [name, other] of DIFFERENT) {
  test(`another digest for another one: ${name}`, () =>
    assert.notEqual(proposalIdentityText({ ...identity, ...other }), proposalIdentityText(identity)));
}

test("where a path led is not part of the digest; it is checked on apply", () => {
  assert.equal(proposalIdentityText({ ...identity, effects: [{ ...effect, realPath: "/else" }] }), proposalIdentityText(identity));
});

test("rules are asked about a path as written and where it led, each once", () => {
  const plain = { ...effect, realPath: "/w/a" };
  assert.deepEqual(judgedPaths([effect, plain, { ...plain, path: "/w/b", realPath: "/w/b", to: "/w/c" }]), [
    "/w/a",
    "/real/a",
    "/w/b",
    "/w/c",
  ]);
});

test("a rename touches both places", () => assert.deepEqual(touchedPaths([{ ...effect, to: "/w/c" }]), ["/real/a", "/w/c"]));
