import { Editor, KeybindingsManager, matchesKey, setKeybindings, type TUI, TUI_KEYBINDINGS } from "@earendil-works/pi-tui";
import type { Theme } from "../draw/theme.ts";

export function promptEditor(tui: TUI, theme: Theme): Editor {
  setKeybindings(new KeybindingsManager(TUI_KEYBINDINGS, { "tui.input.newLine": ["shift+enter", "ctrl+j", "alt+enter"] }));
  const selectList = {
    selectedPrefix: theme.accent,
    selectedText: theme.accent,
    description: theme.dim,
    scrollInfo: theme.dim,
    noMatch: theme.dim,
  };
  return recallingToEnd(new Editor(tui, { borderColor: theme.border, selectList }, { paddingX: 1, autocompleteMaxVisible: 6 }));
}

const LINE_END = "\u0005";
const RIGHT = "\u001b[C";

/** Moves the cursor to the end of a recalled prompt; the library leaves it at the start. */
function recallingToEnd(editor: Editor): Editor {
  const handle = editor.handleInput.bind(editor);
  editor.handleInput = (data) => {
    const before = editor.getText();
    handle(data);
    const text = editor.getText();
    if (text === before || !matchesKey(data, "up")) return;
    for (const next of text.matchAll(/\n/g)) [LINE_END, next && RIGHT].forEach(handle);
    handle(LINE_END);
  };
  return editor;
}
