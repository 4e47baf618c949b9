import type { Facts, Request } from "@assent/core";
import type { Rule } from "./rule.ts";

export type RuleLookup = { readonly rules: () => readonly Rule[]; readonly facts: Facts; readonly workspace: string };

type AskedCall = Pick<Request, "input"> & { readonly tool: "read" | "fetch"; readonly path?: string };

/** The request that a call of a built-in tool would be; undefined if its facts are not available at once. */
function describeCall({ tool, input, path }: AskedCall, { facts, workspace: cwd }: RuleLookup): Request | undefined {
  const about = { tool, kind: tool, input, cwd };
  const found = facts({ ...about, locations: path === undefined ? [] : [{ path }] });
  return found instanceof Promise ? undefined : { ...about, toolDigest: "", binds: found.binds, units: found.units };
}

/** Creates a test for files that a deny rule hides, in doubt too. */
export function createReadDenyTest(lookup: RuleLookup): (path: string) => boolean {
  return (path) => {
    const denies = lookup.rules().filter((rule) => rule.verdict === "deny" && rule.concerns("read", "read"));
    if (denies.length === 0) return false;
    const request = describeCall({ tool: "read", input: { file_path: path }, path }, lookup);
    return !request || denies.some((rule) => request.units.some((unit) => rule.test(request, unit) !== "no"));
  };
}

/** Creates a test for URLs whose private host an allow rule names exactly. */
export function createPrivateHostTest(lookup: RuleLookup): (url: string) => boolean {
  return (url) => {
    const host = URL.parse(url)?.hostname.toLowerCase();
    if (host === undefined || host === "") return false;
    const request = describeCall({ tool: "fetch", input: { url } }, lookup);
    const names = (rule: Rule): boolean =>
      rule.verdict === "allow" && rule.concerns("fetch", "fetch") && rule.at.text.toLowerCase().includes(host);
    return !!request && lookup.rules().some((rule) => names(rule) && request.units.every((unit) => rule.test(request, unit) === "yes"));
  };
}
