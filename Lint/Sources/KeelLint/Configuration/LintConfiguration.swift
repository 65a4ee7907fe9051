/// What a project promises: its layers, its contracts, and the rules it keeps.
public struct LintConfiguration: Sendable {
    /// The name of the file, as messages call it.
    public internal(set) var file: String
    package var exclude: [Glob] = []
    package var layers: [Layer] = []
    package var contracts: [Contract] = []
    package var rules: [String: RuleSetting] = [:]
    /// The sets of rules that are switched on beside those that always are.
    package var profiles: Set<LintProfile> = []
    package var naming: [NamingRule] = []
    /// The names of transfer objects.
    package var transferObjects: [Glob] = [Glob("*DTO")]
    /// The folders of the packages within the project that belong to it; nil for those that it depends on.
    package var packages: [Glob]?
    package var baseline: String?
    package var byteLimit = 8 << 20
    /// Whether generated files are asked about more than their imports and uses.
    package var checksGenerated = false
    /// Whether nobody wrote it.
    package var isProposed = false

    package init(file: String = "keel-lint.yml") { self.file = file }

    package func setting(_ rule: String) -> RuleSetting { rules[rule] ?? RuleSetting() }

    /// Whether a rule runs: the configuration says so, or a profile, or it always does.
    package func isOn(_ rule: RuleDescription) -> Bool {
        setting(rule.id).isOn
            ?? (rule.isOnByDefault || rule.profile.map(profiles.contains) ?? false)
    }
}

/// The part that a layer plays.
package enum LayerRole: String, Sendable, CaseIterable {
    case domain
    case data
    case infrastructure
    case presentation
    /// Where everything is put together; it may know everything.
    case composition
    /// What all may use.
    case shared

    /// The words of layers' names that tell their role.
    private static let words: [(Self, [String])] = [
        (.domain, ["domain", "domains", "entities", "usecases", "model", "models", "business"]),
        (
            .infrastructure,
            [
                "infrastructure", "network", "networking", "persistence", "adapters", "services",
                "platform", "storage", "api",
            ]
        ),
        (.data, ["data", "repositories", "datalayer"]),
        (
            .presentation,
            ["presentation", "ui", "views", "features", "feature", "scenes", "screens"]
        ),
        (.composition, ["app", "composition", "application", "main", "root", "di", "bootstrap"]),
        (.shared, ["common", "shared", "core", "foundation", "utilities"]),
    ]

    /// The role that a name tells, if it does: `Domain`, `NotesDomain`, `domain-layer`.
    package static func named(_ name: String) -> Self? {
        let parts = NameWords.of(name)
        for (role, words) in words where words.contains(parts.joined()) { return role }
        guard let last = parts.last(where: { $0 != "layer" }) else { return nil }
        return words.first { $0.1.contains(last) }?.0
    }
}

/// A layer: which files it has, and what it may use.
package struct Layer: Sendable {
    package var name: String
    package var role: LayerRole?
    package var targets: [Glob] = []
    package var paths: [Glob] = []
    /// The layers that it may use beside itself; nil for all.
    package var uses: Set<String>? = []
    /// The modules from outside of the project that it may import; nil for all.
    package var modules: [Glob]?
    package var line = 1
}

/// A promise between parts.
package struct Contract: Sendable {
    package enum Kind: Sendable {
        /// None of the first may use any of the second.
        case forbidden(from: [Selector], to: [Selector])
        /// Only these may use those.
        case protected([Selector], onlyFrom: [Selector])
        /// None of these may use another of them.
        case independent([Selector])
        /// The uses among these make no circle; an empty list means all targets.
        case acyclic(Scope)
    }

    package enum Scope: Sendable {
        case layers
        case targets
        /// The folders directly below one.
        case folders(String)
        case members([Selector])
    }

    package var name: String
    package var kind: Kind
    /// Whether ways over others count.
    package var isTransitive = true
    package var because: String?
    package var line = 1

    package var word: String {
        switch kind {
        case .forbidden: "forbidden"
        case .protected: "protected"
        case .independent: "independent"
        case .acyclic: "acyclic"
        }
    }
}

/// What a contract names: layers, targets, files, or modules from outside.
package struct Selector: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        case layer
        case target
        case path
        case module
        /// A layer or a target of this name if there is one, else a module.
        case any
    }

    package var kind: Kind
    package var glob: Glob
    package var line: Int

    /// Reads `layer:Name`, `target:Name*`, `path:Folder/**`, `module:Name*`, or a name.
    package init(_ text: String, line: Int = 1) {
        self.line = line
        let parts = text.split(separator: ":", maxSplits: 1)
        if parts.count == 2, let kind = Kind(rawValue: String(parts[0])), kind != .any {
            self.kind = kind
            glob = Glob(parts[1].trimmingSpaces())
        } else {
            kind = text.contains("/") ? .path : .any
            glob = Glob(text)
        }
    }
}

extension StringProtocol {
    package func trimmingSpaces() -> String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}

/// How a project wants a rule.
package struct RuleSetting: Sendable {
    /// Nil for what the rule brings.
    package var isOn: Bool?
    package var severity: Severity?
    /// The layers it looks at; nil for those of the roles it brings.
    package var layers: [String]?
    /// Names that it lets pass.
    package var allow: [Glob] = []
    /// Names that it takes beside its own.
    package var also: [Glob] = []
    /// Whether ways over files of no layer count, for the rule `layers`.
    package var isTransitive = true
    package var line = 1

    package init() {}
}
