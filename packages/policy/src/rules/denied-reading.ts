import type { Facts, Request } from "@assent/core";
import type { Rule } from "./rule.ts";

/** What tells whether a rule forbids to read a file. */
export type Reading = { readonly rules: () => readonly Rule[]; readonly facts: Facts; readonly workspace: string };

/** True when a deny rule of any layer means, or may mean, the reading of this very file: what looks through directories does not show it either. */
export function deniesReading({ rules, facts, workspace }: Reading): (path: string) => boolean {
  const deniesOf = readDenies();
  return (path) => {
    const denies = deniesOf(rules());
    if (denies.length === 0) return false;
    const about = { tool: TOOL, kind: TOOL, input: { file_path: path }, cwd: workspace } as const;
    const found = facts({ ...about, locations: [{ path }] });
    if (found instanceof Promise) return true; // nobody waits here, and doubt shows nothing
    const { units, binds } = found;
    const request: Request = { ...about, toolDigest: "", binds, units };
    return denies.some((rule) => units.some((unit) => rule.test(request, unit) !== "no"));
  };
}

const TOOL = "read";

/** Found anew only when settings are read again. */
function readDenies(): (rules: readonly Rule[]) => readonly Rule[] {
  let last: { readonly rules: readonly Rule[]; readonly denies: readonly Rule[] } | undefined;
  return (rules) => {
    if (last?.rules !== rules) last = { rules, denies: rules.filter((rule) => rule.verdict === "deny" && rule.concerns(TOOL, TOOL)) };
    return last.denies;
  };
}
