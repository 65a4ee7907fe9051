#if PostgreSQL
import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelStoragePostgreSQL

@Suite("Resealing in PostgreSQL")
struct ResealTests {
    /// A sealing that costs no time: between two statements of a step, a transaction may wait for 5 seconds.
    private struct Prefix: ByteSealing {
        let key: UInt8

        func seal(_ plain: [UInt8], context: [UInt8]) -> [UInt8] { [key] + plain }
        func open(_ sealed: [UInt8], context: [UInt8]) -> [UInt8] { Array(sealed.dropFirst()) }
        func fingerprint(_ plain: [UInt8], context: [UInt8]) -> [UInt8] { [key] + context }

        func reseal(_ sealed: [UInt8], context: [UInt8]) -> [UInt8]? {
            sealed.first == key ? nil : [key] + sealed.dropFirst()
        }
    }

    /// The reports of the steps of a pass.
    private final class Steps: Sendable {
        private let reports = Mutex<[PostgreSQLStorageAdapter.ResealReport]>([])

        var all: [PostgreSQLStorageAdapter.ResealReport] { reports.withLock { $0 } }

        func add(_ report: PostgreSQLStorageAdapter.ResealReport) {
            reports.withLock { $0.append(report) }
        }
    }

    @Test("Resealing makes a former key unnecessary")
    func reseals() async throws {
        try await PostgreSQLServer.withStore {
            $0.sealing = FakeByteSealing(key: 1)
            $0.history = .seconds(86_400)
        } _: { adapter in
            let writes = (0..<600).map { number in
                DocumentWrite("notes/\(number)", .set(DocumentBody(["n": 1])))
            }
            let batch = WriteBatch(id: "batch", writes)
            let receipt = try await adapter.commit([batch])[0].get()
            let again = DocumentWrite("notes/7", .set(DocumentBody(["n": 2])))
            _ = try await adapter.commit([WriteBatch([again])])[0].get()
            var configuration = adapter.configuration
            configuration.sealing = FakeByteSealing(key: 2, former: [1])
            let second = try await adapter.another(configuration)
            let report = try await second.reseal()
            // The documents, the receipt, and the former state of one document.
            #expect(report.resealed == 602 && report.unreadable == 0)
            #expect(try await second.reseal().resealed == 0)
            await second.close()
            configuration.sealing = FakeByteSealing(key: 2)
            let third = try await adapter.another(configuration)
            let repeated = try await third.commit([batch])[0].get()
            #expect(repeated.commitTime == receipt.commitTime)
            var past = ReadRequest(.documents(["notes/7"]))
            past.asOf = receipt.commitTime
            let former = try await third.read(past).documents
            #expect(former[0]?["n"] == 1)
            #expect(try await third.checkIntegrity().isSound)
            await third.close()
        }
    }

    @Test("A step visits a few megabytes of documents, and the next one goes on after them")
    func limitsSteps() async throws {
        try await PostgreSQLServer.withStore {
            $0.sealing = Prefix(key: 1)
        } _: { adapter in
            let body = DocumentBody(["text": .string(String(repeating: "x", count: 1_000_000))])
            for number in 0..<7 {
                let write = DocumentWrite("notes/\(number)", .set(body))
                _ = try await adapter.commit([WriteBatch([write])])[0].get()
            }
            var configuration = adapter.configuration
            configuration.sealing = Prefix(key: 2)
            let second = try await adapter.another(configuration)
            let steps = Steps()
            let report = try await second.reseal { steps.add($0) }
            #expect(report.resealed == 7 && report.unreadable == 0)
            // The fifth document is the one that exceeds the 4 MiB of a step.
            #expect(steps.all.prefix(2).map(\.resealed) == [5, 7])
            await second.close()
        }
    }
}
#endif
