import { type Containment, type Facts, isObject, type RequestFacts } from "@assent/core";
import { isInside } from "../paths/resolve.ts";
import { createRuleChecker } from "../rules/checker.ts";
import type { Rule } from "../rules/rule.ts";
import type { Settings } from "../settings/settings.ts";

/** Whether commands can be confined on this machine, or the reason why not. */
export type SandboxTest = () => Promise<{ readonly works: true } | { readonly works: false; readonly reason: string }>;

type ContainmentOptions = {
  readonly workspace: string;
  readonly home: string;
  readonly settings: () => Settings;
  /** Commands that have network while they are confined. */
  readonly network: () => readonly Rule[];
  readonly probe?: SandboxTest;
};

type DescribedRequest = Parameters<Facts>[0];

/** Only this tool can confine what it starts. */
const CONFINED_TOOL = "shell";

/** Adds to the facts of a command where it would run. Without the setting `sandbox`, facts stay as they are. */
export function describeContainment(facts: Facts, options: ContainmentOptions): Facts {
  return (request) => {
    if (request.tool !== CONFINED_TOOL || options.settings().sandbox === "off") return facts(request);
    return addContainment(facts, request, options);
  };
}

async function addContainment(facts: Facts, request: DescribedRequest, options: ContainmentOptions): Promise<RequestFacts> {
  const found = await facts(request);
  const containment = await chooseContainment(request, found, options);
  return { ...found, containment, view: { ...(isObject(found.view) && found.view), containment } };
}

async function chooseContainment(request: DescribedRequest, found: RequestFacts, options: ContainmentOptions): Promise<Containment> {
  const required = options.settings().sandbox === "require" ? ({ required: true } as const) : {};
  const outside = (reason: string): Containment => ({ confined: false, reason, ...required });
  if (request.input["unconfined"] === true) return outside("the call asks to run outside the sandbox");
  if (isInside(options.workspace, options.home)) return outside("the workspace contains your home directory");
  if (SYSTEM_PLACES.includes(options.workspace)) return outside(`the workspace ${options.workspace} is a directory of the system`);
  const probe = await (options.probe?.() ?? NOT_OFFERED);
  if (!probe.works) return outside(probe.reason);
  const lasting = request.input["run_in_background"] === true ? ({ lasting: true } as const) : {};
  const secret = namesSecret(found) ? ({ secret: true } as const) : {};
  return { confined: true, network: opensNetwork(options.network(), request, found), ...lasting, ...secret, ...required };
}

/** The workspace's own secrets are not masked, because programs need them; but the model must not get them unasked. */
function namesSecret({ view }: RequestFacts): boolean {
  const hazards: unknown = isObject(view) ? view["hazards"] : undefined;
  return Array.isArray(hazards) && hazards.some((hazard) => isObject(hazard) && hazard["id"] === "sensitive_file");
}

const NOT_OFFERED = { works: false, reason: "This program does not offer a sandbox." } as const;

/** Making them writable would confine nothing. */
const SYSTEM_PLACES = ["/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/proc", "/root", "/run", "/sbin", "/sys", "/usr", "/var"];

/** True if a rule covers every command of the line that does not only read. A line that cannot be parsed is never covered. */
function opensNetwork(rules: readonly Rule[], { tool, kind, input, cwd }: DescribedRequest, { units, binds }: RequestFacts): boolean {
  if (rules.length === 0) return false;
  const { check } = createRuleChecker({ label: "confined.network", scope: "policy", rules });
  const request = { tool, toolDigest: "", kind, input, cwd, binds, units };
  const isCovered = (unit: RequestFacts["units"][number]): boolean => check(request, unit).verdict === "allow";
  return units.some(isCovered) && units.every((unit) => unit.readOnly === true || isCovered(unit));
}
