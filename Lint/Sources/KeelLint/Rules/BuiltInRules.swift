/// The built-in rules.
public enum BuiltInRules: Sendable {
    /// All of them: about layers, code, services and the linter's own upkeep.
    public static let all: [RuleDescription] = layering + code + services + upkeep

    /// Returns the rule with an id; nil if there is none.
    public static func named(_ id: String) -> RuleDescription? { byID[id] }

    private static let byID = Dictionary(
        all.map { ($0.id, $0) },
        uniquingKeysWith: { first, _ in first }
    )
}
