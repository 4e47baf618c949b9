import { Markdown, type MarkdownTheme, setCapabilityOverrides } from "@earendil-works/pi-tui";
import { highlight } from "./highlight.ts";
import type { Theme } from "./theme.ts";

/** Draws markdown. Links are written out, so that a model's text never becomes a terminal sequence. */
export function markdownLines(theme: Theme): (text: string, columns: number) => readonly string[] {
  setCapabilityOverrides({ hyperlinks: false });
  const same = (text: string): string => text;
  const looks: MarkdownTheme = {
    heading: theme.title,
    link: theme.accent,
    linkUrl: theme.dim,
    code: theme.string,
    codeBlock: same,
    codeBlockBorder: theme.border,
    quote: theme.italic,
    quoteBorder: theme.border,
    hr: theme.border,
    listBullet: theme.accent,
    bold: theme.bold,
    italic: theme.italic,
    strikethrough: same,
    underline: theme.bold,
    highlightCode: (code, language) =>
      code.split("\n").map((line) =>
        highlight(line, language ?? "")
          .map(({ text, role }) => (role ? theme[role](text) : text))
          .join(""),
      ),
  };
  return (text, columns) =>
    new Markdown(text, 0, 0, looks, undefined, { renderLatex: false }).render(Math.max(columns, 1)).map((line) => line.trimEnd());
}
