import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite

/// The process that is killed: it writes numbered batches, and prints each number after the commit has returned.
///
/// Each batch sets the same three documents to its number, adds a document and removes an old one, so that a partial
/// batch is detectable. It is the writer of `CrashSafetyTests`, on which this package cannot depend.
enum CrashWriter {
    static let command = "write"

    /// The number of batches whose added documents exist at a time.
    static let kept: Int64 = 50

    static func run(_ arguments: [String]) async throws {
        guard arguments.count == 2, var number = Int64(arguments[1]) else {
            throw Failure("the writer needs a file and a number")
        }
        let adapter = try adapter(arguments[0])
        try await adapter.prepare(
            StorageSchema(
                indexes: [
                    IndexDefinition("numbers", [.ascending("number")]),
                    IndexDefinition(
                        "numbers",
                        scope: .group,
                        [.contains("tags"), .descending("number")]
                    ),
                ],
                searches: [SearchDefinition("numbers", fields: ["text"])]
            )
        )
        while true {
            _ = try await adapter.commit([batch(number)]).first?.get()
            // A write of a short line to a pipe is atomic.
            FileHandle.standardOutput.write(Data("\(number)\n".utf8))
            number += 1
        }
    }

    static func adapter(_ file: String) throws -> SQLiteStorageAdapter {
        var configuration = SQLiteStorageAdapter.Configuration()
        // Small, so that the log is trimmed during the trials.
        configuration.retention = .init(bytes: 8000, tombstoneBytes: 8000)
        return try SQLiteStorageAdapter(at: .file(file), configuration: configuration)
    }

    private static func batch(_ number: Int64) -> WriteBatch {
        let fields: DocumentFields = [
            "number": .integer(number),
            "tags": .array([.integer(number % 3), .integer(number % 5)]),
            "text": .string("batch number \(number)"),
            "filling": .string(String(repeating: "x", count: Int(number % 40) * 50)),
        ]
        let paths = shared + [DocumentPath("numbers/\(number)")]
        let writes = paths.map { DocumentWrite($0, .set(DocumentBody(fields))) }
        let old = DocumentWrite(DocumentPath("numbers/\(number - kept)"), .delete)
        return WriteBatch(id: number % 2 == 0 ? "batch-\(number)" : nil, writes + [old])
    }

    /// The documents that every batch sets.
    static let shared = ["a", "b", "c"].map { DocumentPath("shared/\($0)/numbers/last") }
}
