import openapiTS, { astToString } from "openapi-typescript";

const head = "// Generated from the service's OpenAPI document by `npm run generate`. Not for editing.\n\n";

// typesOf makes the source of src/openapi.ts of a document. Left out are the paths,
// for `operations` says the same, and the refusals, which all have the Error body.
export async function typesOf(document) {
  const source = astToString(await openapiTS(withoutRefusals(document)));
  return head + source.replace(/export interface paths \{[\s\S]*?\n\}\n/, "");
}

function withoutRefusals(document) {
  const copy = structuredClone(document);
  for (const operation of Object.values(copy.paths).flatMap((methods) => Object.values(methods))) {
    operation.responses = Object.fromEntries(Object.entries(operation.responses).filter(([status]) => status.startsWith("2")));
  }
  return copy;
}
