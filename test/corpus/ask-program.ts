import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export type Verdict = "allow" | "ask" | "deny";

/** A file of a corpus' workspace: a text, a link, or a directory. */
export type Entry = { readonly text?: string; readonly link?: string; readonly dir?: true };

/** What `assent explain --batch` says about one command. */
export type Answer = {
  readonly id: string;
  readonly verdict: Verdict;
  readonly plan?: {
    readonly hazards: readonly { readonly text: string }[];
    readonly commands: readonly { readonly class: string; readonly hazards: readonly { readonly text: string }[] }[];
  };
};

/** Writes the files of a workspace; a link may say `/workspace` for its root. */
export function makeWorkspace(root: string, files: Readonly<Record<string, Entry>>): string {
  for (const [name, { text, link, dir }] of Object.entries(files)) {
    const path = join(root, name);
    mkdirSync(dir ? path : dirname(path), { recursive: true });
    if (link !== undefined) symlinkSync(placeIn(link, root), path);
    else if (text !== undefined) writeFileSync(path, text);
  }
  return root;
}

/** Replaces `/workspace` in a command by its root. */
export function placeIn(text: string, root: string): string {
  return text.replace(/(^|[\s'"=:])\/workspace(?=$|[-/\s'"])/g, (_, before) => before + root);
}

type Place = {
  readonly scratch: string;
  readonly workspace: string;
  readonly policy: string;
  readonly env?: Readonly<Record<string, string>>;
};

const PROGRAM = join(import.meta.dirname, "../../packages/cli/bin/assent.js");

/** Asks the program itself about commands, in one batch. One answer per command, in order. */
export function askProgram(
  commands: readonly { readonly id: string; readonly command: string }[],
  { scratch, workspace, policy, env = {} }: Place,
): readonly Answer[] {
  const batch = join(scratch, "batch.jsonl");
  const lines = commands.map(({ id, command }) => JSON.stringify({ id, tool: "shell", input: { command: placeIn(command, workspace) } }));
  writeFileSync(batch, `${lines.join("\n")}\n`);
  const args = ["explain", "--policy", policy, "--workspace", workspace, "--batch", batch];
  const environment = { ...process.env, HOME: scratch, ASSENT_STORE: join(scratch, "store"), ...env };
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
    encoding: "utf8",
    env: environment,
    maxBuffer: 2 ** 27,
    timeout: 120_000,
  });
  assert.equal(status, 0, stderr);
  const answers: readonly Answer[] = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    answers.map(({ id }) => id),
    commands.map(({ id }) => id),
    "one line per command, in order",
  );
  return answers;
}
