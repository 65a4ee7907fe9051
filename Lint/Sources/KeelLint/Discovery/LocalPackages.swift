import Foundation
import SwiftParser
import SwiftSyntax

enum LocalPackages {
    /// The folders of a package's dependencies by path that are within the root.
    static func dependencies(of folder: String, root: String) -> Set<String> {
        let manifest = "\(root)/\(folder.isEmpty ? "" : folder + "/")Package.swift"
        guard let text = try? String(contentsOfFile: manifest, encoding: .utf8) else { return [] }
        let visitor = PathVisitor(viewMode: .sourceAccurate)
        visitor.walk(Parser.parse(source: text))
        return Set(visitor.paths.compactMap { normalized($0, from: folder) })
    }

    static func isConfigured(_ folder: String, root: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(root)/\(folder)/\(Linter.configurationName)")
    }

    private static func normalized(_ path: String, from folder: String) -> String? {
        guard !path.hasPrefix("/"), !path.hasPrefix("~") else { return nil }
        var parts = folder.split(separator: "/")
        for part in path.split(separator: "/") where part != "." {
            if part != ".." {
                parts.append(part)
            } else if parts.popLast() == nil {
                return nil
            }
        }
        return parts.isEmpty ? nil : parts.joined(separator: "/")
    }

    private final class PathVisitor: SyntaxVisitor {
        var paths: [String] = []

        override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
            guard
                let member = node.calledExpression.as(MemberAccessExprSyntax.self),
                member.declName.baseName.text == "package",
                let path = node.arguments.first(where: { $0.label?.text == "path" })?.expression
                    .as(StringLiteralExprSyntax.self)?.representedLiteralValue
            else { return .visitChildren }
            paths.append(path)
            return .visitChildren
        }
    }
}
