// Read as data, never executed: values, constants and arithmetic over numbers.
export default {
  schemaVersion: 2,
  name: "workfile",
  cards: {
    // The first is the area of a card that names none.
    areas: ["hook", "activity", "record", "workspace", "work", "surface", "cli", "benches"],
  },
  docs: {
    sources: ["README.md", ".project/specs/**/*.md"],
  },
  agents: {
    targets: ["agents-md"],
  },
  ci: {
    targets: [],
  },
  mcp: {
    allowMutations: true,
  },
};
