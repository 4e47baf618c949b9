import { createHash } from "node:crypto";
import { appendFile, chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "@assent/core";

/** The prompts written in one workspace, oldest first. */
export type PromptHistory = {
  readonly load: () => Promise<readonly string[]>;
  /** Saves a prompt; resolves with the reason if it cannot. */
  readonly add: (text: string) => Promise<string | undefined>;
};

const MOST = 500;
const LONGEST_FILE = 1024 * 1024;

/** Keeps the history in a private file of the state directory. */
export function promptHistory(stateDirectory: string, workspace: string): PromptHistory {
  const directory = join(stateDirectory, "prompts");
  const file = join(directory, `${createHash("sha256").update(workspace).digest("hex").slice(0, 32)}.jsonl`);
  return {
    load: async () => entriesOf(await readFile(file, "utf8").catch(() => "")),
    add: async (text) => {
      try {
        await mkdir(directory, { recursive: true, mode: 0o700 });
        await appendFile(file, `${JSON.stringify(text)}\n`, { mode: 0o600 });
        await shorten(file);
        return undefined;
      } catch (error) {
        return `Your prompt history could not be saved: ${messageOf(error)}`;
      }
    },
  };
}

function entriesOf(content: string): readonly string[] {
  return content
    .split("\n")
    .slice(-MOST - 1)
    .flatMap((line) => {
      try {
        const entry: unknown = JSON.parse(line);
        return typeof entry === "string" ? [entry] : [];
      } catch {
        return []; // the empty last line, or one that was cut short
      }
    });
}

async function shorten(file: string): Promise<void> {
  await chmod(file, 0o600);
  const content = await readFile(file, "utf8");
  if (content.length <= LONGEST_FILE) return;
  const kept = entriesOf(content).slice(-MOST / 2);
  await writeFile(file, kept.map((entry) => `${JSON.stringify(entry)}\n`).join(""), { mode: 0o600 });
}
