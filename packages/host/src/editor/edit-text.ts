import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorCode } from "@assent/core";
import { endFamily } from "../processes/group.ts";
import { coveredDescriptors } from "../processes/start-program.ts";
import { readProcessTable } from "../processes/table.ts";
import { ignoreCodes } from "../system/ignore-codes.ts";

/** How an editor ended. */
export type EditorEnd = { readonly exitCode: number | null; readonly signal: string | null };

/** What to edit, and with which editor. */
export type EditTextOptions = {
  /** The text on disk, written beside the proposed one for comparison; empty for a new file. */
  readonly current: string;
  readonly proposed: string;
  /** Extension of the file, so that the editor picks the right language. */
  readonly extension: string;
  readonly editor: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Lets a terminal interface step aside while the editor runs. */
  readonly start?: (run: () => Promise<EditorEnd>) => Promise<EditorEnd>;
};

/** The edited text, or why there is none. */
export type EditedText =
  | { readonly text: string }
  | { readonly failure: "no_editor"; readonly message: string }
  | { readonly failure: "editor_failed"; readonly message: string; readonly exitCode: number | null };

const GRACE_MS = 2000;

/** Lets a person edit a text in their own editor, in a private directory that is always removed and no project settings reach. */
export async function editText(options: EditTextOptions): Promise<EditedText> {
  const { editor, environment, signal } = options;
  signal.throwIfAborted();
  const line = [editor, environment["VISUAL"], environment["EDITOR"]].find((one) => one !== undefined && one.trim() !== "");
  if (line === undefined) return { failure: "no_editor", message: "No editor is configured. Set EDITOR, or answer without editing." };
  const words = splitWords(line);
  if (words === undefined) return editorFailed(`The editor command has an unclosed quote: ${line}`);
  const directory = await mkdtemp(join(tmpdir(), "assent-edit-"));
  try {
    return await editInDirectory(directory, words, options);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function editInDirectory(directory: string, [file = "", ...args]: readonly string[], options: EditTextOptions): Promise<EditedText> {
  const { current, proposed, environment, signal, start = (run) => run() } = options;
  const ending = options.extension.replaceAll(/[^\w.+-]/g, "").replace(/^\.*(?=.)/, ".");
  const path = join(directory, `proposed${ending}`);
  await writeFile(join(directory, `current${ending}`), current, { flag: "wx", mode: 0o600 });
  await writeFile(path, proposed, { flag: "wx", mode: 0o600 });
  try {
    const { exitCode, signal: killer } = await start(() =>
      runEditor({ file, args: [...args, path], cwd: directory, env: environment }, signal),
    );
    signal.throwIfAborted();
    if (killer !== null) return editorFailed(`The editor was killed by ${killer}.`);
    if (exitCode !== 0) return editorFailed(`The editor ended with exit code ${exitCode}.`, exitCode);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof EditorStartError)) throw error;
    return editorFailed(
      `${file} could not be started (${errorCode(error.cause) ?? "unknown error"}). Choose another editor with the setting editor, or with VISUAL or EDITOR.`,
    );
  }
  return { text: (await readFile(path, "utf8").catch(ignoreCodes("ENOENT"))) ?? "" };
}

function editorFailed(message: string, exitCode: number | null = null): EditedText {
  return { failure: "editor_failed", message, exitCode };
}

class EditorStartError extends Error {}

type EditorCommand = {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: EditTextOptions["environment"];
};

/** The editor stays in our process group, because only the foreground group may use the terminal. */
async function runEditor(command: EditorCommand, signal: AbortSignal): Promise<EditorEnd> {
  signal.throwIfAborted();
  const child = startEditor(command);
  const { promise: exit, resolve, reject } = Promise.withResolvers<EditorEnd>();
  child.once("exit", (exitCode, killer) => resolve({ exitCode, signal: killer }));
  child.once("error", (cause) => reject(new EditorStartError("the editor could not be started", { cause })));
  const { promise: aborted, resolve: abort } = Promise.withResolvers<undefined>();
  const onAbort = (): void => abort(undefined);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const end = await Promise.race([exit, aborted]);
    if (end) return end;
    if (child.pid !== undefined) await endFamily(child.pid, GRACE_MS, readProcessTable());
    throw signal.reason;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function startEditor({ file, args, cwd, env }: EditorCommand): ChildProcess {
  try {
    return spawn(file, args, { cwd, env, stdio: ["inherit", "inherit", "inherit", ...coveredDescriptors()] });
  } catch (cause) {
    throw new EditorStartError("the editor could not be started", { cause });
  }
}

/** Splits a command line into words, with quotes and backslashes as in a shell. Undefined if a quote is unclosed or the line ends in a backslash. */
export function splitWords(line: string): readonly string[] | undefined {
  const words: string[] = [];
  let rest = line.trim();
  while (rest !== "") {
    const word = /^(?:[^\s'"\\]|\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*")+/.exec(rest)?.[0];
    if (word === undefined || /^\S/.test(rest.slice(word.length))) return undefined;
    words.push(unquote(word));
    rest = rest.slice(word.length).trimStart();
  }
  return words;
}

function unquote(word: string): string {
  return [...word.matchAll(/'(?<single>[^']*)'|"(?<double>(?:[^"\\]|\\[\s\S])*)"|\\(?<escaped>[\s\S])|(?<bare>[^'"\\]+)/g)]
    .map(({ groups = {} }) => {
      const { single, double, escaped, bare } = groups;
      return single ?? double?.replaceAll(/\\(["\\$`])/g, "$1") ?? escaped ?? bare ?? "";
    })
    .join("");
}
