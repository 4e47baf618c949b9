import { canonicalJson } from "./json/canonical.ts";
import type { JsonObject } from "./json/json.ts";
import type { Kind } from "./kind.ts";

/** A part of a request that is judged on its own. */
export type Unit = {
  /** One line: the simple command, the path, or the tool's name. */
  readonly subject: string;
  /** Proven to change nothing, independent of the other units. */
  readonly readOnly?: boolean;
  /** Written by the `Facts` port, for the same policy. */
  readonly data?: unknown;
};

/**
 * Where a command runs: confined by the system, or outside and why. Absent if confinement is off. `required`: it must not run outside. `lasting`: it may run
 * for hours, so what appears meanwhile cannot be blamed on it. `secret`: it names a file that may contain secrets, which its output could show.
 */
export type Containment =
  | { readonly confined: true; readonly network: boolean; readonly lasting?: true; readonly secret?: true; readonly required?: true }
  | { readonly confined: false; readonly reason: string; readonly required?: true };

/** A call's validated, frozen input with everything its meaning depends on. */
export type Request = {
  readonly tool: string;
  readonly toolDigest: string;
  readonly kind: Kind;
  readonly input: JsonObject;
  readonly cwd: string;
  /** Digests of things that the request depends on, such as a script's text. */
  readonly binds: Readonly<Record<string, string>>;
  /** At least one. */
  readonly units: readonly Unit[];
  readonly containment?: Containment;
  /** Always set before an approval opens or a durable claim. */
  readonly fingerprint?: string;
};

/** The text whose digest is the fingerprint. */
export function fingerprintText(request: Omit<Request, "kind" | "units" | "fingerprint">): string {
  const { tool, toolDigest, input, cwd, binds, containment } = request;
  return canonicalJson({ tool, toolDigest, input, cwd, binds, ...(containment && { containment }) });
}
