import KeelStorage
import Testing

@Suite("Aggregations over a page")
struct AggregationCursorTests {
    @Test("A page that starts after an id is summed in the order of its ids")
    func startsAfterID() async throws {
        let storage = StorageClient(InMemoryStorageAdapter())
        for (id, number) in [("a", 1), ("b", 2), ("c", 4)] {
            try await storage.setDocument("n/\(id)", ["n": 1, "v": .integer(Int64(number))])
        }
        let pages = [
            DocumentQuery("n").start(after: "a"),
            DocumentQuery("n").order(by: "n").start(after: 1, "a"),
        ]
        for page in pages {
            let values = try await storage.aggregate(page.limit(to: 1), [.sum("v"), .count()])
            #expect(values == [2, 1])
            let last = try await storage.aggregate(page.offset(1), [.sum("v"), .count()])
            #expect(last == [4, 1])
        }
    }
}
