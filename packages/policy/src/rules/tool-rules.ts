import type { Facts, Request } from "@assent/core";
import type { Rule } from "./rule.ts";

/** What tells whether a rule forbids to read a file. */
export type RuleLookup = { readonly rules: () => readonly Rule[]; readonly facts: Facts; readonly workspace: string };

/** True when a deny rule of any layer means, or may mean, the reading of this very file: what looks through directories does not show it either. */
export function createReadDenyTest({ rules, facts, workspace }: RuleLookup): (path: string) => boolean {
  return (path) => {
    const denies = rules().filter((rule) => rule.verdict === "deny" && rule.concerns(READ_TOOL, READ_TOOL));
    if (denies.length === 0) return false;
    const about = { tool: READ_TOOL, kind: READ_TOOL, input: { file_path: path }, cwd: workspace } as const;
    const found = facts({ ...about, locations: [{ path }] });
    if (found instanceof Promise) return true; // nobody waits here, and doubt shows nothing
    const { units, binds } = found;
    const request: Request = { ...about, toolDigest: "", binds, units };
    return denies.some((rule) => units.some((unit) => rule.test(request, unit) !== "no"));
  };
}

const READ_TOOL = "read";

/** What tells whether an address inside the own network may be fetched from. */
export type PrivateHosts = { readonly rules: () => readonly Rule[]; readonly facts: Facts; readonly workspace: string };

/** True when an allow rule names the very host of the URL: "any host" never means those of the own network. */
export function createPrivateHostTest({ rules, facts, workspace }: PrivateHosts): (url: string) => boolean {
  return (url) => {
    const host = URL.parse(url)?.hostname.toLowerCase();
    if (host === undefined || host === "") return false;
    const found = facts({ tool: "fetch", kind: "fetch", input: { url }, cwd: workspace, locations: [] });
    if (found instanceof Promise) return false;
    const { units, binds } = found;
    const request: Request = { tool: "fetch", toolDigest: "", kind: "fetch", input: { url }, cwd: workspace, binds, units };
    const names = (rule: Rule): boolean =>
      rule.verdict === "allow" && rule.concerns("fetch", "fetch") && rule.at.text.toLowerCase().includes(host);
    return rules().some((rule) => names(rule) && units.every((unit) => rule.test(request, unit) === "yes"));
  };
}
