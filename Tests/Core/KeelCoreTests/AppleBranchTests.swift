import Foundation
import Testing

/// A test that code for Apple's systems is compiled with the stand-ins of `Tests/Apple`, or listed in
/// `Documentation/Platforms.md` as never compiled.
@Suite("Code for Apple's systems")
struct AppleBranchTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Returns the stand-ins of each module that the package of stand-ins compiles.
    ///
    /// They are read from lines such as `keel("KeelCore", ["CKeelChecksum"], beside: ["Darwin"]),`.
    private static func modules() throws -> [String: Set<String>] {
        let manifest = root.appending(path: "Tests/Apple/Package.swift")
        let text = try String(contentsOf: manifest, encoding: .utf8)
        var modules: [String: Set<String>] = [:]
        for match in text.matches(
            of: /keel\(\s*"(\w+)",\s*\[[^\]]*\](?:\s*\+\s*\w+)?(?:,\s*beside: \[([^\]]*)\])?/
        ) {
            let standIns = (match.2 ?? "").matches(of: /"(\w+)"/).map { String($0.1) }
            modules[String(match.1)] = Set(standIns)
        }
        return modules
    }

    /// The files that these tests compile themselves, by symbolic links, beside a stand-in for SwiftUI.
    private static func views() throws -> Set<String> {
        let folder = root.appending(path: "Tests/App/KeelTests/SwiftUI")
        let links = try FileManager.default.contentsOfDirectory(atPath: folder.path).compactMap {
            try? FileManager.default.destinationOfSymbolicLink(
                atPath: folder.appending(path: $0).path
            )
        }
        return Set(links.map { $0.replacing("../", with: "") })
    }

    /// Returns the files with code for Apple's systems, by their paths relative to the root.
    private static func files() throws -> [String: AppleBranches] {
        let modules = try modules()
        let views = try views()
        var files: [String: AppleBranches] = [:]
        for folder in ["Sources", "Tools/Sources", "Plugins"] {
            let names = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
            while let name = names?.nextObject() as? String {
                // Templates contain the sources of new apps in strings.
                guard name.hasSuffix(".swift"), !name.contains("/Templates/") else { continue }
                let path = folder + "/" + name
                let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
                // The sources of the root package lie in folders of their areas.
                let parts = name.split(separator: "/").dropFirst(folder == "Sources" ? 1 : 0)
                let module = String(parts.first ?? "")
                let isView = views.contains(path)
                let branches = AppleBranches(text, beside: isView ? ["SwiftUI"] : modules[module])
                if !branches.isEmpty { files[path] = branches }
            }
        }
        return files
    }

    @Test("The page lists each file, its stand-ins and its uncompiled conditions")
    func isListed() throws {
        let files = try Self.files()
        #expect(files.count > 50)
        let rows = files.sorted { $0.key < $1.key }.map { path, branches in
            let standIns = branches.standIns.sorted().joined(separator: ", ")
            let rest = branches.uncompiled
                .map { "`\($0.replacing("||", with: "\\|\\|"))`" }.joined(separator: ", ")
            return "| `\(path)` | \(standIns) | \(rest) |"
        }
        let page = try String(
            contentsOf: Self.root.appending(path: "Documentation/Platforms.md"),
            encoding: .utf8
        )
        let listed = page.split(separator: "\n").map(String.init)
            .filter { $0.wholeMatch(of: /\| `[^`]*\.swift` \|.*/) != nil }
        let missing = rows.filter { !listed.contains($0) }
        let wrong = listed.filter { !rows.contains($0) }
        #expect(missing.isEmpty, "rows that lack:\n\(missing.joined(separator: "\n"))")
        #expect(wrong.isEmpty, "rows that do not hold:\n\(wrong.joined(separator: "\n"))")
        let isSorted = listed == listed.sorted()
        #expect(isSorted, "the rows are not in the order of the paths")
        for (path, branches) in files where !branches.uncompiled.isEmpty {
            #expect(page.contains("\n- `\(path)`: "), "the page does not say why of \(path)")
        }
    }

    @Test("Each stand-in is a module of the package, and each module links to the sources")
    func standInsExist() throws {
        let manager = FileManager.default
        let folder = Self.root.appending(path: "Tests/Apple")
        let standIns = try Set(
            manager.contentsOfDirectory(atPath: folder.appending(path: "StandIns").path)
        )
        let modules = try Self.modules()
        #expect(modules.count > 10)
        for (module, beside) in modules {
            #expect(standIns.isSuperset(of: beside), "\(module)")
            let link = folder.appending(path: "Sources/\(module)").path
            let target = try manager.destinationOfSymbolicLink(atPath: link)
            let place = try Regex(#"(\.\./){3}(Sources/\w+|Tools/Sources)/\#(module)"#)
            #expect(target.wholeMatch(of: place) != nil)
            #expect(manager.fileExists(atPath: link), "\(module)")
        }
        #expect(modules.values.reduce(into: Set()) { $0.formUnion($1) } == standIns)
    }

    // MARK: Reading conditions

    /// A file and its expected branches.
    struct Case: Sendable {
        let text: String
        var standIns: Set<String>? = ["Darwin"]
        var compiled: Set<String> = []
        var uncompiled: [String] = []
    }

    static let cases = [
        Case(text: "#if canImport(Darwin)\n#endif", compiled: ["Darwin"]),
        Case(
            text: "#if canImport(Darwin)\n#endif",
            standIns: nil,
            uncompiled: ["canImport(Darwin)"]
        ),
        Case(text: "#if canImport(UIKit)\n#endif", uncompiled: ["canImport(UIKit)"]),
        // An earlier branch is taken.
        Case(
            text: "#if canImport(Glibc)\n#elseif canImport(Darwin)\n#endif",
            uncompiled: ["canImport(Darwin)"]
        ),
        Case(text: "#if canImport(Darwin)\n#elseif canImport(Glibc)\n#endif", compiled: ["Darwin"]),
        Case(
            text:
                "#if canImport(Darwin)\n    #if os(iOS)\n    #elseif os(Linux)\n    #endif\n#endif",
            compiled: ["Darwin"],
            uncompiled: ["os(iOS)"]
        ),
        Case(text: "#if canImport(Darwin) && !os(tvOS)\n#endif", compiled: ["Darwin"]),
        // Conditions inside a branch that is not taken are not compiled.
        Case(
            text: "#if WebSocket\n#if canImport(Darwin)\n#endif\n#endif",
            uncompiled: ["canImport(Darwin)"]
        ),
        Case(
            text: "#if os(Linux)\n#else\n#if canImport(Darwin)\n#endif\n#endif",
            uncompiled: ["#else after os(Linux)", "canImport(Darwin)"]
        ),
        Case(text: "#if os(Linux) || os(macOS)\n#endif"),
        // Another system's branch is taken, so the rest is for Apple's systems.
        Case(
            text: "#if canImport(Glibc) || canImport(Musl)\n#else\n#endif",
            uncompiled: ["#else after canImport(Glibc) || canImport(Musl)"]
        ),
        Case(
            text: "#if Crypto\n#if os(Linux)\n#elseif os(Android)\n#else\n#endif\n#endif",
            uncompiled: ["#else after os(Linux), os(Android)"]
        ),
        Case(text: "#if os(Linux)\n#if canImport(Glibc)\n#else\n#endif\n#endif"),
        Case(text: "#if canImport(FoundationEssentials)\n#else\n#endif"),
        Case(text: "#if SQLite\n#else\n#endif"),
        Case(text: "#if !canImport(Darwin)\n#endif\n/// #if os(iOS)"),
        Case(text: "#if Logging && (canImport(os) || canImport(Glibc))\n#endif"),
    ]

    @Test("Conditions are read as the compiler reads them", arguments: cases.indices)
    func reads(_ index: Int) {
        let expected = Self.cases[index]
        let branches = AppleBranches(expected.text, beside: expected.standIns)
        #expect(branches.standIns == expected.compiled)
        #expect(branches.uncompiled == expected.uncompiled)
    }
}
