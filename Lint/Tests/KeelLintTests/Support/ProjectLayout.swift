import Foundation
import Testing

/// A project written like a well-known kind of app; see Layouts/README.txt for the format.
struct ProjectLayout: Sendable, CustomTestStringConvertible {
    let name: String
    /// The files, without marks.
    private(set) var files: [String: String] = [:]
    /// The layers that the linter infers.
    private(set) var layers: [String] = []
    /// A file that violates a layer rule.
    private(set) var plant: (path: String, line: String)?
    /// The number of lines of Swift.
    private(set) var lineCount = 0
    /// `path:line rule` of the correct findings.
    private(set) var right: Set<String> = []

    var testDescription: String { name }

    static let all: [ProjectLayout] = {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Layouts")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".layout") }.sorted().compactMap { name in
            (try? String(contentsOf: folder.appending(path: name), encoding: .utf8)).map {
                ProjectLayout(name: String(name.dropLast(".layout".count)), $0)
            }
        }
    }()

    private init(name: String, _ text: String) {
        self.name = name
        var each: [String] = []
        var templates: [(path: String, lines: [String])] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix(">> ") {
                let parts = line.dropFirst(3).split(separator: ":", maxSplits: 1)
                let value = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
                switch parts[0] {
                case "each": each = Self.list(value, ",")
                case "layers": layers = Self.list(value, ",")
                default:
                    let planted = Self.list(value, "|")
                    plant = planted.count == 2 ? (planted[0], planted[1]) : nil
                }
            } else if line.hasPrefix("-- ") {
                templates.append((String(line.dropFirst(3)), []))
            } else if !templates.isEmpty {
                templates[templates.count - 1].lines.append(String(line))
            }
        }
        for (path, lines) in templates {
            for feature in path.contains("__Each__") ? each : [""] {
                add(Self.written(path, for: feature), lines.map { Self.written($0, for: feature) })
            }
        }
    }

    private mutating func add(_ path: String, _ lines: [String]) {
        var code: [String] = []
        for (number, line) in lines.enumerated() {
            let parts = line.components(separatedBy: " //! ")
            code.append(parts[0])
            for rule in parts.dropFirst().flatMap({ Self.list($0, " ") }) {
                right.insert("\(path):\(number + 1) \(rule)")
            }
        }
        files[path] = code.joined(separator: "\n")
        if path.hasSuffix(".swift") { lineCount += lines.count }
    }

    private static func written(_ text: String, for feature: String) -> String {
        guard !feature.isEmpty else { return text }
        let lowered = "\(feature.prefix(1).lowercased())\(feature.dropFirst())"
        return text.replacingOccurrences(of: "__Each__", with: feature)
            .replacingOccurrences(of: "__each__", with: lowered)
    }

    private static func list(_ text: String, _ separator: String) -> [String] {
        text.components(separatedBy: separator).map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
    }
}
