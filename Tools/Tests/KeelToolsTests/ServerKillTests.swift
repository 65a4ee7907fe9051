import Foundation
import KeelAsyncHTTPClient
import KeelStorage
import KeelStorageFirestore
import KeelStorageSQLite
import KeelToolsTestSupport
import Synchronization
import Testing

/// Kills `keel serve` while clients write to it, and looks at the store through their eyes.
///
/// `KEEL_SERVER_KILLS` asks for a longer run.
@Suite("A server killed under load", .serialized, .timeLimit(.minutes(30)))
struct ServerKillTests {
    private static let killCount =
        ProcessInfo.processInfo.environment["KEEL_SERVER_KILLS"].flatMap { Int($0) } ?? 10

    /// The acknowledgements that clients received.
    private final class Promises: Sendable {
        private let state = Mutex(
            (paths: [DocumentPath](), increments: [CommitReceipt](), isOver: false)
        )

        var isOver: Bool { state.withLock { $0.isOver } }
        var paths: [DocumentPath] { state.withLock { $0.paths } }
        var increments: [CommitReceipt] { state.withLock { $0.increments } }

        func add(_ path: DocumentPath) { state.withLock { $0.paths.append(path) } }
        func end() { state.withLock { $0.isOver = true } }
        func addIncrement(_ receipt: CommitReceipt) {
            state.withLock { $0.increments.append(receipt) }
        }
    }

    @Test("No acknowledged write is lost, and a repeated increment counts once")
    func kills() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "store.sqlite").path
        let promises = Promises()
        var server = try ServedProcess(file, port: try await FreePort.find(), ["--history", "1h"])
        let transport = AsyncHTTPClientTransport()
        let adapter = FirestoreStorageAdapter(.patient(server.address), transport: transport)

        try await withThrowingTaskGroup(of: Void.self) { group in
            // One client continues through every kill, and each of its increments must count once.
            let patient = StorageClient(adapter.retrying(.patient))
            group.addTask {
                try await patient.setDocument("counters/1", ["count": 0])
                while !promises.isOver {
                    promises.addIncrement(
                        try await patient.updateDocument("counters/1", [.increment("count")])
                    )
                }
            }
            for trial in 0..<Self.killCount {
                // An element for each acknowledged write; ends with the writers.
                let (writes, told) = AsyncStream.makeStream(of: Void.self)
                async let writing: Void = Self.write(
                    trial,
                    to: StorageClient(adapter),
                    telling: promises,
                    told
                )
                // After some writes, and in the middle of arbitrary others.
                var left = Int.random(in: 1...60)
                for await _ in writes {
                    left -= 1
                    if left == 0 { break }
                }
                server.kill()
                await writing
                server = try ServedProcess(file, port: server.port)
            }
            promises.end()
            try await group.waitForAll()
        }

        let storage = StorageClient(adapter)
        let paths = promises.paths
        #expect(paths.count > Self.killCount, "only \(paths.count) writes were acknowledged")
        for start in stride(from: 0, to: paths.count, by: 200) {
            let part = Array(paths[start..<min(start + 200, paths.count)])
            let documents = try await storage.findDocuments(part)
            let lost = zip(part, documents).filter { $0.1 == nil }.map(\.0)
            #expect(lost.isEmpty)
        }
        let counter = try await storage.getDocument("counters/1")
        let increments = promises.increments
        #expect(counter["count"]?.integerValue == Int64(increments.count))
        // The past is complete too: at the time of each increment, the count is its result.
        for (number, receipt) in increments.enumerated() where number % 7 == 0 {
            let then = try storage.asOf(receipt.commitTime)
            let count = try await then.getDocument("counters/1")["count"]?.integerValue
            #expect(count == Int64(number + 1))
        }
        server.kill()
        let store = try SQLiteStorageAdapter(at: .file(file))
        let report = try await store.checkIntegrity()
        #expect(report.problems == [])
        try store.close()
        await transport.shutdown()
        let told = "\(paths.count) writes and \(increments.count) increments acknowledged"
        print("\(Self.killCount) kills of the server, \(told)")
    }

    /// Runs four clients, each writing one document after another until the server is gone.
    private static func write(
        _ trial: Int,
        to storage: StorageClient,
        telling promises: Promises,
        _ told: AsyncStream<Void>.Continuation
    ) async {
        defer { told.finish() }
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for number in 0..<10_000 {
                        let path: DocumentPath = "load/\(trial)-\(writer)-\(number)"
                        do throws(StorageError) {
                            try await storage.setDocument(path, ["number": .integer(Int64(number))])
                            promises.add(path)
                            told.yield()
                        } catch { return }
                    }
                }
            }
        }
    }
}
