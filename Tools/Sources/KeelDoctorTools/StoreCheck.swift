internal import Foundation
internal import KeelDocumentTools
internal import KeelStorage
internal import KeelStorageSQLite
internal import KeelToolSupport

/// Checks an SQLite store: whether it opens, and whether it is corrupt.
package struct StoreCheck: DoctorCheck {
    private let path: String

    /// - Parameter path: The store's file.
    package init(_ path: String) { self.path = path }

    package func findings() async -> [DoctorFinding] {
        let subject = "store \(path)"
        do {
            let adapter = try SQLiteStorageAdapter.opened(at: path, for: .reading)
            defer { try? adapter.close() }
            let report = try await adapter.checkIntegrity()
            guard report.isSound else {
                let problems = report.problems.prefix(3).joined(separator: "; ")
                return [
                    .problem(
                        subject,
                        "It is corrupt: \(problems)",
                        advice: "Keep a copy of the file and of those beside it, then restore a "
                            + "backup, or save what can be read: `keel documents export`."
                    )
                ]
            }
            return [.good(subject, "\(report.documentCount) documents, no corruption\(size)")]
        } catch let error as StorageError {
            return [.problem(subject, error.message, advice: error.code.advice)]
        } catch {
            let described = ToolError(describing: error)
            return [.problem(subject, described.message, advice: described.advice)]
        }
    }

    private var size: String {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let count = (attributes?[.size] as? NSNumber)?.int64Value else { return "" }
        let megabytes = Double(count) / Double(1 << 20)
        return ", \(megabytes.formatted(.number.precision(.fractionLength(1)))) MiB"
    }
}
