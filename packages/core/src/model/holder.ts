/** The process that holds a session or a store. */
export type Holder = {
  readonly pid: number;
  readonly host: string;
  readonly processStart: string;
  readonly door: string;
  /** It runs a single Assent command, so ending it ends nothing else. */
  readonly command?: boolean;
  /** The scope of its pid, if known. Cloned images may share a machine id. */
  readonly machine?: string;
  readonly pidNamespace?: string;
};
