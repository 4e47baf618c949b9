import type { Ids } from "@assent/core";
/** Ids of 100 random bits each, drawn from a pool because the system call costs more than the id. */
export declare function randomIds(): Ids;
