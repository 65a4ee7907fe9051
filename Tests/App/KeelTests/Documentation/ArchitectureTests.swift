import Foundation
import Testing

/// Checks that the page about the architecture names the folders and files that exist.
@Suite("Architecture")
struct ArchitectureTests {
    private static func page() throws -> String {
        let file = DocumentedFile.root.appending(path: "Documentation/Architecture.md")
        return try String(contentsOf: file, encoding: .utf8)
    }

    /// Returns the names of the folders in a folder.
    private static func folders(in path: String) throws -> Set<String> {
        let place = DocumentedFile.root.appending(path: path).path
        let names = try FileManager.default.contentsOfDirectory(atPath: place)
        return Set(names.filter { !$0.contains(".") })
    }

    /// Returns the areas of the tree on the page, with their targets.
    private static func areas() throws -> [String: Set<String>] {
        var areas: [String: Set<String>] = [:]
        var area = ""
        for line in try page().components(separatedBy: "\n") {
            guard let row = line.wholeMatch(of: /(?:[├└]── (\w+)|[│ ]) +(\w+(?:, \w+)*),?/) else {
                area = ""
                continue
            }
            if let name = row.1 { area = String(name) }
            guard !area.isEmpty else { continue }
            let targets = String(row.2).components(separatedBy: ", ")
            areas[area, default: []].formUnion(targets)
        }
        return areas
    }

    @Test("The tree has each area, and each target in its area")
    func tree() throws {
        let areas = try Self.areas()
        let folders = try Self.folders(in: "Sources")
        #expect(Set(areas.keys) == folders)
        for (area, targets) in areas {
            let existing = try Self.folders(in: "Sources/\(area)")
            #expect(targets == existing, "\(area)")
        }
    }

    @Test("The tests of a target lie in the area of the target")
    func tests() throws {
        for (area, targets) in try Self.areas() {
            // The templates for adapters are a target of tests only.
            let expected = Set(targets.map { $0 + "Tests" } + ["KeelTemplateTests"])
            let existing = try Self.folders(in: "Tests/\(area)")
            #expect(existing.isSubset(of: expected), "\(area)")
        }
    }

    /// A file that a step of a walk names.
    private struct Place {
        let name: String
        /// What leads to the file: its types, and the function that the step names, if it is in this file.
        let entrances: Set<Substring>
        /// The words of its code, without comments.
        let words: Set<Substring>

        init(_ name: String, _ function: Substring?, in areas: Set<String>) throws {
            self.name = name
            let file = try #require(
                areas.map { DocumentedFile.root.appending(path: "Sources/\($0)/\(name)") }
                    .first { FileManager.default.fileExists(atPath: $0.path) },
                "\(name)"
            )
            let code = try String(contentsOf: file, encoding: .utf8)
                .replacing(/\/\/[^\n]*/, with: "")
            let types = /\n(?:\w+ )*(?:struct|class|enum|actor|protocol) (\w+)/
            let functions = Set(code.matches(of: /\bfunc (\w+)/).map(\.1))
            let named = function.map { functions.intersection([$0]) } ?? []
            entrances = named.union(code.matches(of: types).map(\.1))
            words = Set(code.matches(of: /\w+/).map(\.0))
        }
    }

    @Test(
        "A walk names functions of its files, and each file is used by one before it",
        arguments: ["One write", "One GET"]
    )
    func walk(_ title: String) throws {
        let page = try Self.page()
        let start = try #require(page.range(of: "### \(title), file by file"))
        let rest = page[start.upperBound...]
        let text = rest[..<(rest.range(of: "\n## ")?.lowerBound ?? rest.endIndex)]
        let areas = try Self.folders(in: "Sources")
        var places: [Place] = []
        for step in text.split(separator: /\n\d+\.\s/).dropFirst() {
            let function = step.firstMatch(of: /^`[^`]+`:\s+`(\w+)`/)?.1
            for (index, file) in step.matches(of: /`(\w+\/[\w+.\/]+\.swift)`/).enumerated() {
                let place = try Place(String(file.1), function, in: areas)
                if index == 0, let function {
                    #expect(place.entrances.contains(function), "\(place.name)")
                }
                let isUsed = places.contains { !$0.words.isDisjoint(with: place.entrances) }
                #expect(places.isEmpty || isUsed, "\(place.name)")
                places.append(place)
            }
        }
        #expect(places.count > 10)
    }

    @Test("Each file that the page names exists")
    func files() throws {
        let areas = try Self.folders(in: "Sources").map { "Sources/\($0)/" }
        let names = try Self.page().matches(of: /`(\w[\w+.\/]*\/[\w+.]+\.(?:swift|sh|md))`/)
        #expect(names.count > 20)
        for name in names.map({ String($0.1) }) {
            // A path begins with a library or, like that of a script, at the root.
            let exists = (areas + [""]).contains { folder in
                let place = DocumentedFile.root.appending(path: folder + name).path
                return FileManager.default.fileExists(atPath: place)
            }
            #expect(exists, "\(name)")
        }
    }
}
