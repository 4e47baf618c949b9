type Format = (text: string) => boolean;
/** The formats of JSON Schema that are checked. Each is linear in its text; every other name is an annotation. */
export declare const FORMATS: Readonly<Record<string, Format>>;
