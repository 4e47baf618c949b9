/** A wake-up signal that is not lost if it rings before anyone waits. */
export function makeBell(): { readonly ring: () => void; readonly heard: () => Promise<void> } {
  let rung = false;
  let listener: (() => void) | undefined;
  return {
    ring: () => {
      rung = true;
      listener?.();
    },
    heard: async () => {
      if (!rung) {
        await new Promise<void>((resolve) => {
          listener = resolve;
        });
      }
      rung = false;
      listener = undefined;
    },
  };
}
