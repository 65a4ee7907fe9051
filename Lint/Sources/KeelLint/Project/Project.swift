import Foundation

/// The input of rules.
package struct Project: Sendable {
    package let files: [SourceFile]
    package let configuration: LintConfiguration
    package let index: DeclarationIndex
    package let targets: Set<String>

    package struct Use: Sendable {
        package enum What: Sendable, Hashable {
            case module(String)
            case type(String, file: Int)
        }

        package let file: Int
        package let what: What
        package let place: SourcePlace
        package let symbol: String
        package let isConditional: Bool
    }

    /// The imports and, if the configuration has layers or contracts, the uses of other files' types; without tests.
    package let uses: [Use]
    /// Ambiguous names, with the files that declare them.
    package let ambiguous: [String: [Int]]

    /// Assigns layers to the files, and resolves their names.
    package init(
        _ loaded: [SourceFile],
        _ configuration: LintConfiguration,
        threads: Int = ProcessInfo.processInfo.activeProcessorCount
    ) {
        var files = loaded
        for position in files.indices where !files[position].isTest {
            files[position].layer = configuration.layers.firstIndex { $0.has(files[position]) }
        }
        self.files = files
        self.configuration = configuration
        index = DeclarationIndex(files)
        targets = Set(files.compactMap(\.target))
        let resolver = UseResolver(files: files, index: index, configuration: configuration)
        (uses, ambiguous) = resolver.resolved(threads: threads)
    }

    package func role(of file: SourceFile) -> LayerRole? {
        file.layer.flatMap { configuration.layers[$0].role }
    }

    /// Returns the files that a rule checks: those of its layers, without tests and, by default, generated files.
    package func files(for rule: RuleDescription) -> [SourceFile] {
        let wanted = configuration.setting(rule.id).layers
        return files.filter { file in
            guard !file.isTest, isChecked(file) else { return false }
            if let wanted {
                return file.layer.map { wanted.contains(configuration.layers[$0].name) } ?? false
            }
            return rule.roles.isEmpty || role(of: file).map(rule.roles.contains) ?? false
        }
    }

    /// Returns whether a file is checked for more than its uses.
    package func isChecked(_ file: SourceFile) -> Bool {
        configuration.checksGenerated || !file.facts.has(.generated)
    }

    /// Returns whether a name is an entity: a struct, class, enum or actor of the domain, except an error.
    package func isEntity(_ name: String) -> Bool {
        index.entries(named: name).contains { entry in
            let file = files[entry.file]
            let declaration = file.facts.declarations[entry.declaration]
            return role(of: file) == .domain && declaration.kind.isNominal
                && !index.conformances(of: name).contains("Error")
        }
    }
}

extension Layer {
    package func has(_ file: SourceFile) -> Bool {
        paths.contains { $0.matches(path: file.path) }
            || file.target.map { target in targets.contains { $0.matches(name: target) } } ?? false
    }
}
