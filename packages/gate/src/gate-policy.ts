import { realpathSync } from "node:fs";
import { join } from "node:path";
import { type Clock, type Digest, messageOf, type Registry } from "@assent/core";
import {
  createWorkspacePolicy,
  formatProblem,
  SettingsError,
  type SettingsProblem,
  settingsLocations,
  type WorkspacePolicy,
} from "@assent/policy";
import { GateUsageError } from "./gate-error.ts";
import { absolutePath, type GateOptions, isPostgresUrl } from "./gate-options.ts";

/** What judges the calls of a gate. */
export type GatePolicy = WorkspacePolicy & {
  readonly workspace: string;
  /** Local files of the store; the usual directory of `assent` if the ledger is elsewhere or in memory. */
  readonly stateDirectory: string;
  /** Reads the rules again after tools were added. Throws `GateUsageError` for a rule that does not fit a tool. */
  readonly toolsChanged: () => void;
};

type PolicyPorts = { readonly clock: Clock; readonly digest: Digest; readonly tools: Registry; readonly warn: (message: string) => void };

/** Creates the policy of a gate from its rules and settings file. Throws `GateUsageError` for a rule or setting that cannot be read. */
export function openGatePolicy(options: GateOptions, { clock, digest, tools, warn }: PolicyPorts): GatePolicy {
  const { rules = {}, settings, mode, store } = options;
  const workspace = findWorkspace(options.cwd ?? process.cwd());
  const locations = settingsLocations(process.env);
  const stateDirectory = store === undefined || isPostgresUrl(store) ? defaultStateDirectory(locations.home) : absolutePath(store);
  const refused: string[] = [];
  const policy = orUsageError(() =>
    createWorkspacePolicy({
      places: {
        ...locations,
        workspace,
        program: true,
        ...(settings !== undefined && { policyFile: absolutePath(settings) }),
        session: { allow: rules.allow ?? [], ask: rules.ask ?? [], deny: rules.deny ?? [], ...(mode && { mode }) },
        trusted: false,
      },
      stateDirectory,
      digest,
      tools: () => tools,
      follow: {
        clock,
        warn: (problem) => void (problem.file === "rules" ? refused.push(problem.message) : warn(problem.message)),
        changed: () => undefined,
      },
    }),
  );
  const refuseBadRule = (): void => {
    const ignored = policy.source.loaded().problems.find(({ file, type }) => file === "rules" && type !== "rule_unknown_tool");
    const [first = ignored && adviseOn(ignored)] = refused.splice(0);
    if (first !== undefined)
      throw new GateUsageError("bad_option", `Option 'rules' of createGate has a rule that cannot be used: ${first}`);
  };
  refuseBadRule();
  return {
    ...policy,
    workspace,
    stateDirectory,
    toolsChanged: () => {
      policy.source.compile();
      refuseBadRule();
    },
  };
}

function findWorkspace(cwd: string): string {
  try {
    return realpathSync(absolutePath(cwd));
  } catch (error) {
    throw new GateUsageError("bad_option", `Option 'cwd' of createGate must be a directory: ${messageOf(error)}`, { cause: error });
  }
}

/** Where `assent` keeps its state. Tools may not write there, even if this gate keeps its ledger in memory. */
function defaultStateDirectory(home: string): string {
  return join(process.env["XDG_STATE_HOME"] || join(home, ".local", "state"), "assent");
}

function orUsageError<T>(create: () => T): T {
  try {
    return create();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const problems = error.problems.filter(({ effect }) => effect === "refuse");
    const text = problems.map((problem) => (problem.file === "rules" ? adviseOn(problem) : formatProblem(problem)));
    throw new GateUsageError("bad_option", `createGate cannot use its rules or settings: ${text.join(" ")}`, { cause: error });
  }
}

function adviseOn({ message, hint }: SettingsProblem): string {
  return `${message.replace(/\.$/, "")}. ${hint}`;
}
