import KeelConformance
import KeelStorage
import Testing

@Suite("Differential fuzz")
struct DifferentialFuzzTests {
    @Test("Two in-memory adapters agree, and the same seed produces the same run")
    func agreesWithItself() async throws {
        let fuzz = DifferentialFuzz(operations: 2_000)
        let first = try await fuzz.run(InMemoryStorageAdapter(), against: InMemoryStorageAdapter())
        let second = try await fuzz.run(InMemoryStorageAdapter(), against: InMemoryStorageAdapter())
        #expect(first == second)
        #expect(first.operations >= 2_000)
        #expect(first.refusedBatches > 0 && first.refusedBatches < first.batches / 2)
        #expect(first.answeredReads > first.reads / 4)
        #expect(first.indexedReads > 0)
    }
}
