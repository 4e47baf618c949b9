import { oneLine } from "../../io/visible-text.ts";

/** What makes a terminal tell a person who looks elsewhere: the bell, and the two notifications that terminals of today know. Each ignores what it does not know. */
export function terminalNotification(text: string): string {
  const shown = oneLine(text).replaceAll(";", ",");
  return `\u0007\u001b]9;${shown}\u0007\u001b]777;notify;Assent;${shown}\u0007`;
}
