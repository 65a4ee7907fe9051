import Foundation
import SwiftParser
import SwiftSyntax

package struct PackageTarget: Sendable, Hashable {
    package var name: String
    /// Relative to the root.
    package var folder: String
    package var isTest: Bool
}

/// Reads the targets of a package from its manifest and its folders.
///
/// The manifest is parsed, not executed, so targets made by functions are not seen. Therefore each folder in `Sources`,
/// `Tests` and `Plugins` without a declared target counts as one; or those within it do, if it has no files of its own
/// and the manifest has their names in quotes, with or without `Tests`.
package struct ManifestReader: Sendable {
    /// Returns the targets of several packages, longest path first.
    package static func targets(
        root: String,
        packages: [String],
        files: [String]
    ) -> [PackageTarget] {
        packages.flatMap { package -> [PackageTarget] in
            guard !package.isEmpty else { return targets(root: root, files: files) }
            let prefix = package + "/"
            let own = files.filter { $0.hasPrefix(prefix) }.map {
                String($0.dropFirst(prefix.count))
            }
            return targets(root: "\(root)/\(package)", files: own).map { target in
                var target = target
                target.folder = prefix + target.folder
                return target
            }
        }
        .sorted { ($1.folder.count, $0.folder) < ($0.folder.count, $1.folder) }
    }

    private static func targets(root: String, files: [String]) -> [PackageTarget] {
        let manifest = "\(root)/Package.swift"
        guard let text = try? String(contentsOfFile: manifest, encoding: .utf8) else { return [] }
        let visitor = TargetVisitor(viewMode: .sourceAccurate)
        visitor.walk(Parser.parse(source: text))

        let folders = Set(files.flatMap(Self.folders))
        var targets: [String: PackageTarget] = [:]
        for declared in visitor.declared {
            let parents =
                declared.isTest
                ? ["Tests", "Sources"]
                : declared.isPlugin
                    ? ["Plugins", "Sources"] : ["Sources", "Source", "src", "srcs"]
            var candidates = declared.path.map { [$0] } ?? parents.map { "\($0)/\(declared.name)" }
            if visitor.isAlone(declared) { candidates.append(parents[0]) }
            guard let folder = candidates.first(where: folders.contains) else { continue }
            targets[folder] = PackageTarget(
                name: declared.name,
                folder: folder,
                isTest: declared.isTest
            )
        }
        let grouped = grouped(folders, of: files, visitor.names)
        let groups = Set(grouped.map { $0[..<($0.lastIndex(of: "/") ?? $0.endIndex)] })
        for folder in folders.sorted() {
            let parts = folder.split(separator: "/")
            let isTopLevel = parts.count == 2 && !groups.contains(folder[...])
            guard isTopLevel || grouped.contains(folder), places.contains(parts[0]),
                targets[folder] == nil,
                !targets.keys.contains(where: {
                    $0.hasPrefix(folder + "/") || folder.hasPrefix($0 + "/")
                })
            else { continue }
            targets[folder] = PackageTarget(
                name: String(parts[parts.count - 1]),
                folder: folder,
                isTest: parts[0] == "Tests"
            )
        }
        return Array(targets.values)
    }

    private static let places: Set<Substring> = ["Sources", "Tests", "Plugins"]

    /// `Sources/Group/Name`.
    private static func grouped(
        _ folders: Set<String>,
        of files: [String],
        _ names: Set<String>
    ) -> Set<String> {
        let filled = Set(files.compactMap { file in file.lastIndex(of: "/").map { file[..<$0] } })
        return folders.filter { folder in
            let parts = folder.split(separator: "/")
            guard parts.count == 3, places.contains(parts[0]) else { return false }
            let name = String(parts[2])
            let tested = name.hasSuffix("Tests") ? String(name.dropLast(5)) : name
            let group = "\(parts[0])/\(parts[1])"
            return (names.contains(name) || names.contains(tested)) && !filled.contains(group[...])
        }
    }

    private static func folders(of path: String) -> [String] {
        var folders: [String] = []
        var rest = path[...]
        while let slash = rest.lastIndex(of: "/") {
            rest = rest[..<slash]
            folders.append(String(rest))
        }
        return folders
    }

    private struct Declared {
        let name: String
        let path: String?
        let isTest: Bool
        let isPlugin: Bool
    }

    private final class TargetVisitor: SyntaxVisitor {
        private static let kinds: Set<String> = [
            "target", "executableTarget", "testTarget", "macro", "plugin",
        ]
        var declared: [Declared] = []
        private var hasUnknown = false
        /// Everything in quotes; some are targets that functions make.
        var names: Set<String> = []

        /// Whether a target is the only one of its kind, so that its files may be directly in `Sources`.
        func isAlone(_ target: Declared) -> Bool {
            guard !hasUnknown else { return false }
            return declared.allSatisfy { other in
                let isOfKind = other.isTest == target.isTest && other.isPlugin == target.isPlugin
                return !isOfKind || other.name == target.name && other.path == nil
            }
        }

        override func visit(_ node: StringLiteralExprSyntax) -> SyntaxVisitorContinueKind {
            if let name = node.representedLiteralValue { names.insert(name) }
            return .visitChildren
        }

        override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
            guard let member = node.calledExpression.as(MemberAccessExprSyntax.self),
                Self.kinds.contains(member.declName.baseName.text)
            else { return .visitChildren }
            for label in ["name", "path"] where literal(node, label) == nil {
                if node.arguments.contains(where: { $0.label?.text == label }) { hasUnknown = true }
            }
            guard let name = literal(node, "name") else { return .visitChildren }
            let kind = member.declName.baseName.text
            var path = literal(node, "path")
            while path?.hasSuffix("/") == true { path?.removeLast() }
            while path?.hasPrefix("./") == true { path?.removeFirst(2) }
            declared.append(
                Declared(
                    name: name,
                    path: path,
                    isTest: kind == "testTarget",
                    isPlugin: kind == "plugin"
                )
            )
            return .visitChildren
        }

        private func literal(_ call: FunctionCallExprSyntax, _ label: String) -> String? {
            call.arguments.first { $0.label?.text == label }?.expression
                .as(StringLiteralExprSyntax.self)?.representedLiteralValue
        }
    }
}
