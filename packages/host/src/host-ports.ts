import { join } from "node:path";
import type { Clock, Digest, Files, Holder, Ids, Processes } from "@assent/core";
import { createHostFiles } from "./files/files.ts";
import { createEffectRunner, type EffectRunner } from "./preview/effect-runner.ts";
import { endHolder } from "./processes/group.ts";
import { createHostProcesses } from "./processes/processes.ts";
import { createSystemClock } from "./system/clock.ts";
import { nodeDigest } from "./system/digest.ts";
import { createRandomIds } from "./system/ids.ts";

/** All ports of this machine. */
export type HostPorts = {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly files: Files;
  readonly processes: Processes;
  readonly endHolder: (holder: Holder) => Promise<boolean>;
  /** Where `files` keeps full outputs, by session. */
  readonly outputDirectory: string;
  /** Runs commands on a copy of a workspace, to see what they would change. */
  readonly effectsIn: (workspace: string) => EffectRunner;
};

/** Creates all ports of this machine. Opens and starts nothing. */
export function createHostPorts({ stateDirectory }: { readonly stateDirectory: string }): HostPorts {
  const outputDirectory = join(stateDirectory, "output");
  const processes = createHostProcesses();
  return {
    clock: createSystemClock(),
    ids: createRandomIds(),
    digest: nodeDigest,
    files: createHostFiles({ outputDirectory }),
    processes,
    endHolder,
    outputDirectory,
    effectsIn: (workspace) => createEffectRunner({ processes, workspace, directory: join(stateDirectory, "previews") }),
  };
}
