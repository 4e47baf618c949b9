import assert from "node:assert/strict";
import { test } from "node:test";
import { ToolError } from "../../../src/errors.ts";
import { resolveText, thrownWords } from "../../../src/model/proposal/resolve-texts.ts";

const one = { id: "p_1", label: "Edit: a.ts" };
const two = { id: "p_2", label: "Write: b.ts" };
const many = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `f${at + 1}`);

const TEXTS: readonly [name: string, text: string, expected: string][] = [
  ["applying nothing", resolveText.nothingToApply(), "No pending action to resolve. Nothing to apply or discard."],
  ["discarding nothing", resolveText.nothingToDiscard(), "No action is pending. Nothing to discard."],
  ["an apply that failed", resolveText.applyFailed("disk"), "Apply failed: disk"],
  ["a discard with a reason", resolveText.discarded({ label: "Edit: a.ts", reason: "wrong" }), "Discarded: Edit: a.ts. Reason: wrong."],
  ["a doubled full stop stays", resolveText.discarded({ label: "L.", reason: "No." }), "Discarded: L.. Reason: No.."],
  ["an empty reason", resolveText.discarded({ label: "L", reason: "" }), "Discarded: L. Reason: ."],
  [
    "a choice among several",
    resolveText.ambiguous([one, two]),
    "Several actions are pending. Give the id of one:\n- p_1: Edit: a.ts\n- p_2: Write: b.ts",
  ],
  ["nothing pending", resolveText.notFound({ id: "p_9", pending: [] }), "No proposal p_9 in this session."],
  ["one pending", resolveText.notFound({ id: "p_9", pending: [one] }), "No proposal p_9 in this session.\n- p_1: Edit: a.ts"],
  [
    "of another session",
    resolveText.notFound({ id: "p_9", pending: [], owner: "s_2" }),
    "No proposal p_9 in this session. It belongs to session s_2.",
  ],
  [
    "applying one that is applied",
    resolveText.notPending({ id: "p_1", state: "applied" }, "applied"),
    "Proposal p_1 is applied. Nothing was applied.",
  ],
  ["settling one that is stale", resolveText.alreadySettled({ id: "p_1", state: "stale" }), "Proposal p_1 is already stale."],
  [
    "discarding one that is applied",
    resolveText.notPending({ id: "p_1", state: "applied" }, "discarded"),
    "Proposal p_1 is applied. Nothing was discarded.",
  ],
  ["one that another process applies", resolveText.busy(one), "Proposal p_1 is being applied elsewhere."],
  ["one file", resolveText.stale(["a.ts"]), "Stale: 1 file changed since the preview: a.ts. Nothing was written. Preview again."],
  [
    "two files",
    resolveText.stale(["a.ts", "b.ts"]),
    "Stale: 2 files changed since the preview: a.ts, b.ts. Nothing was written. Preview again.",
  ],
  [
    "20 names are said",
    resolveText.stale(many(20)),
    `Stale: 20 files changed since the preview: ${many(20).join(", ")}. Nothing was written. Preview again.`,
  ],
  [
    "more than 20 are counted",
    resolveText.stale(many(23)),
    `Stale: 23 files changed since the preview: ${many(20).join(", ")} and 3 more. Nothing was written. Preview again.`,
  ],
  [
    "one whose process has ended",
    resolveText.lost(one),
    "Lost: Edit: a.ts was staged by a process that has ended. Nothing was applied. Preview again.",
  ],
  [
    "one that only a person may apply",
    resolveText.resolverIsPerson(one),
    "Only a person can apply Edit: a.ts. It is waiting for them as p_1.",
  ],
  ["one file", resolveText.restored(1), "Restored 1 file."],
  ["two files", resolveText.restored(2), "Restored 2 files."],
  [
    "an apply whose end is unknown",
    resolveText.unknown({
      label: "L",
      message: "m",
      files: [
        { path: "a", at: "after" },
        { path: "b", at: "other" },
      ],
    }),
    "It is unknown whether L was applied: m\n- a: after\n- b: other",
  ],
  [
    "an undo after the files changed",
    resolveText.undoConflict({ id: "p_1", files: ["a", "b"] }),
    "Cannot undo p_1: changed since: a, b. Nothing was written.",
  ],
  ["undoing one that was discarded", resolveText.notUndoable({ id: "p_1", state: "discarded" }), "Proposal p_1 is discarded."],
  [
    "the undo of a proposal of which a part was applied names the part",
    resolveText.notUndoable({ id: "p_1", state: "superseded", supersededBy: "p_2" }),
    "Proposal p_1 itself was not applied: p_2 was applied instead. Undo p_2.",
  ],
  ["an undo without pre-images", resolveText.undoUnavailable(one), "Edit: a.ts was applied by code that keeps no pre-images."],
  ["one that was superseded", resolveText.superseded(one), "Superseded: p_1 (Edit: a.ts)."],
  [
    "a cancel before the first write",
    resolveText.cancelledBeforeCommit(one),
    "Cancelled before anything was written. Edit: a.ts is still pending.",
  ],
  [
    "a cancel during an apply",
    resolveText.cancelledUnknown(one),
    "Cancelled while applying Edit: a.ts. It may have taken effect. Check before trying again.",
  ],
  ["a tool that changed", resolveText.toolChanged("edit"), "Tool edit changed since the preview."],
  ["parked", resolveText.parked(one), "Edit: a.ts is parked for the person as p_1. Continue without it."],
  ["a staged preview", resolveText.staged(one), "Preview staged as p_1: Edit: a.ts. No file was modified."],
  ["what does not fit", resolveText.moreChanges(3, "p_1"), "… 3 more changes in the stored preview p_1"],
];
for (const [name, text, expected] of TEXTS) test(`${name} says: ${expected.split("\n")[0]}`, () => assert.equal(text, expected));

const THROWN: readonly [name: string, thrown: unknown, words: string][] = [
  ["an error's message", new Error("disk"), "disk"],
  ["its name where it has none", new RangeError(""), "RangeError"],
  ["a text itself", "plain", "plain"],
  ["nothing else", { message: "no" }, "unknown error"],
  ["undefined", undefined, "unknown error"],
  ["a tool's own error", new ToolError("mine", "x_own"), "mine"],
];
for (const [name, thrown, words] of THROWN)
  test(`the words of what was thrown are ${name}`, () => assert.equal(thrownWords(thrown), words));
