import type { By } from "@assent/core";
import { currentUser } from "@assent/host";

/** The program at stdin and stdout, as records name it. */
export function hostBy(): By {
  return { kind: "host", user: currentUser().user, name: "host", door: "host", pid: process.pid };
}
