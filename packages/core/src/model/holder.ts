/** Who holds a session or a store. */
export type Holder = {
  readonly pid: number;
  readonly host: string;
  readonly processStart: string;
  readonly door: string;
  /** The process runs one Assent command and nothing else, so ending it ends nothing else. */
  readonly command?: boolean;
  /** Where its pid means something, as far as the system says; a store adds both. Images may share a machine's id. */
  readonly machine?: string;
  readonly pidNamespace?: string;
};
