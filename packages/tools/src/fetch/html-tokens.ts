import { Tokenizer } from "htmlparser2";

/** A token of a page, with names in lower case. Comments, declarations, scripts and styles are dropped. */
export type HtmlToken =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "open"; readonly name: string; readonly attributes: ReadonlyMap<string, string> }
  | { readonly type: "close"; readonly name: string };

/** Elements whose content is not for people. */
const DROPPED: ReadonlySet<string> = new Set(["script", "style", "iframe", "noembed", "noframes"]);

/** Passes each token to `take` until it returns false. Linear; the full parser would search a stack of open elements. */
export function readHtmlTokens(html: string, take: (token: HtmlToken) => boolean): void {
  let text = "";
  let name = "";
  let attributeName = "";
  let value = "";
  let attributes = new Map<string, string>();
  let dropping = false;
  const emit = (token: HtmlToken): void => {
    if (tokenizer.running && !take(token)) tokenizer.pause();
  };
  const emitText = (): void => {
    if (text !== "") emit({ type: "text", text });
    text = "";
  };
  const open = (): void => {
    emitText();
    emit({ type: "open", name, attributes });
    dropping = DROPPED.has(name);
  };
  const ignore = (): void => undefined;
  const tokenizer = new Tokenizer(
    {},
    {
      ontext: (start, end) => {
        if (!dropping) text += html.slice(start, end);
      },
      ontextentity: (codepoint) => {
        text += String.fromCodePoint(codepoint);
      },
      onopentagname: (start, end) => {
        name = html.slice(start, end).toLowerCase();
        attributes = new Map();
      },
      onattribname: (start, end) => {
        attributeName = html.slice(start, end).toLowerCase();
        value = "";
      },
      onattribdata: (start, end) => {
        value += html.slice(start, end);
      },
      onattribentity: (codepoint) => {
        value += String.fromCodePoint(codepoint);
      },
      onattribend: () => {
        if (!attributes.has(attributeName)) attributes.set(attributeName, value); // the first of several counts
      },
      onopentagend: open,
      onselfclosingtag: open,
      onclosetag: (start, end) => {
        emitText();
        dropping = false;
        emit({ type: "close", name: html.slice(start, end).toLowerCase() });
      },
      oncdata: (start, end, endOffset) => {
        text += html.slice(start, end - endOffset);
      },
      onend: emitText,
      oncomment: ignore,
      ondeclaration: ignore,
      onprocessinginstruction: ignore,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
}
