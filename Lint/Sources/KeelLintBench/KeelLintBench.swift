import Foundation
import KeelLint
import SwiftParser
import Synchronization

/// Measures the linter against the parser alone, alternating, on the same files and threads.
///
///     keel-lint-bench FOLDER [--quick] [--rounds N] [--json FILE] [--strict]
///
/// With `--strict`, exits with 1 if a target is missed.
@main
enum KeelLintBench {
    /// The promised maximum ratios.
    private static let targets = (cold: 1.3, warm: 0.15)

    static func main() throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        func value(of option: String) -> String? {
            guard let position = arguments.firstIndex(of: option), position + 1 < arguments.count
            else {
                return nil
            }
            defer { arguments.removeSubrange(position...(position + 1)) }
            return arguments[position + 1]
        }
        let json = value(of: "--json")
        let isQuick = arguments.contains("--quick")
        let rounds = value(of: "--rounds").flatMap { Int($0) } ?? (isQuick ? 1 : 21)
        guard let folder = arguments.first(where: { !$0.hasPrefix("--") }) else {
            FileHandle.standardError.write(Data("Name the folder of the sources to read.\n".utf8))
            exit(64)
        }
        let rows = try Measurement(folder).rows(rounds: rounds, targets)
        print(
            "lint: medians of \(rounds) \(rounds == 1 ? "round" : "rounds"), Keel and peer in turn"
        )
        for row in rows { print(row.text) }
        if let json { try row(rows).write(to: URL(fileURLWithPath: json)) }
        if arguments.contains("--strict"), rows.contains(where: { $0.holds == false }) { exit(1) }
    }

    private static func row(_ rows: [Row]) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(rows)
    }
}

/// A result, with the fields of the other benchmarks.
private struct Row: Encodable {
    let name: String
    let unit: String
    let keel: Double
    let peer: Double
    let ratio: Double
    let target: String?
    let holds: Bool?

    var text: String {
        let verdict = holds == true ? "holds" : "MISSED"
        let figures = String(
            format: "%8.1f ms  %8.1f ms  %5.2f  %@",
            keel,
            peer,
            ratio,
            target ?? "-"
        )
        return name.padding(toLength: 48, withPad: " ", startingAt: 0) + figures + "  " + verdict
    }
}

private struct Measurement {
    private let root: String
    private let files: [String]
    private let threads = ProcessInfo.processInfo.activeProcessorCount
    private let scratch = FileManager.default.temporaryDirectory
        .appending(path: "keel-lint-bench-\(UUID().uuidString)")

    init(_ folder: String) throws {
        root = URL(fileURLWithPath: folder, isDirectory: true).standardizedFileURL.path
        files = SourceDiscovery.search(root).files
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        try Data(configuration.utf8).write(to: scratch.appending(path: "keel-lint.yml"))
    }

    /// Its layers make the linter resolve every type name.
    private var configuration: String {
        let parts = files.map { $0.split(separator: "/") }.filter { $0.count > 2 }
        let folders = Set(parts.map { "\($0[0])/\($0[1])" }).sorted()
        let layers = folders.map {
            "  - {name: \"\($0)\", role: none, paths: [\"\($0)\"], uses: any}"
        }
        return "version: 1\nlayers:\n\(layers.joined(separator: "\n"))\ncontracts:\n"
            + "  - {name: no-circles, type: acyclic, between: layers}\n"
    }

    func rows(rounds: Int, _ targets: (cold: Double, warm: Double)) throws -> [Row] {
        defer { try? FileManager.default.removeItem(at: scratch) }
        let cache = scratch.appending(path: "facts")
        var linter = Linter(
            root: root,
            configurationFile: scratch.appending(path: "keel-lint.yml").path
        )
        linter.cacheFile = cache
        linter.threads = threads
        var times: (parse: [Double], cold: [Double], warm: [Double]) = ([], [], [])
        for _ in 0..<rounds {
            times.parse.append(milliseconds { parse() })
            try? FileManager.default.removeItem(at: cache)
            times.cold.append(try milliseconds { _ = try linter.run() })
            times.warm.append(
                try milliseconds {
                    let report = try linter.run()
                    precondition(report.cachedFileCount == report.fileCount, "not warm")
                }
            )
        }
        let alone = median(times.parse)
        return [
            row(
                "\(files.count) files, read and checked, cold",
                median(times.cold),
                alone,
                targets.cold
            ),
            row("the same, warm", median(times.warm), alone, targets.warm),
        ]
    }

    private func row(_ name: String, _ keel: Double, _ peer: Double, _ target: Double) -> Row {
        Row(
            name: name,
            unit: "ms",
            keel: keel,
            peer: peer,
            ratio: keel / peer,
            target: "≤ \(target)",
            holds: keel / peer <= target
        )
    }

    /// The peer: reads and parses each file with SwiftParser.
    private func parse() {
        let next = Counter()
        ProjectLoader.onThreads(threads) {
            while let index = next.take(below: files.count) {
                guard let data = FileManager.default.contents(atPath: "\(root)/\(files[index])")
                else {
                    continue
                }
                data.withUnsafeBytes { bytes in
                    let tree = Parser.parse(source: bytes.bindMemory(to: UInt8.self))
                    withExtendedLifetime(tree) {}
                }
            }
        }
    }

    private func milliseconds(_ work: () throws -> Void) rethrows -> Double {
        let time = try ContinuousClock().measure(work)
        return Double(time.components.seconds) * 1e3 + Double(time.components.attoseconds) / 1e15
    }

    private func median(_ times: [Double]) -> Double { times.sorted()[times.count / 2] }
}

private final class Counter: Sendable {
    private let next = Atomic(0)

    func take(below limit: Int) -> Int? {
        let index = next.add(1, ordering: .relaxed).oldValue
        return index < limit ? index : nil
    }
}
