import Foundation
import KeelLint
import Testing

/// Compares imports with the output of the toolchain's own parser.
///
/// That parser omits inactive `#if` branches, so their directives are blanked first: then both
/// parse every branch.
@Suite("Imports compared with the toolchain's own parser")
struct DifferentialTests {
    private static let environment = ProcessInfo.processInfo.environment

    /// The checkouts in the scratch folder of Keel's packages, as `Scripts/lib.sh` chooses it.
    private static let checkouts: URL = {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let given = environment["KEEL_SCRATCH_PATH"].map { URL(fileURLWithPath: $0) }
        return (given ?? root.appending(path: ".build/shared")).appending(path: "checkouts")
    }()

    /// Every eighth file is compared; with `KEEL_THOROUGH` set, as in the nightly run, all are.
    private static let step = (environment["KEEL_THOROUGH"] ?? "").isEmpty ? 8 : 1

    private static let compiler: String? = {
        let found = try? run("/usr/bin/env", ["bash", "-c", "command -v swiftc"])
        return found.flatMap {
            $0.status == 0 ? $0.text.trimmingCharacters(in: .whitespacesAndNewlines) : nil
        }
    }()

    static func isThere(_ package: String) -> Bool {
        compiler != nil
            && FileManager.default.fileExists(atPath: checkouts.appending(path: package).path)
    }

    @Test(
        "GRDB",
        .enabled(
            if: isThere("GRDB.swift"),
            "NOT RUN: GRDB.swift is not among the checkouts of Keel's dependencies"
        )
    )
    func grdb() throws { try compare("GRDB.swift", least: 300) }

    @Test(
        "swift-nio",
        .enabled(
            if: isThere("swift-nio"),
            "NOT RUN: swift-nio is not among the checkouts of Keel's dependencies"
        )
    )
    func nio() throws { try compare("swift-nio", least: 700) }

    @Test(
        "hummingbird",
        .enabled(
            if: isThere("hummingbird"),
            "NOT RUN: hummingbird is not among the checkouts of Keel's dependencies"
        )
    )
    func hummingbird() throws { try compare("hummingbird", least: 200) }

    private struct Line: Hashable, Comparable, CustomStringConvertible {
        let file: String
        let line: Int
        let path: String
        let kind: String

        var description: String { "\(file):\(line) \(kind) \(path)" }

        static func < (left: Self, right: Self) -> Bool {
            (left.file, left.line, left.path) < (right.file, right.line, right.path)
        }
    }

    /// The compiler's names for import kinds that differ.
    private static let words = ["let": "var", "typealias": "type"]

    private func compare(_ package: String, least: Int) throws {
        let root = Self.checkouts.appending(path: package).path
        let project = try TemporaryProject()
        var own: [Line] = []
        var files: [String] = []
        for (number, path) in SourceDiscovery.search(root).files.enumerated()
        where number.isMultiple(of: Self.step) {
            let text = try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
            guard text.contains("import") else { continue }
            let blanked = text.split(separator: "\n", omittingEmptySubsequences: false).map {
                line in
                let word = line.drop { $0 == " " || $0 == "\t" }
                return ["#if", "#elseif", "#else", "#endif"].contains { word.hasPrefix($0) }
                    ? "" : String(line)
            }
            .joined(separator: "\n")
            let name = "\(files.count).swift"
            try project.write(name, blanked)
            files.append(path)
            own += facts(text).imports.map {
                Line(
                    file: name,
                    line: Int($0.place.line),
                    path: $0.path,
                    kind: Self.words[$0.kind] ?? $0.kind
                )
            }
        }
        let compiler = try #require(Self.compiler)
        let names = files.indices.map { "\($0).swift" }
        let dumped = try run(
            "/usr/bin/env",
            [
                "bash", "-c",
                """
                # One at a time: of several files the compiler prints only one.
                printf '%s\\n' "$@" | xargs -P 2 -I FILE sh -c \
                '"$0" -frontend -dump-parse -parse-as-library FILE >FILE.dump 2>/dev/null' "$0"
                grep -ah '^ *(import_decl ' ./*.dump
                """,
                compiler,
            ] + names,
            in: project.root
        )
        let theirs = dumped.text.split(separator: "\n").compactMap(Self.parse)
        #expect(theirs.count >= (Self.step == 1 ? least : least / Self.step / 2))
        let missing = Set(theirs).subtracting(own).sorted()
        let extra = Set(own).subtracting(theirs).sorted()
        #expect(missing.isEmpty && extra.isEmpty, "missing: \(missing) extra: \(extra)")
        #expect(own.count == theirs.count)
    }

    /// Parses `(import_decl … range=[0.swift:1:1 - line:1:8] kind=struct module="A.B")`.
    private static func parse(_ line: Substring) -> Line? {
        guard let range = line.firstRange(of: "range=["),
            let module = line.firstRange(of: "module=\"")
        else { return nil }
        let place = line[range.upperBound...].prefix { $0 != " " }.split(separator: ":")
        guard place.count == 3, let number = Int(place[1]) else { return nil }
        let kind = line.firstRange(of: " kind=").map {
            String(line[$0.upperBound...].prefix { $0 != " " && $0 != ")" })
        }
        return Line(
            file: String(place[0]),
            line: number,
            path: String(line[module.upperBound...].prefix { $0 != "\"" }),
            kind: kind ?? ""
        )
    }
}
