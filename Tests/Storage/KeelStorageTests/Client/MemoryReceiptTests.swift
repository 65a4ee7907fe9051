import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import Testing

@Suite("Receipts of the in-memory adapter")
struct MemoryReceiptTests {
    @Test("A batch is recognized for seven days, and its receipt is forgotten later")
    func forgets() async throws {
        let clock = TestClock()
        let store = InMemoryStorageAdapter(clock: clock)
        func commit(_ numbers: Range<Int>) async throws -> CommitReceipt? {
            let batches = numbers.map { number in
                let body = DocumentBody(["n": .integer(Int64(number))])
                return WriteBatch(id: "\(number)", [DocumentWrite("a/b", .set(body))])
            }
            return try await store.commit(batches).map { try $0.get() }.first
        }
        let first = try await commit(0..<2_000)
        await clock.advance(by: .seconds(7 * 86_400))
        _ = try await commit(2_000..<6_000)
        #expect(try await commit(0..<1) == first)
        await clock.advance(by: .seconds(1))
        _ = try await commit(6_000..<14_000)
        let again = try await commit(0..<1)
        #expect(again?.commitTime != first?.commitTime)
        #expect(try await commit(0..<1) == again)
    }
}
