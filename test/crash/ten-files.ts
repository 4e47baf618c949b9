import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { defineTool, type PlannedChange, type Preview, type RunContext, type Tool, type ToolDefinition } from "@assent/core";
import type { Failpoints } from "./failpoints.ts";
import { appendLine } from "./world-tools.ts";

/** One file of the set: null where it is not there. `to`: it goes to another place. */
type TenRow = {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly mode?: number;
  readonly to?: string;
};

/** Ten files that change together: changed, emptied, filled, made in directories that are not there, deleted, moved. */
const TEN: readonly TenRow[] = [
  { path: "set/a.txt", before: "a one\na two\n", after: "A one\nA two\n" },
  { path: "set/b/run.sh", before: "#!/bin/sh\n", after: "#!/bin/bash\n", mode: 0o755 },
  { path: "set/b/gone.txt", before: "gone\n", after: null, mode: 0o640 },
  { path: "set/c.txt", before: "c\n", after: "" },
  { path: "set/d.txt", before: "", after: "D\n" },
  { path: "set/e/gone.txt", before: "e\n", after: null },
  { path: "set/from/f.txt", before: "f\n", after: "F\n", mode: 0o600, to: "set/moved/f.txt" },
  { path: "set/new/deep/g.txt", before: null, after: "G\n", mode: 0o600 },
  { path: "set/new/h.txt", before: null, after: "H\n" },
  { path: "set/i.txt", before: null, after: "I\n", mode: 0o751 },
];

/** How many of them have bytes in the end. */
export const FILLED: number = TEN.filter(({ after }) => after !== null && after !== "").length;

/** Lays the set out in a directory as it is before. */
export function layTen(directory: string): void {
  for (const { path, before, mode = 0o644 } of TEN) {
    if (before === null) continue;
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), before);
    chmodSync(join(directory, path), mode);
  }
}

/** Everything below a directory, but for what git keeps: files with mode and bytes, links with where they lead, directories. */
export function tree(directory: string, below = ""): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(join(directory, below)).toSorted()) {
    if (name === ".git") continue;
    const path = join(below, name);
    const stats = lstatSync(join(directory, path));
    if (stats.isDirectory()) Object.assign(found, { [`${path}/`]: "" }, tree(directory, path));
    else if (stats.isSymbolicLink()) found[path] = `-> ${readlinkSync(join(directory, path))}`;
    else found[path] = `${(stats.mode & 0o7777).toString(8)} ${readFileSync(join(directory, path), "utf8")}`;
  }
  return found;
}

/** Which file on the disk each name leads to: a file that is written again, even with the same bytes, is another one. */
export function inodes(directory: string): Readonly<Record<string, number>> {
  const files = Object.keys(tree(directory)).filter((path) => !path.endsWith("/"));
  return Object.fromEntries(files.map((path) => [path, lstatSync(join(directory, path)).ino]));
}

/**
 * `ten` changes the set, `ten_staged` always waits to be applied, `two` changes the first two files of it; `told` has an effect of its own kind,
 * made by its `apply`; `pushed` stages what only its process can do.
 */
export function stagingTools(world: string, { hit }: Failpoints): readonly Tool[] {
  const make = (name: string, rest: Partial<ToolDefinition>): Tool =>
    defineTool({
      name,
      description: "Changes what it is made for.",
      kind: "edit",
      input: { type: "object", properties: { note: { type: "string" } }, additionalProperties: false },
      ...rest,
    });
  const note = ({ callId: call, sessionId: session, attempt }: Pick<RunContext, "callId" | "sessionId" | "attempt">): string => {
    hit("effect.before");
    appendLine(world, { call, session, attempt, key: null });
    hit("effect.mid");
    return "told";
  };
  const changing = (rows: readonly TenRow[]): Pick<ToolDefinition, "preview" | "apply" | "locations"> => ({
    locations: () => rows.flatMap(({ path, to }) => [{ path }, ...(to === undefined ? [] : [{ path: to }])]),
    preview: (input, { cwd }) => previewOf(cwd, rows, (input as { readonly note?: string }).note),
    apply: ({ files }) => `${files.length} places changed.`,
  });
  return [
    make("ten", changing(TEN)),
    make("ten_staged", { ...changing(TEN), alwaysStages: true }),
    make("two", { ...changing(TEN.slice(0, 2)), alwaysStages: true }),
    make("told", {
      kind: "other",
      alwaysStages: true,
      preview: () => ({ label: "Tell the world", blocks: ["tells the world"], changes: [] }),
      apply: (_applied, ctx) => note(ctx),
    }),
    make("pushed", {
      kind: "other",
      run: (_input, ctx) => {
        ctx.pushPendingAction({ label: "Tell the world", apply: () => note(ctx) });
        return "staged";
      },
    }),
  ];
}

/** A note becomes the end of every file. */
function previewOf(cwd: string, rows: readonly TenRow[], note = ""): Preview {
  return {
    label: `Change ${rows.length} files`,
    blocks: rows.map(({ path, to }) => (to === undefined ? path : `${path} -> ${to}`)),
    changes: rows.map((row) => plannedChange(cwd, { ...row, after: row.after === null ? null : row.after + note })),
  };
}

/** The file as it is now, and the same change whatever that is. */
function plannedChange(cwd: string, { path, before, after, mode, to }: TenRow): PlannedChange {
  const at = join(cwd, path);
  const now = before === null ? null : readFileSync(at);
  const bits = mode ?? (before === null ? undefined : statSync(at).mode & 0o7777);
  return {
    path: at,
    realPath: at,
    before: now,
    after: after === null ? null : Buffer.from(after),
    ...(to !== undefined && { to: join(cwd, to) }),
    ...(bits !== undefined && { mode: bits }),
  };
}
