/** The process that holds a session or a store. */
export type Holder = {
  readonly pid: number;
  readonly host: string;
  readonly processStart: string;
  readonly door: string;
  /** The process runs a single Assent command, so ending it ends nothing else. */
  readonly command?: boolean;
  /** The machine and pid namespace its pid belongs to, if known; stores fill in both. Cloned images may share a machine id. */
  readonly machine?: string;
  readonly pidNamespace?: string;
};
