import type { Canvas } from "../draw/dialog.ts";

/** How blocks are drawn, beside the room there is. */
export type Drawing = Canvas & {
  /** Markdown in lines of at most so many columns. The text has no control characters. */
  readonly markdown: (text: string, columns: number) => readonly string[];
  /** True for a tool that declares its text displays to be markdown. */
  readonly isMarkdown: (tool: string) => boolean;
  /** Everything of a block, not only its beginning. */
  readonly open: boolean;
  /** Where paths are named from. */
  readonly cwd: string;
  /** Now, in milliseconds; for what runs. */
  readonly now: number;
};
