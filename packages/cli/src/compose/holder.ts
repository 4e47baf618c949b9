import type { Holder } from "@assent/core";
import { thisHolder } from "@assent/host";
import type { Context } from "../command-line/spec.ts";

/** This process as the holder of a session. It may be ended for a take-over if it runs nothing but this command. */
export function commandHolder({ io }: Pick<Context, "io">, door: string): Holder {
  return { ...thisHolder(door), ...(io.ownsProcess && { command: true }) };
}
