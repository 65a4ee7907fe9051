import Foundation

/// Compares Keel with named peers in one process; see Documentation/Benchmarks.md.
@main
struct KeelBench {
    /// All groups, by their names on the command line.
    static let groups: [String: @concurrent @Sendable (Options) async throws -> [Measure]] = [
        "analytics": AnalyticsGroup.measures,
        "cache": CacheGroup.measures,
        "files": { try await FilesGroup.measures($0) + ResumableDownloadMeasures.measures($0) },
        "http": HTTPGroup.measures,
        "listen": ListenGroup.measures,
        "logging": LoggingGroup.measures,
        "postgresql": PostgreSQLGroup.measures,
        "repositories": RepositoriesGroup.measures,
        "security": SecurityGroup.measures,
        "server": ServerGroup.measures,
        "storage": StorageGroup.measures,
    ]

    /// Blocks its thread until the work ends the process.
    ///
    /// An asynchronous `main` would park this thread in a libdispatch call that crashes valgrind up to 3.19, which
    /// counts instructions: valgrind writes to the mask passed to `sigsuspend`, and libdispatch's is in read-only
    /// memory.
    static func main() {
        Task { @concurrent in exit(await finish(Array(CommandLine.arguments.dropFirst()))) }
        while true { pause() }
    }

    /// Executes the command line, and returns the exit code.
    private static func finish(_ arguments: [String]) async -> Int32 {
        do {
            if arguments.first == ChildWork.command {
                try await ChildWork(arguments.dropFirst()).run()
                return 0
            }
            if arguments.first == LogWork.command {
                try LogWork(arguments.dropFirst()).run()
                return 0
            }
            if arguments.first == StreamWork.command {
                try StreamWork(arguments.dropFirst()).run()
                return 0
            }
            #if PostgreSQL
            if arguments.first == DatabaseWriter.command {
                try await DatabaseWriter(arguments.dropFirst()).run()
                return 0
            }
            #endif
            if arguments.count == 2, arguments[0] == PeerServer.command {
                try await PeerServer(arguments[1]).run()
                return 0
            }
            if arguments == ["--list"] {
                for name in groups.keys.sorted() { print(name) }
                return 0
            }
            return try await run(try Options(arguments))
        } catch let error as UsageError {
            FileHandle.standardError.write(Data("\(error.message)\n\(Options.usage)\n".utf8))
            return 2
        } catch {
            FileHandle.standardError.write(Data("keel-bench: \(error)\n".utf8))
            return 3
        }
    }

    /// Runs the groups off the main actor, like an app's storage work.
    @concurrent
    private static func run(_ options: Options) async throws -> Int32 {
        var results: [MeasureResult] = []
        for name in options.groups.isEmpty ? groups.keys.sorted() : options.groups {
            guard let group = groups[name] else {
                throw UsageError(message: "there is no group '\(name)'")
            }
            Report.printHeader(name, options)
            for measure in try await group(options) where options.selects(measure.name) {
                let result = try await result(of: measure, options)
                Report.print(result)
                results.append(result)
            }
        }
        if let file = options.json { try Report.write(results, to: file) }
        let hasFailed = results.contains { $0.holds == false || $0.absence != nil }
        return options.isStrict && hasFailed ? 1 : 0
    }

    private static func result(
        of measure: Measure,
        _ options: Options
    ) async throws -> MeasureResult {
        do {
            return try await measure.run(options)
        } catch let absence as NotRun {
            return MeasureResult(measure, absence: absence)
        }
    }
}
