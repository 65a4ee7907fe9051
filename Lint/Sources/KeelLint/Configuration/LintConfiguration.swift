/// A project's layers, contracts and settings of rules.
public struct LintConfiguration: Sendable {
    /// The name of the file, for messages.
    public internal(set) var file: String
    package var exclude: [Glob] = []
    package var layers: [Layer] = []
    package var contracts: [Contract] = []
    package var rules: [String: RuleSetting] = [:]
    package var profiles: Set<LintProfile> = []
    package var naming: [NamingRule] = []
    package var transferObjects: [Glob] = [Glob("*DTO")]
    /// The folders of packages within the project that belong to it; nil for the default of ``SourceDiscovery``.
    package var packages: [Glob]?
    package var baseline: String?
    package var byteLimit = 8 << 20
    /// Whether generated files are checked for more than layers and contracts.
    package var checksGenerated = false
    package var isProposed = false

    package init(file: String = "keel-lint.yml") { self.file = file }

    package func setting(_ rule: String) -> RuleSetting { rules[rule] ?? RuleSetting() }

    package func isOn(_ rule: RuleDescription) -> Bool {
        setting(rule.id).isOn
            ?? (rule.isOnByDefault || rule.profile.map(profiles.contains) ?? false)
    }
}

package enum LayerRole: String, Sendable, CaseIterable {
    case domain
    case data
    case infrastructure
    case presentation
    /// The composition root, which may use everything unless its `uses` say otherwise.
    case composition
    /// Code that several layers share; their `uses` must list this layer.
    case shared

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

    /// The role that a name indicates: the domain for `Domain`, `NotesDomain` and `domain-layer`.
    package static func named(_ name: String) -> Self? {
        let parts = NameWords.of(name)
        for (role, words) in words where words.contains(parts.joined()) { return role }
        guard let last = parts.last(where: { $0 != "layer" }) else { return nil }
        return words.first { $0.1.contains(last) }?.0
    }
}

package struct Layer: Sendable {
    package var name: String
    package var role: LayerRole?
    package var targets: [Glob] = []
    package var paths: [Glob] = []
    /// The other layers that it may use; nil for all.
    package var uses: Set<String>? = []
    /// The external modules that it may import; nil for all.
    package var modules: [Glob]?
    package var line = 1
}

package struct Contract: Sendable {
    package enum Kind: Sendable {
        /// No part of the first may use any of the second.
        case forbidden(from: [Selector], to: [Selector])
        /// Only the second may use the first.
        case protected([Selector], onlyFrom: [Selector])
        /// No member may use another.
        case independent([Selector])
        /// These do not use each other in a cycle.
        case acyclic(Scope)
    }

    package enum Scope: Sendable {
        case layers
        case targets
        /// The direct subfolders of a folder.
        case folders(String)
        case members([Selector])
    }

    package var name: String
    package var kind: Kind
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

/// Layers, targets, files or external modules, in a contract.
package struct Selector: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        case layer
        case target
        case path
        case module
        /// A layer, a target or, where modules are allowed, an external module.
        case any
    }

    package var kind: Kind
    package var glob: Glob
    package var line: Int

    /// Parses `layer:Name`, `target:Name*`, `path:Folder/**`, `module:Name*`, a path with a slash, or a name.
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

package struct RuleSetting: Sendable {
    /// Nil for the rule's default.
    package var isOn: Bool?
    package var severity: Severity?
    /// The layers to check; nil for those with the rule's default roles.
    package var layers: [String]?
    /// Names to ignore.
    package var allow: [Glob] = []
    /// Additional names.
    package var also: [Glob] = []
    /// For `layers`: whether uses through files outside of all layers count.
    package var isTransitive = true

    package init() {}
}
