import type { Clock, Digest, Files, Ids, Processes } from "@assent/core";
/** The ports that are this machine. */
export type HostPorts = {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly files: Files;
  readonly processes: Processes;
  /** Where `files` keeps the full output of calls, by session. */
  readonly outputDirectory: string;
};
/** All ports of the machine in one go. Nothing is opened or started before it is used. */
export declare function hostPorts({ stateDirectory }: { readonly stateDirectory: string }): HostPorts;
