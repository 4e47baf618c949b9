import { type CommandModel, type Modelled, NOTHING } from "../command-table.ts";

/**
 * Programs that tell their version when asked for nothing else, and the words that ask. Not among them: those that let a file of the workspace choose which version
 * runs (yarn, cargo), and words with which a program goes on to read its input (`python3 -v`).
 */
export const ASKED: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    bash: ["--version"],
    clang: ["--version"],
    cmake: ["--version"],
    deno: ["--version", "-V"],
    "g++": ["--version"],
    gcc: ["--version"],
    make: ["--version", "-v"],
    node: ["--version", "-v"],
    perl: ["--version", "-v"],
    php: ["--version", "-v"],
    python: ["--version", "-V"],
    python3: ["--version", "-V"],
    ruby: ["--version"],
    tsc: ["--version", "-v"],
  }),
);

/** The model of a program that is only asked for its version; undefined: it is asked for more. */
export function versionModel(name: string, args: readonly string[]): Modelled | undefined {
  const [word] = args;
  return word !== undefined && args.length === 1 && ASKED.get(name)?.includes(word) ? NOTHING : undefined;
}

/** `npm`: a list of what is installed, its version, and the tests, whose script is bound. Everything else runs what packages say. */
export const NPM: CommandModel = (args) => {
  const [word = "", ...more] = args;
  if (more.length === 0 && ["ls", "-v", "--version"].includes(word)) return NOTHING;
  const tests = word === "test" && more.length === 0;
  const hazards = tests ? [] : [{ id: "opaque_program", text: "npm runs what packages say" } as const];
  return { ...NOTHING, class: "opaque", hazards };
};
