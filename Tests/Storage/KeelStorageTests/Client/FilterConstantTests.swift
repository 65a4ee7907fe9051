import Foundation
import KeelStorage
import KeelTestSupport
import Testing

@Suite("Swift values in filters")
struct FilterConstantTests {
    private enum Kind: String, Codable { case plain, bold }
    private enum Level: Int, Codable {
        case low = 1
        case high = 2
    }

    private struct Everything: Codable {
        var text = "x"
        var count = 3
        var small: UInt8 = 7
        var ratio = 2.5
        var isDone = true
        var time = Date(timeIntervalSinceReferenceDate: 12_345.678_901_6)
        var data = Data([1, 2, 255])
        var id = UUID()
        var link = URL(string: "https://example.org/a")
        var kind = Kind.bold
        var level = Level.high
        var maybe: String? = "here"
        var tags = ["a", "b"]
    }

    private let storage = StorageClient(InMemoryStorageAdapter())

    @Test("A document is found by the values it was created from")
    func findsWhatWasStored() async throws {
        let one = Everything()
        let storage = storage
        try await storage.setDocument("things/1", one)
        let equal: [DocumentFilter] = [
            .equal("text", one.text), .equal("count", one.count), .equal("small", one.small),
            .equal("ratio", one.ratio), .equal("isDone", one.isDone), .equal("time", one.time),
            .equal("data", one.data), .equal("id", one.id), .equal("link", one.link),
            .equal("kind", one.kind), .equal("level", one.level), .equal("maybe", one.maybe),
            .equal("tags", one.tags),
        ]
        let others: [DocumentFilter] = [
            .lessOrEqual("time", one.time), .greaterOrEqual("time", one.time),
            .greater("count", one.count - 1), .less("ratio", one.ratio + 1),
            .notEqual("kind", Kind.plain), .in("kind", [Kind.plain, .bold]),
            .notIn("level", [Level.low]), .arrayContains("tags", one.tags[0]),
            .arrayContainsAny("tags", ["z"] + one.tags),
            .or([.equal("text", one.text + "y"), .equal("count", one.count)]),
        ]
        for filter in equal + others {
            let found = try await storage.queryDocuments(DocumentQuery("things").where(filter))
            #expect(found.count == 1, "\(filter)")
        }
        let bounds = [
            DocumentQuery("things").order(by: "time").start(at: one.time),
            DocumentQuery("things").order(by: "time").order(by: "count")
                .end(at: one.time, one.count),
        ]
        for query in bounds { #expect(try await storage.count(query) == 1) }
        let none = [
            DocumentQuery("things").order(by: "time").start(after: one.time),
            DocumentQuery("things").order(by: "kind").end(before: one.kind),
        ]
        for query in none { #expect(try await storage.count(query) == 0) }
    }

    @Test("Each constant equals the encoder's output")
    func agreesWithEncoder() throws {
        let one = Everything()
        let body = try DocumentEncoder().encode(one)
        #expect(
            DocumentFilter.equal("time", one.time)
                == .equal("time", body.value(at: "time") ?? .null)
        )
        #expect(DocumentFilter.equal("id", one.id) == .equal("id", .string(one.id.uuidString)))
        #expect(DocumentFilter.equal("kind", one.kind) == .equal("kind", "bold"))
        #expect(DocumentFilter.equal("level", one.level) == .equal("level", 2))
        #expect(DocumentFilter.equal("data", one.data) == .equal("data", .bytes([1, 2, 255])))
        let nothing: String? = nil
        #expect(DocumentFilter.equal("maybe", nothing) == .equal("maybe", .null))
        let value: DocumentValue = 5
        #expect(DocumentFilter.equal("n", value) == .field("n", .equal, 5))
        #expect(DocumentFilter.in("n", [1, 2]) == .field("n", .in, [1, 2]))
    }

    @Test("A call with a value that cannot be stored is rejected")
    func refuses() async throws {
        let nested = [[1]]
        let queries = [
            DocumentQuery("things").where(.equal("count", UInt64.max)),
            DocumentQuery("things").where(.in("count", [1, UInt64.max])),
            DocumentQuery("things").where(.or([.equal("a", 1), .equal("count", nested)])),
            DocumentQuery("things").order(by: "count").start(at: UInt64.max),
        ]
        let storage = storage
        for query in queries {
            let error = await expectError(StorageError.self, .encodingFailed) {
                try await storage.queryDocuments(query)
            }
            #expect(error?.message.contains("\(UInt64.max)") == false)
        }
    }
}
