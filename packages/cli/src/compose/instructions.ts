import { constants, existsSync } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { Ledger } from "@assent/core";
import { messageOf } from "@assent/core";
import { INSTRUCTION_NAMES, isInside, isNestedWorkspace, isTrustedFile, readTrustState, type TrustState } from "@assent/policy";

export type InstructionPlace = {
  readonly workspace: string;
  readonly cwd: string;
  readonly trusted: boolean;
  /** True if a person trusted these bytes under this name. By default only root files count. */
  readonly vouches?: (name: string, bytes: Uint8Array) => boolean;
};

export type Instructions = { readonly text: string; readonly files: readonly string[]; readonly warnings: readonly string[] };

const LIMIT = 65_536;
const LARGEST = 1024 * 1024;

/** Reads `AGENTS.md`, else `CLAUDE.md`, in each directory from the workspace root to `cwd`. */
export async function workspaceInstructions(place: InstructionPlace): Promise<Instructions> {
  const names = await instructionNames(place);
  const [first] = names;
  if (first === undefined) return { text: "", files: [], warnings: [] };
  if (!place.trusted) return { text: "", files: [], warnings: [`${first} is not read, because the workspace is not trusted. ${SEE}`] };
  return await readAll(place, names);
}

const SEE = "To review and trust it: assent trust";

/** Reads only files that still have the trusted content. */
export async function trustedInstructions(
  ledger: Ledger,
  { workspace, cwd }: Pick<InstructionPlace, "workspace" | "cwd">,
): Promise<Instructions> {
  const state = await readTrustState(ledger, workspace);
  const kept = state.trusted && state.record ? await ledger.resolve(state.record.files) : [];
  return await workspaceInstructions({ workspace, cwd, trusted: state.trusted, vouches: vouching(state, kept) });
}

/** The trust state covers root files; the record has nested ones too. */
function vouching(state: TrustState, kept: NonNullable<TrustState["record"]>["files"]): (name: string, bytes: Uint8Array) => boolean {
  return (name, bytes) => {
    if (!name.includes("/")) return isTrustedFile(state, name, bytes);
    const file = kept.find((one) => one.name === name);
    return file !== undefined && Buffer.from(bytes).equals("text" in file ? Buffer.from(file.text) : Buffer.from(file.base64, "base64"));
  };
}

async function instructionNames({ workspace, cwd }: InstructionPlace): Promise<readonly string[]> {
  const real = await realpath(cwd).catch(() => workspace); // a removed directory has no instructions
  const steps = isInside(workspace, real) ? relative(workspace, real).split(sep).filter(Boolean) : [];
  const directories = [""];
  for (const step of steps) {
    const next = join(directories.at(-1) ?? "", step);
    if (isNestedWorkspace(join(workspace, next))) break;
    directories.push(next);
  }
  return directories.flatMap((directory) => {
    const name = INSTRUCTION_NAMES.find((one) => existsSync(join(workspace, directory, one)));
    return name === undefined ? [] : [join(directory, name).split(sep).join("/")];
  });
}

async function readAll(place: InstructionPlace, names: readonly string[]): Promise<Instructions> {
  const texts: string[] = [];
  const files: string[] = [];
  const warnings: string[] = [];
  let room = LIMIT;
  for (const name of names) {
    const found = await readOne(place, name);
    if ("left" in found) {
      warnings.push(`${name} is left out: ${found.left}`);
      continue;
    }
    const { text, whole } = cutTo(found.bytes, room);
    if (!whole) warnings.push(`${name} is truncated: instructions may have ${LIMIT} bytes in total.`);
    if (text.trim() === "") continue;
    room -= Buffer.byteLength(text);
    files.push(name);
    texts.push(`Instructions from ${JSON.stringify(name)}:\n\n${text.trim()}\n`);
  }
  return { text: texts.join("\n"), files, warnings };
}

type ReadFile = { readonly bytes: Uint8Array } | { readonly left: string };

async function readOne({ workspace, vouches = (name) => !name.includes("/") }: InstructionPlace, name: string): Promise<ReadFile> {
  const bytes = await contentOf(workspace, join(workspace, name));
  if (typeof bytes === "string") return { left: bytes };
  if (!isText(bytes)) return { left: "it is not UTF-8 text." };
  return vouches(name, bytes) ? { bytes } : { left: `it has changed since it was trusted. ${SEE}` };
}

/** Returns the bytes, or why the file cannot be used. Never blocks on a pipe. */
async function contentOf(workspace: string, path: string): Promise<Uint8Array | string> {
  let handle: FileHandle | undefined;
  try {
    const real = await realpath(path);
    if (!isInside(workspace, real)) return "it is a link to a place outside the workspace.";
    handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const stats = await handle.stat();
    if (!stats.isFile()) return "it is not a regular file.";
    return stats.size > LARGEST ? `it has more than ${LARGEST} bytes.` : await handle.readFile();
  } catch (error) {
    return `it cannot be read: ${messageOf(error)}`;
  } finally {
    await handle?.close();
  }
}

function isText(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch (_noText) {
    return false;
  }
}

function cutTo(bytes: Uint8Array, room: number): { readonly text: string; readonly whole: boolean } {
  if (bytes.length <= room) return { text: Buffer.from(bytes).toString("utf8"), whole: true };
  const text = new TextDecoder("utf-8").decode(bytes.subarray(0, room), { stream: true });
  return { text, whole: false };
}
