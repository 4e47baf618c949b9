import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createRegistry, defineTool, type JsonObject } from "@assent/core";
import { z } from "zod";
import { describeContainment, type SandboxTest } from "../../src/facts/containment.ts";
import type { Settings } from "../../src/settings/settings.ts";
import { bench } from "../workspace-bench.ts";

const WORKS: SandboxTest = async () => ({ works: true });
const BROKEN: SandboxTest = async () => ({ works: false, reason: "Bubblewrap is not installed." });
const GUARD = "safeguard:sandbox";

const input = z.strictObject({ command: z.string(), unconfined: z.boolean().optional(), run_in_background: z.boolean().optional() });
const SHELL = defineTool({ name: "shell", description: "x", kind: "execute", input, run: () => "" });
const OTHER = defineTool({ name: "other_shell", description: "x", kind: "execute", input, run: () => "" });

function tools() {
  const registry = createRegistry();
  for (const tool of [SHELL, OTHER]) registry.add(tool);
  return registry;
}

type Row = readonly [sentence: string, settings: object, call: JsonObject, probe: SandboxTest | undefined, verdict: string, place: unknown];

const ask = { command: "make x" };
const outside = { ...ask, unconfined: true };
const confined = { confined: true, network: false };
const allowConfined = { sandbox: "prefer", allowConfined: true };
const network = (...rules: readonly string[]) => ({ ...allowConfined, confined: { network: rules } });

const ROWS: readonly Row[] = [
  ["without the setting nothing is said about a sandbox", {}, ask, WORKS, "ask default", undefined],
  ["a command that can be confined is", { sandbox: "prefer" }, ask, WORKS, "ask default", confined],
  [
    "where nothing can be confined, prefer runs outside",
    { sandbox: "prefer" },
    ask,
    BROKEN,
    "ask default",
    { confined: false, reason: "Bubblewrap is not installed." },
  ],
  [
    "a program that offers no sandbox runs outside",
    { sandbox: "prefer" },
    ask,
    undefined,
    "ask default",
    { confined: false, reason: "This program does not offer a sandbox." },
  ],
  [
    "where nothing can be confined, require denies",
    { sandbox: "require" },
    ask,
    BROKEN,
    `deny guard ${GUARD}`,
    { confined: false, reason: "Bubblewrap is not installed.", required: true },
  ],
  [
    "require denies an allowed command, too",
    { sandbox: "require", permissions: { allow: ["Shell"] } },
    ask,
    BROKEN,
    `deny guard ${GUARD}`,
    undefined,
  ],
  [
    "leaving the sandbox asks",
    { sandbox: "prefer" },
    outside,
    WORKS,
    `ask guard ${GUARD}`,
    { confined: false, reason: "the call asks to run outside the sandbox" },
  ],
  [
    "leaving the sandbox asks, although a rule allows the command",
    { sandbox: "prefer", permissions: { allow: ["Shell"] } },
    outside,
    WORKS,
    `ask guard ${GUARD}`,
    undefined,
  ],
  ["leaving a required sandbox is denied", { sandbox: "require" }, outside, WORKS, `deny guard ${GUARD}`, undefined],
  ["without the setting there is nothing to leave", {}, outside, WORKS, "ask default", undefined],
  ["what runs confined needs no approval if the user says so", allowConfined, ask, WORKS, "allow confined", confined],
  ["what cannot be confined needs approval", allowConfined, ask, BROKEN, "ask default", undefined],
  [
    "what runs in the background needs approval",
    allowConfined,
    { ...ask, run_in_background: true },
    WORKS,
    "ask default",
    { ...confined, lasting: true },
  ],
  [
    "what names a file with secrets needs approval",
    allowConfined,
    { command: "cat .env" },
    WORKS,
    "ask default",
    { ...confined, secret: true },
  ],
  [
    "a file with secrets in a folder needs approval, too",
    allowConfined,
    { command: "head -1 config/prod.env" },
    WORKS,
    "ask default",
    { ...confined, secret: true },
  ],
  ["what leaves the sandbox needs approval", allowConfined, outside, WORKS, `ask guard ${GUARD}`, undefined],
  [
    "a control file needs approval, confined or not",
    allowConfined,
    { command: "make x > .envrc" },
    WORKS,
    "ask guard safeguard:control-file",
    undefined,
  ],
  [
    "an ask rule needs approval, confined or not",
    { ...allowConfined, permissions: { ask: ["Shell(make *)"] } },
    ask,
    WORKS,
    "ask checker Shell(make *)",
    undefined,
  ],
  [
    "a rule opens the network, and then approval is needed",
    network("Shell(curl *)"),
    { command: "curl x" },
    WORKS,
    "ask default",
    { confined: true, network: true },
  ],
  [
    "a rule opens the network for every command of a line",
    network("Shell(curl *)"),
    { command: "curl x && ls" },
    WORKS,
    "ask default",
    { confined: true, network: true },
  ],
  [
    "a rule opens no network for another command of the line",
    network("Shell(curl *)"),
    { command: "curl x && nc y" },
    WORKS,
    "allow confined",
    confined,
  ],
  ["a rule opens no network for another command", network("Shell(npm ci)"), ask, WORKS, "allow confined", confined],
];

describe("where a command runs", () => {
  for (const [sentence, settings, call, probeSandbox, verdict, place] of ROWS) {
    test(sentence, async (t) => {
      const { judge, assess } = bench(t, settings, { tools, ...(probeSandbox && { probeSandbox }) });
      assert.equal(await judge("shell", call), verdict);
      const { request, facts } = await assess("shell", call);
      if (place !== undefined) assert.deepEqual([request.containment, (facts.view as JsonObject)["containment"]], [place, place]);
      else if (!("sandbox" in settings)) assert.equal(request.containment, undefined);
    });
  }

  test("a workspace that contains the home directory cannot be confined", async () => {
    const facts = describeContainment(() => ({ units: [{ subject: "x" }], binds: {} }), {
      ...{ workspace: "/home/ada", home: "/home/ada", network: () => [], probe: WORKS },
      settings: () => ({ sandbox: "prefer" }) as Settings,
    });
    const { containment } = await facts({ tool: "shell", kind: "execute", input: ask, cwd: "/home/ada", locations: [] });
    assert.deepEqual(containment, { confined: false, reason: "the workspace contains your home directory" });
  });

  test("only the shell tool is confined", async (t) => {
    const { assess } = bench(t, allowConfined, { tools, probeSandbox: WORKS });
    assert.equal((await assess("other_shell", ask)).request.containment, undefined);
  });

  test("an approval covers the place that was shown", async (t) => {
    const fingerprints = await Promise.all(
      [{}, { sandbox: "prefer" }, network("Shell(curl *)")].map(async (settings) => {
        const { assess, workspace } = bench(t, settings, { tools, probeSandbox: WORKS });
        return (await assess("shell", { command: "curl x" })).request.fingerprint?.replace(workspace, "");
      }),
    );
    assert.equal(new Set(fingerprints).size, 3);
  });
});
