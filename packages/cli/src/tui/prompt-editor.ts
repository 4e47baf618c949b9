import { Editor, KeybindingsManager, setKeybindings, type TUI, TUI_KEYBINDINGS } from "@earendil-works/pi-tui";
import type { Theme } from "./theme.ts";

/** The text a person writes, in several lines if they like. */
export function promptEditor(tui: TUI, theme: Theme): Editor {
  setKeybindings(new KeybindingsManager(TUI_KEYBINDINGS, { "tui.input.newLine": ["shift+enter", "ctrl+j", "alt+enter"] }));
  const selectList = {
    selectedPrefix: theme.accent,
    selectedText: theme.accent,
    description: theme.dim,
    scrollInfo: theme.dim,
    noMatch: theme.dim,
  };
  return new Editor(tui, { borderColor: theme.border, selectList }, { paddingX: 1, autocompleteMaxVisible: 6 });
}
