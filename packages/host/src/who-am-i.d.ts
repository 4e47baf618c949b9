import type { Holder } from "@assent/core";
/** Who runs this process, as the operating system says. A user without a name is known by number. */
export declare function currentUser(): {
  readonly user: string;
  readonly host: string;
};
/** This process as the holder of a session or store. */
export declare function thisHolder(door: string): Holder;
