import type { Canvas } from "../draw/dialog.ts";

export type Drawing = Canvas & {
  /** Draws markdown without control characters. */
  readonly markdown: (text: string, columns: number) => readonly string[];
  /** True for a tool whose text output is markdown. */
  readonly isMarkdown: (tool: string) => boolean;
  /** Draw blocks in full. */
  readonly open: boolean;
  /** Paths are shown relative to it. */
  readonly cwd: string;
  /** In milliseconds. */
  readonly now: number;
};
