internal import Foundation
internal import KeelDocumentTools
internal import KeelStorage
internal import KeelStorageAdapting
internal import KeelStorageSQLite
internal import KeelToolSupport

#if PostgreSQL
internal import KeelStoragePostgreSQL
#endif

/// Checks whether a store can be opened, and whether it is corrupt: every document and every index entry.
package struct StoreCheck: DoctorCheck {
    private let path: String
    private let allowsUnverifiedServers: Bool

    /// - Parameters:
    ///   - path: The store's file, also as `sqlite:PATH`, or the URL of its PostgreSQL database.
    ///   - allowsUnverifiedServers: Whether a server on another machine need not prove its name.
    package init(_ path: String, allowsUnverifiedServers: Bool = false) {
        self.path = path
        self.allowsUnverifiedServers = allowsUnverifiedServers
    }

    package func findings() async -> [DoctorFinding] {
        let subject = "store \(Passwords.hidden(in: path))"
        do {
            let report: IntegrityReport
            var file: String?
            switch DocumentPlace(path) {
            case .postgreSQL(let url)?:
                #if PostgreSQL
                report = try await integrity(ofDatabase: url)
                #else
                _ = url
                return [
                    .warning(
                        subject,
                        "This keel was built without PostgreSQL.",
                        advice: "In Keel’s repository, run Scripts/setup.sh build and then "
                            + "Scripts/install.sh."
                    )
                ]
                #endif
            case .sqlite(let path)?:
                file = path
                let adapter = try SQLiteStorageAdapter.opened(at: path, for: .reading)
                defer { try? adapter.close() }
                report = try await adapter.checkIntegrity()
            case .server?, .firestore?, nil:
                return [
                    .problem(
                        subject,
                        "It is neither the path of a file nor the URL of a database.",
                        advice: "Use a path such as notes.sqlite, sqlite:PATH, or "
                            + "postgres://USER@HOST/DATABASE."
                    )
                ]
            }
            guard report.isSound else {
                let problems = report.problems.prefix(3).joined(separator: "; ")
                let kept =
                    file == nil
                    ? "Dump the database" : "Keep a copy of the file and of those beside it"
                return [
                    .problem(
                        subject,
                        "It is corrupt: \(problems)",
                        advice: "\(kept), then restore a backup, or save what can be read: "
                            + "`keel documents export`."
                    )
                ]
            }
            let documents = report.documentCount.counted("document")
            return [.good(subject, "\(documents), no corruption\(Self.size(of: file))")]
        } catch {
            let described = ToolError(describing: error)
            return [.problem(subject, described.message, advice: described.advice)]
        }
    }

    #if PostgreSQL
    private func integrity(ofDatabase url: String) async throws -> IntegrityReport {
        let adapter = try await PostgreSQLStorageAdapter.opened(at: url, for: .reading) {
            if allowsUnverifiedServers { $0.allowsUnverifiedServers = true }
        }
        do {
            let report = try await adapter.checkIntegrity()
            await adapter.close()
            return report
        } catch {
            await adapter.close()
            throw error
        }
    }
    #endif

    /// The size of a file, after a comma; empty without a file.
    private static func size(of file: String?) -> String {
        let attributes = file.flatMap { try? FileManager.default.attributesOfItem(atPath: $0) }
        guard let count = (attributes?[.size] as? NSNumber)?.int64Value else { return "" }
        let megabytes = Double(count) / Double(1 << 20)
        return ", \(megabytes.formatted(.number.precision(.fractionLength(1)))) MiB"
    }
}
