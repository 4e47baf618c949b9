import { type BackgroundCommands, ToolError } from "@assent/core";

/** Where commands go on behind their calls: with the tasks of the session, once there is one that carries them. */
export type LentCommands = BackgroundCommands & {
  /** From now on these keep them. */
  readonly keptBy: (commands: BackgroundCommands) => void;
};

/** Until somebody keeps them, none is started: a single call has nobody who would end it, or tell of its end. */
export function backgroundCommands(): LentCommands {
  let keeper: BackgroundCommands | undefined;
  return {
    keptBy: (commands) => {
      keeper = commands;
    },
    start: async (command, signal) => {
      if (keeper) return await keeper.start(command, signal);
      throw new ToolError("Nothing here could end this command or tell of its end: run it in the foreground.", "shell_execute_error");
    },
  };
}
