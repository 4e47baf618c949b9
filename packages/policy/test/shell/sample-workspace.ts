import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { createPathLookup } from "../../src/paths/lookup.ts";
import { type ClassifiedCommand, classify } from "../../src/shell/effects/classify.ts";
import type { CommandPlace } from "../../src/shell/effects/look-at.ts";
import { placeCommands } from "../../src/shell/plan/place-commands.ts";
import type { HazardId } from "../../src/shell/plan/plan.ts";
import { readPlain } from "../../src/shell/read/strict-reader.ts";
import { scratch } from "../scratch.ts";

/** The files of the workspace: a text, or `-> target` for a link; a name that ends in a slash is a directory. */
export type Files = Readonly<Record<string, string>>;

const USUAL: Files = {
  ".git/HEAD": "ref: refs/heads/main\n",
  ".git/config": "[core]\n",
  ".git/objects/": "",
  ".git/refs/": "",
  ".env": "A=1\n",
  "README.md": "# x\n",
  "package.json": "{}\n",
  "a.txt": "a\n",
  "b.txt": "b\n",
  "src/a.ts": "a\n",
  "src/b.ts": "b\n",
  "docs/": "",
};

/** A workspace of its own below a directory that is not it. */
export function sampleWorkspace(t: TestContext, files: Files = USUAL): CommandPlace {
  const workspace = join(scratch(t), "workspace");
  mkdirSync(workspace);
  for (const [name, text] of Object.entries(files)) put(join(workspace, name), text);
  return { cwd: workspace, workspace, look: createPathLookup({ workspace }) };
}

function put(path: string, text: string): void {
  mkdirSync(path.endsWith("/") ? path : dirname(path), { recursive: true });
  if (text.startsWith("-> ")) symlinkSync(text.slice(3), path);
  else if (!path.endsWith("/")) writeFileSync(path, text);
}

/** Why a line is not proven to read only: `refused`, a class, or hazards. Empty: it is. */
export function objections(line: string, { home = "/home/ann", ...place }: CommandPlace): readonly string[] {
  const reading = readPlain(line);
  if ("refused" in reading) return [`refused ${reading.refused.id}`];
  return placeCommands(reading.commands, { ...place, home, findProgram: () => undefined }).flatMap((placed) => {
    if (placed.refused) return [`refused ${placed.refused.id}`];
    const { class: proven, hazards } = classify(placed.argv, { ...place, home, cwd: placed.cwd ?? place.cwd }, placed);
    return [...(proven === "read" ? [] : [proven]), ...hazards.map(({ id }) => id)];
  });
}

/** The hazards of one command. */
export function hazardsOf({ hazards }: ClassifiedCommand): readonly HazardId[] {
  return hazards.map(({ id }) => id);
}
