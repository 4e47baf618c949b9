import { isObject, type JsonObject } from "./json.ts";
import { SdkError } from "./sdk-error.ts";

/** What the host asked of Assent and has no answer to yet. */
export type Requests = {
  /** Resolves with the response; rejects with `refused`, or with how the query ended. */
  ask(subtype: string, fields?: JsonObject): Promise<JsonObject>;
  /** The answer to one of them. */
  settle(response: JsonObject): void;
  /** No answer will come any more. */
  fail(error: Error): void;
};

type Waiting = { readonly resolve: (response: JsonObject) => void; readonly reject: (error: Error) => void };

/** Keeps the open requests. While one is open `lift` holds: its answer may stand behind lines that nobody reads at the moment. */
export function createRequests({
  write,
  lift,
}: {
  readonly write: (line: JsonObject) => Promise<void>;
  readonly lift: () => () => void;
}): Requests {
  const open = new Map<string, Waiting>();
  let last = 0;
  let failed: Error | undefined;

  async function ask(subtype: string, fields: JsonObject = {}): Promise<JsonObject> {
    if (failed) throw failed;
    last += 1;
    const id = `h${last}`;
    const release = lift();
    try {
      return await new Promise<JsonObject>((resolve, reject) => {
        open.set(id, { resolve, reject });
        write({ type: "control_request", request_id: id, request: { subtype, ...fields } }).catch(reject);
      });
    } finally {
      open.delete(id);
      release();
    }
  }

  return {
    ask,
    settle(response) {
      const waiting = open.get(String(response["request_id"]));
      if (response["subtype"] === "success") waiting?.resolve(isObject(response["response"]) ? response["response"] : {});
      else waiting?.reject(refusal(response));
    },
    fail(error) {
      failed ??= error;
      for (const { reject } of open.values()) reject(failed);
    },
  };
}

function refusal({ error, error_type: type }: JsonObject): SdkError {
  return new SdkError("refused", typeof error === "string" ? error : "Assent refused the request.", {
    reason: typeof type === "string" ? type : "unknown",
  });
}
