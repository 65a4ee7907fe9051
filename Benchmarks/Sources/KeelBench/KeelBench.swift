import Foundation

/// Measures Keel against named peers in one process: see Documentation/Benchmarks.md.
@main
struct KeelBench {
    /// Every group by the name that the command line uses.
    static let groups: [String: @concurrent @Sendable (Options) async throws -> [Measure]] = [
        "http": HTTPGroup.measures,
        "storage": StorageGroup.measures,
    ]

    static func main() async throws {
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            exit(try await run(options))
        } catch let error as UsageError {
            FileHandle.standardError.write(Data("\(error.message)\n\(Options.usage)\n".utf8))
            exit(2)
        }
    }

    /// Runs the groups away from the main actor, where an app's storage work would run too.
    @concurrent
    private static func run(_ options: Options) async throws -> Int32 {
        var results: [MeasureResult] = []
        for name in options.groups.isEmpty ? groups.keys.sorted() : options.groups {
            guard let group = groups[name] else {
                throw UsageError(message: "there is no group '\(name)'")
            }
            Report.printHeader(name, options)
            for measure in try await group(options) where options.selects(measure.name) {
                let result = try await measure.run(options)
                Report.print(result)
                results.append(result)
            }
        }
        if let file = options.json { try Report.write(results, to: file) }
        let missed = results.contains { $0.holds == false }
        return options.isStrict && missed ? 1 : 0
    }
}
