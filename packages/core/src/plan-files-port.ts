/** The files of plan mode. Every path is absolute. */
export interface PlanFiles {
  /**
   * The whole plan; undefined where there is none. Rejects with a `ToolError` for what is no plan: another real path than the one given, no regular file, a file with
   * other names, more than 256 KiB, not UTF-8.
   */
  read(path: string): Promise<string | undefined>;
  /** Whether anything has this name, a link that leads nowhere too. */
  isTaken(path: string): Promise<boolean>;
  /** Gives the plan its lasting name in the same directory. False: something has that name already, and nothing was changed. */
  keepAs(from: string, to: string): Promise<boolean>;
}
