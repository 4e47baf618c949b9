import type { Target } from "./target.ts";

/** Every target by its name, loaded when it is wanted. */
export const TARGETS: Readonly<Record<string, () => Promise<Target>>> = {
  shell: async () => (await import("./targets/shell.ts")).shell(),
  rules: async () => (await import("./targets/rules.ts")).rules(),
  scripts: async () => (await import("./targets/scripts.ts")).scripts(),
  stream: async () => (await import("./targets/stream.ts")).stream(),
  keys: async () => (await import("./targets/keys.ts")).keys(),
  ledger: async () => (await import("./targets/ledger.ts")).ledger(),
};
