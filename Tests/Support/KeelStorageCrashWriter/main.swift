// Writes numbered batches to a store until it is killed, and prints each number once its commit has returned; see
// CrashSafetyTests.
//
// Each batch sets the same three documents to its number and adds a new one, so that a partial batch shows.
//
// With "visit" in place of a number it opens the store, prints the number of documents in `a`, and closes it. With
// "crowd" it is one of several processes with several adapters; see Crowd.swift. With "power" it logs its writes and
// synchronizations; see PowerWriter.swift.

import KeelStorageAdapting

#if SQLite
import Foundation
import KeelStorage
import KeelStorageSQLite

let arguments = CommandLine.arguments
if arguments.count == 3, arguments[2] == "visit" {
    let adapter = try SQLiteStorageAdapter(at: .file(arguments[1]))
    let request = ReadRequest(.aggregate(DocumentQuery("a"), [.count()]))
    if case .values(let values) = try await adapter.read(request).payload {
        print(values.first?.integerValue ?? -1)
    }
    try adapter.close()
    exit(0)
}
if arguments.count == 5, arguments[2] == "crowd" {
    try await Crowd(file: arguments[1], name: arguments[3], seed: UInt64(arguments[4]) ?? 0).run()
}
if arguments.count == 6, arguments[2] == "power" {
    let writer = PowerWriter(
        file: arguments[1],
        log: arguments[3],
        durability: arguments[4] == "power" ? .power : .process,
        batchCount: Int(arguments[5]) ?? 1
    )
    try await writer.run()
    exit(0)
}
guard arguments.count == 3, let first = Int64(arguments[2]) else {
    FileHandle.standardError.write(Data("usage: KeelStorageCrashWriter <file> <first>\n".utf8))
    exit(2)
}
var configuration = SQLiteStorageAdapter.Configuration()
configuration.retention = .init(bytes: 8000, tombstoneBytes: 8000)
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
    // Writing a short line to a pipe is atomic.
    FileHandle.standardOutput.write(Data("\(number)\n".utf8))
    number += 1
}
#endif
