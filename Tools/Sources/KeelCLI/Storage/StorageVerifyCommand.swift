import ArgumentParser
import KeelDocumentTools
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import KeelTerminal
import KeelToolSupport

#if PostgreSQL
import KeelStoragePostgreSQL
#endif

struct StorageVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Checks every document of a store, and every index entry against the documents.",
        discussion: """
            Reads the whole store in one snapshot; programs can go on writing. A PostgreSQL server \
            checks its own files with pg_amcheck.

            The exit code is 0 if the store is sound, 1 if something in it is not, and 2 if it cannot \
            be checked.
            """
    )

    @OptionGroup
    var place: StoragePlaceOptions

    @Flag(name: .shortAndLong, help: "Shows no progress.")
    var quiet = false

    func run() async throws {
        let output = CommandOutput(isJSON: place.json, isQuiet: quiet)
        // Exit code 1 means that the store is not sound.
        try await output.reporting(failure: .findings) {
            let report = try await report(output.progressLine(unit: .items("documents")))
            if place.json {
                try output.record(Record(report))
            } else {
                for problem in report.problems { try output.line(problem) }
                let result =
                    report.isSound ? "no differences" : report.problems.count.counted("difference")
                try output.line("\(report.documentCount.counted("document")), \(result)")
            }
            return report.isSound ? .done : .failed
        }
    }

    private func report(_ line: ProgressLine) async throws -> IntegrityReport {
        defer { line.finish() }
        let (store, allowsUnverified) = (try place.store, place.database.unverifiedDatabase)
        return try await Interruption.value {
            switch store {
            case .postgreSQL(let url):
                #if PostgreSQL
                let adapter = try await PostgreSQLStorageAdapter.opened(at: url, for: .reading) {
                    if allowsUnverified { $0.allowsUnverifiedServers = true }
                }
                let report: Result<IntegrityReport, any Error>
                do {
                    report = .success(
                        try await adapter.checkIntegrity { line.update(done: $0) }
                    )
                } catch {
                    report = .failure(error)
                }
                await adapter.close()
                return try report.get()
                #else
                _ = (url, allowsUnverified)
                throw ToolError.lacksPostgreSQL
                #endif
            case .sqlite(let path):
                let adapter = try SQLiteStorageAdapter.opened(at: path, for: .reading)
                defer { try? adapter.close() }
                return try await adapter.checkIntegrity { line.update(done: $0) }
            case .server, .firestore:
                throw ValidationError("verify needs a file or a database.")
            }
        }
    }

    private struct Record: Encodable {
        let documents: Int
        let problems: [String]

        init(_ report: IntegrityReport) {
            documents = report.documentCount
            problems = report.problems
        }
    }
}
