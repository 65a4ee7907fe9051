// Writes numbered batches to a store until it is killed, and prints each number once its commit
// has returned. The crash tests start it, kill it, and look at what is left.
//
// Each batch sets the same three documents to its number and adds one of its own, so that a batch
// that is there in part shows: see CrashSafetyTests.

#if SQLite
import Foundation
import KeelStorage
import KeelStorageSQLite

let arguments = CommandLine.arguments
guard arguments.count == 3, let first = Int64(arguments[2]) else {
    FileHandle.standardError.write(Data("usage: KeelStorageCrashWriter <file> <first>\n".utf8))
    exit(2)
}
var configuration = SQLiteStorageAdapter.Configuration()
configuration.retention = .init(count: 200)
let adapter = try SQLiteStorageAdapter(at: .file(arguments[1]), configuration: configuration)
try await adapter.prepare(
    StorageSchema(
        indexes: [
            IndexDefinition("numbers", [.ascending("number")]),
            IndexDefinition("numbers", scope: .group, [.contains("tags"), .descending("number")]),
        ],
        searches: [SearchDefinition("numbers", fields: ["text"])]
    )
)
var number = first
while true {
    let fields: DocumentFields = [
        "number": .integer(number),
        "tags": .array([.integer(number % 3), .integer(number % 5)]),
        "text": .string("batch number \(number)"),
        "filling": .string(String(repeating: "x", count: Int(number % 40) * 50)),
    ]
    let shared = ["a", "b", "c"].map { id in
        DocumentWrite(DocumentPath("shared/\(id)/numbers/last"), .set(DocumentBody(fields)))
    }
    let own = DocumentWrite(DocumentPath("numbers/\(number)"), .set(DocumentBody(fields)))
    let old = DocumentWrite(DocumentPath("numbers/\(number - 50)"), .delete)
    let results = try await adapter.commit([
        WriteBatch(id: number % 2 == 0 ? "batch-\(number)" : nil, shared + [own, old])
    ])
    _ = try results[0].get()
    // One write of a short line to a pipe is whole or not there.
    FileHandle.standardOutput.write(Data("\(number)\n".utf8))
    number += 1
}
#endif
