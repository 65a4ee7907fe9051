#if SQLite
import Foundation
import KeelCore
import KeelStorage
import KeelStorageSQLite
import KeelTestKit
import Synchronization
import Testing

@Suite("Cancelling what runs in SQLite")
struct CancellationTests {
    /// Cancels the task that opens a body for the tenth time, as a client that goes away in the middle.
    private final class CancellingSealing: ByteSealing {
        private let inner = FakeByteSealing(key: 1)
        private let opened = Mutex(0)
        let isArmed = Mutex(false)
        var openedCount: Int { opened.withLock { $0 } }

        func seal(_ plain: [UInt8], context: [UInt8]) throws -> [UInt8] {
            try inner.seal(plain, context: context)
        }

        func open(_ sealed: [UInt8], context: [UInt8]) throws -> [UInt8] {
            if isArmed.withLock({ $0 }) {
                let count = opened.withLock { count in
                    count += 1
                    return count
                }
                if count == 10 { withUnsafeCurrentTask { $0?.cancel() } }
            }
            return try inner.open(sealed, context: context)
        }

        func fingerprint(_ plain: [UInt8], context: [UInt8]) throws -> [UInt8] {
            try inner.fingerprint(plain, context: context)
        }
    }

    @Test("a query ends soon after its task was cancelled, and the connection serves the next one")
    func query() async throws {
        let folder = try TemporaryFolder()
        let sealing = CancellingSealing()
        let adapter = try folder.adapter { configuration in
            configuration.sealing = sealing
            configuration.readerCount = 1
        }
        for start in stride(from: 0, to: 5_000, by: 500) {
            let writes = (start..<start + 500).map { number in
                DocumentWrite("a/\(number)", .set(DocumentBody(["n": .integer(Int64(number))])))
            }
            try await adapter.apply(WriteBatch(writes))
        }
        sealing.isArmed.withLock { $0 = true }
        let task = Task {
            await storageError {
                _ = try await adapter.ids(DocumentQuery("a").where(.equal("n", -1)))
            }
        }
        #expect(await task.value?.code == .cancelled)
        #expect(sealing.openedCount < 5_000, "every document was looked at")
        #expect(try await adapter.ids(DocumentQuery("a").where(.equal("n", 7))) == ["7"])
        #expect(sealing.openedCount > 5_000)
    }
}
#endif
