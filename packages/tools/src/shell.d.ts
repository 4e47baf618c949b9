import { type Files, type Processes, type Tool } from "@assent/core";
/** What the shell tool needs. */
export type ShellDeps = {
  readonly workspace: string;
  readonly processes: Processes;
  readonly files: Files;
  /** The user's own; secrets and what redirects a shell are taken out of it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Name globs of further secrets. */
  readonly secretEnv?: readonly string[];
};
/** Runs the text a person was shown, with bash, in a process group of its own. A malformed text is refused; everything else asks. */
export declare function shellTool(deps: ShellDeps): Tool;
