import type { ReadStream } from "node:tty";

/** Keys that were pressed before there was a screen to press them on. */
export type EarlyKeys = {
  /** Gives them to whoever reads the keyboard next, as if they were pressed now. */
  readonly handOver: () => void;
  /** Nobody will read them. */
  readonly drop: () => void;
};

/** Keeps what is typed on a keyboard that was made raw just now. Resolves when all that was typed before that is read. */
export async function keepEarlyKeys(keyboard: ReadStream): Promise<EarlyKeys> {
  let kept = "";
  const keep = (data: string): void => {
    kept += data;
  };
  const drop = (): void => {
    keyboard.off("data", keep);
    keyboard.pause();
  };
  keyboard.setEncoding("utf8");
  keyboard.on("data", keep);
  for (let looked = 0; looked < LOOKS; looked += 1) await new Promise((resolve) => setImmediate(resolve));
  kept = restoreKeys(kept);
  return {
    drop,
    handOver: () => {
      drop();
      if (kept !== "") keyboard.unshift(kept, "utf8");
    },
  };
}

/** Rounds of the event loop after which everything that is there is read. */
const LOOKS = 2;

/**
 * Before it was raw, the terminal made a line feed of Enter, and an end of Ctrl-D, which is read as a NUL. One line feed is Enter; several came from a paste as
 * likely as not, and stay in the text that is being written: nothing is sent by itself.
 */
function restoreKeys(typed: string): string {
  const pressed = typed.replaceAll("\0", CTRL_D);
  const first = pressed.indexOf("\n");
  return first === pressed.lastIndexOf("\n") ? pressed.replace("\n", "\r") : pressed;
}

const CTRL_D = "\u0004";
