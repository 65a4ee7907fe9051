/// The rules that are built in.
public enum BuiltInRules: Sendable {
    /// All of them: those about layers, code and services, and those about the linter's own upkeep.
    public static let all: [RuleDescription] = layering + code + services + upkeep

    /// The rule with an id.
    ///
    /// - Parameter id: The id, such as `ambient-effects`.
    /// - Returns: The rule, or nil if there is none.
    public static func named(_ id: String) -> RuleDescription? { byID[id] }

    private static let byID = Dictionary(
        all.map { ($0.id, $0) },
        uniquingKeysWith: { first, _ in first }
    )
}
