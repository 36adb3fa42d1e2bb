import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

const head = "// Generated from the service's OpenAPI document by `npm run generate`. Not for editing.\n\n";

// typesOf makes the source of src/openapi.ts of a document. Left out are the paths,
// for `operations` says the same, and the refusals, which all have the Error body.
export async function typesOf(document) {
  const source = astToString(await openapiTS(withoutRefusals(document), { transform: openList }));
  return head + source.replace(/export interface paths \{[\s\S]*?\n\}\n/, "");
}

// openList is the type of a list that stays open: its known values, or a text that a newer service has added.
function openList(schema) {
  const known = schema["x-extensible-enum"];
  if (!known) return undefined;
  const { factory } = ts;
  const text = factory.createKeywordTypeNode(ts.SyntaxKind.StringKeyword);
  const values = known.map((value) => factory.createLiteralTypeNode(factory.createStringLiteral(value)));
  return factory.createUnionTypeNode([...values, factory.createIntersectionTypeNode([text, factory.createTypeLiteralNode([])])]);
}

function withoutRefusals(document) {
  const copy = structuredClone(document);
  for (const operation of Object.values(copy.paths).flatMap((methods) => Object.values(methods))) {
    operation.responses = Object.fromEntries(Object.entries(operation.responses).filter(([status]) => status.startsWith("2")));
  }
  return copy;
}
