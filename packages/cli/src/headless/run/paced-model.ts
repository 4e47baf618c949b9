import type { ConversationDeps } from "@assent/agent";
import type { RunModel } from "../../compose/model.ts";

/** Slows a model down to the speed at which its output can be written. */
export function pacedModel(chosen: RunModel, paced: () => Promise<void>): RunModel {
  const { model, script } = chosen;
  return {
    ...chosen,
    model: async (id) => pace(await model(id), paced),
    script: script && {
      ...script,
      agent: (name, options) => {
        const agent = script.agent(name, options);
        return { ...agent, ...pace(agent, paced), as: (id) => pace(agent.as(id), paced) };
      },
    },
  };
}

function pace(model: LanguageModel, paced: () => Promise<void>): LanguageModel {
  const { specificationVersion, provider, modelId, supportedUrls } = model;
  return {
    specificationVersion,
    provider,
    modelId,
    supportedUrls,
    doGenerate: (options) => model.doGenerate(options),
    doStream: async (options) => {
      await paced();
      const { stream, ...rest } = await model.doStream(options);
      const slowly = new TransformStream<StreamPart, StreamPart>({
        transform: async (part, out) => {
          await paced();
          out.enqueue(part);
        },
      });
      return { ...rest, stream: stream.pipeThrough(slowly) };
    },
  };
}

type LanguageModel = Awaited<ReturnType<ConversationDeps["model"]>>;
type StreamPart = Awaited<ReturnType<LanguageModel["doStream"]>>["stream"] extends ReadableStream<infer P> ? P : never;
