import Foundation
import KeelLint
import Testing

/// The layout of a corpus case on disk.
enum Layout: String, CaseIterable, Sendable {
    /// A package in which each layer is a target.
    case modules
    /// An app of one module in which each layer is a folder.
    case folders
    /// A package with the domain in one target and the other layers as folders of another.
    case both

    var letter: Character { rawValue.first ?? "?" }

    /// Returns the path of a file of the case.
    func path(_ logical: String) -> String {
        guard let layer = logical.split(separator: "/").first.map(String.init) else {
            return logical
        }
        guard Corpus.layers.contains(layer) || layer == "Tests" else {
            return self == .folders ? "Notes/\(logical)" : "Sources/\(logical)"
        }
        if layer == "Tests" { return "Tests/NotesTests/" + logical.dropFirst("Tests/".count) }
        switch self {
        case .modules: return "Sources/Notes\(logical)"
        case .folders: return "Notes/\(logical)"
        case .both:
            return layer == "Domain" ? "Sources/Notes\(logical)" : "Sources/NotesApp/\(logical)"
        }
    }

    /// Returns the module of a layer, seen from another one; nil within the same module.
    func module(of layer: String, from other: String) -> String? {
        switch self {
        case .modules: "Notes\(layer)"
        case .folders: nil
        case .both:
            if (layer == "Domain") == (other == "Domain") {
                nil
            } else {
                layer == "Domain" ? "NotesDomain" : "NotesApp"
            }
        }
    }

    /// Returns the part of the configuration that locates a layer.
    func place(of layer: String) -> String {
        switch self {
        case .modules: "targets: [Notes\(layer)]"
        case .folders: "paths: [Notes/\(layer)]"
        case .both:
            layer == "Domain" ? "targets: [NotesDomain]" : "paths: [Sources/NotesApp/\(layer)]"
        }
    }
}

/// A small app with its expected findings.
struct CorpusCase: Sendable, CustomTestStringConvertible {
    var name: String
    var layout: Layout
    /// The files as on disk.
    var files: [String: String] = [:]
    /// `file:line rule`, each as often as it must be found.
    var expected: [String] = []

    var testDescription: String { "\(name) (\(layout.rawValue))" }
}

/// Reads the corpus; see Corpus/README.txt for the format.
enum Corpus {
    static let layers = ["Domain", "Data", "Infrastructure", "Presentation", "App"]

    private static let uses = [
        "Domain": "[]", "Data": "[Domain, Infrastructure]", "Infrastructure": "[]",
        "Presentation": "[Domain]", "App": "any",
    ]

    static let all: [CorpusCase] = texts.flatMap { text in
        blocks(of: text).flatMap { block in Layout.allCases.compactMap { read(block, $0) } }
    }

    private static var texts: [String] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Corpus")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".corpus") }.sorted().compactMap {
            try? String(contentsOf: folder.appending(path: $0), encoding: .utf8)
        }
    }

    private static func blocks(of text: String) -> [[Substring]] {
        var blocks: [[Substring]] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("== ") {
                blocks.append([line])
            } else if !blocks.isEmpty {
                blocks[blocks.count - 1].append(line)
            }
        }
        return blocks
    }

    private static func read(_ block: [Substring], _ layout: Layout) -> CorpusCase? {
        var name = String(block[0].dropFirst(3))
        if let mark = name.lastIndex(of: "|") {
            // Some cases make sense only in some layouts.
            guard name[mark...].contains(layout.letter) else { return nil }
            name = String(name[..<mark]).trimmingCharacters(in: .whitespaces)
        }
        var item = CorpusCase(name: name, layout: layout)
        var extra: [String] = []
        var bodies: [(path: String, layer: String, lines: [String])] = []
        for line in block.dropFirst() {
            if line.hasPrefix(">>") {
                extra.append(String(line.dropFirst(3)))
            } else if line.hasPrefix("-- ") {
                let logical = String(line.dropFirst(3))
                bodies.append(
                    (
                        layout.path(logical),
                        logical.split(separator: "/").first.map(String.init) ?? "", []
                    )
                )
            } else if !bodies.isEmpty {
                bodies[bodies.count - 1].lines.append(String(line))
            }
        }
        if layout == .both, !extra.contains(where: { $0.hasPrefix("layers:") }) {
            // So that the app's module has several layers in every case.
            bodies.append((layout.path("App/Root.swift"), "App", ["struct AppRoot {}"]))
        }
        for (path, layer, lines) in bodies {
            var text: [String] = []
            for (number, line) in lines.enumerated() {
                let (code, rules) = split(line, layout)
                text.append(imports(code, layer, layout))
                item.expected += rules.map { "\(path):\(number + 1) \($0)" }
            }
            item.files[path] = text.joined(separator: "\n")
        }
        if layout != .folders {
            item.files["Package.swift"] =
                """
                // swift-tools-version: 6.2\nimport PackageDescription\nlet package = \
                Package(name: \"Notes\")\n
                """
        }
        item.files["keel-lint.yml"] = configuration(item, extra, layout)
        for (number, line) in (item.files["keel-lint.yml"] ?? "").split(
            separator: "\n",
            omittingEmptySubsequences: false
        ).enumerated() {
            guard let mark = line.range(of: " #! ") else { continue }
            item.expected.append("keel-lint.yml:\(number + 1) \(line[mark.upperBound...])")
        }
        item.expected.sort()
        return item
    }

    /// Splits `code //!mf rule rule` into the code and the rules that apply to a layout.
    private static func split(_ line: String, _ layout: Layout) -> (String, [String]) {
        guard line.contains("//!") else { return (line, []) }
        let parts = line.components(separatedBy: "//!")
        var rules: [String] = []
        for part in parts.dropFirst() {
            let words = part.split(separator: " ", omittingEmptySubsequences: false)
            let letters = words.first ?? ""
            guard letters.isEmpty || letters.contains(layout.letter) else { continue }
            rules += words.dropFirst().filter { !$0.isEmpty }.map(String.init)
        }
        return (parts[0], rules)
    }

    /// Returns `import @Data` with the module of the layer.
    private static func imports(_ code: String, _ layer: String, _ layout: Layout) -> String {
        guard code.contains("import "),
            let wanted = layers.first(where: { code.contains("@\($0)") })
        else { return code }
        guard let module = layout.module(of: wanted, from: layer) else { return "" }
        return code.replacingOccurrences(of: "@\(wanted)", with: module)
    }

    private static func configuration(
        _ item: CorpusCase,
        _ extra: [String],
        _ layout: Layout
    ) -> String {
        var lines = ["version: 1"]
        if !extra.contains(where: { $0.hasPrefix("profiles:") }) {
            lines.append("profiles: [clean-architecture, data-layer, services]")
        }
        if !extra.contains(where: { $0.hasPrefix("layers:") }) {
            lines.append("layers:")
            for layer in layers {
                let path = layout.path("\(layer)/")
                guard item.files.keys.contains(where: { $0.hasPrefix(path) }) else { continue }
                lines += ["  - name: \(layer)", "    \(layout.place(of: layer))"]
                let present = (uses[layer] ?? "any").replacingOccurrences(of: "[", with: "")
                    .replacingOccurrences(of: "]", with: "").split(separator: ",")
                    .map { $0.trimmingCharacters(in: .whitespaces) }
                    .filter { name in
                        name == "any"
                            || item.files.keys.contains { $0.hasPrefix(layout.path("\(name)/")) }
                    }
                lines.append("    uses: [\(present.joined(separator: ", "))]")
            }
        }
        lines += extra.map { line in
            var line = line
            for layer in layers {
                line = line.replacingOccurrences(
                    of: "@\(layer)/",
                    with: layout.path("\(layer)/")
                )
            }
            return line
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
