import type { Content } from "./result.ts";
/** The text of a content, as far as it has any: this is what output limits count. */
export declare function contentText(content: Content): string;
/** The same content with all of its text replaced by this one, where its text began; images and files stay. */
export declare function withText(content: Content, text: string): Content;
