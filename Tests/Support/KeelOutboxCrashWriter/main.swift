// Adds numbered writes to an outbox and sends them until it is killed, and prints each number once it is added. With
// the argument `drain` it only sends, and ends when nothing is left.
//
// The server is a file with one line for each applied write. It honors idempotency keys, like a real server; see
// OutboxCrashTests.

#if SQLite
import Foundation
import KeelCore
import KeelStorage
import KeelStorageSQLite
import KeelSync
import Synchronization

/// A server that applies a write by appending a line to a file, once per idempotency key.
final class FileServer: OutboxSender {
    private struct State { var known: Set<String> = [] }

    private let file: FileHandle
    private let state: Mutex<State>

    init(_ path: String) throws {
        if !FileManager.default.fileExists(atPath: path) {
            try Data().write(to: URL(fileURLWithPath: path))
        }
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let keys = text.split(separator: "\n").compactMap { $0.split(separator: " ").first }
        state = Mutex(State(known: Set(keys.map(String.init))))
        file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seekToEnd()
    }

    func send(_ delivery: OutboxDelivery) async -> OutboxVerdict {
        // Real time, in which the process can be killed before the server acts.
        try? await Task.sleep(for: .microseconds(Int.random(in: 0...500)))
        state.withLock { state in
            guard state.known.insert(delivery.idempotencyKey).inserted else { return }
            let number = String(decoding: delivery.write.body, as: UTF8.self)
            let line = "\(delivery.idempotencyKey) \(delivery.write.key) \(number)\n"
            // Writing a short line to a file is atomic even if the process is killed.
            file.write(Data(line.utf8))
        }
        // Real time, in which the process can be killed before the answer arrives.
        try? await Task.sleep(for: .microseconds(Int.random(in: 0...500)))
        return Int.random(in: 0..<10) == 0 ? .failed(reason: "The reply was lost.") : .accepted()
    }
}

let arguments = CommandLine.arguments
guard arguments.count == 4 else {
    FileHandle.standardError.write(
        Data("usage: KeelOutboxCrashWriter <store> <server> <first number>|drain\n".utf8)
    )
    exit(2)
}
var configuration = Outbox.Configuration()
configuration.retry = RetryPolicy(
    attempts: 1_000_000,
    baseDelay: .milliseconds(1),
    maximumDelay: .milliseconds(20)
)
configuration.sendTimeout = .milliseconds(40)
configuration.leaseMargin = .milliseconds(20)
let storage = StorageClient(try SQLiteStorageAdapter(at: .file(arguments[1])))
let outbox = Outbox(storage, configuration: configuration)
let server = try FileServer(arguments[2])

guard var number = Int64(arguments[3]) else {
    while try await !outbox.flush(sending: server) {
        // The leases of a killed process expire in real time, because there is no clock to move.
        try await Task.sleep(for: .milliseconds(10))
    }
    exit(0)
}
try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask { try await outbox.run(sending: server) }
    while true {
        let current = number
        let write = OutboxWrite(
            key: "key\(current % 3)",
            kind: "PUT",
            body: Array("\(current)".utf8)
        )
        try await outbox.enqueue(write) { batch in
            try batch.set("numbers/\(current)", ["id": .string(write.id)])
        }
        FileHandle.standardOutput.write(Data("\(current)\n".utf8))
        number += 1
        // Keeps the outbox neither empty nor ever growing, while a concurrent task sends in real time.
        while try await outbox.pending().count > 20 { try await Task.sleep(for: .milliseconds(1)) }
    }
}
#endif
