import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Testing

@testable import KeelConformance

@Suite("Round trips of values, writes and queries")
struct ValueRoundTripTests {
    private static let database = "projects/p/databases/(default)"
    private static let encoding = FirestoreEncoding(database: database, isExtended: true)
    private static let decoding = FirestoreDecoding(database: database, isExtended: true)

    private func source() -> FuzzSource {
        let seed = SeededRandom.chosenSeed()
        print("ValueRoundTripTests: seed \(seed)")
        return FuzzSource(seed: seed, name: "fuzz")
    }

    /// Returns a message as received.
    private func sent(_ json: FirestoreJSON) throws -> FirestoreJSON {
        try FirestoreJSON(parsing: json.bytes)
    }

    @Test("a value is decoded unchanged")
    func values() throws {
        var source = source()
        for _ in 0..<3000 {
            let value = source.value(depth: 3)
            let read = try Self.decoding.value(try sent(Self.encoding.value(value)))
            #expect(read == value)
        }
    }

    @Test("a sample value is decoded unchanged", arguments: FuzzSource.plain)
    func plainValue(value: DocumentValue) throws {
        let read = try Self.decoding.value(try sent(Self.encoding.value(value)))
        #expect(read == value)
    }

    @Test("a vector is a map of the type __vector__, and no other map is a vector")
    func vectors() throws {
        let json = Self.encoding.value(.vector([0.5]))
        let type: FirestoreJSON = ["stringValue": "__vector__"]
        let value: FirestoreJSON = ["arrayValue": ["values": [["doubleValue": .number(0.5)]]]]
        #expect(json == ["mapValue": ["fields": ["value": value, "__type__": type]]])
        let others: [FirestoreJSON] = [
            ["__type__": type], ["value": value, "type": type],
            ["value": value, "__type__": ["stringValue": "__bytes__"]],
            ["value": value, "__type__": type, "more": ["nullValue": .null]],
            ["value": ["arrayValue": ["values": [["nullValue": .null]]]], "__type__": type],
            ["value": ["doubleValue": .number(0.5)], "__type__": type],
        ]
        for fields in others {
            let read = try Self.decoding.value(["mapValue": ["fields": fields]])
            #expect(read.mapValue?.count == fields.members?.count)
        }
    }

    @Test("doubles are decoded unchanged")
    func doubles() throws {
        var random = SeededRandom(seed: SeededRandom.printedSeed())
        for _ in 0..<3000 {
            let number = Double(bitPattern: random.next())
            let json = try sent(Self.encoding.value(.double(number)))
            #expect(try Self.decoding.value(json) == .double(number))
        }
    }

    @Test("field names are decoded byte by byte")
    func fields() throws {
        var source = source()
        for _ in 0..<1000 {
            let fields = source.fields(depth: 3)
            let read = try Self.decoding.fields(try sent(Self.encoding.fields(fields)))
            #expect(read == fields)
        }
    }

    @Test("a write is decoded unchanged, with its changes in field order")
    func writes() throws {
        var source = source()
        for _ in 0..<2000 {
            let drawn = source.write()
            let condition: WriteCondition =
                switch drawn.condition {
                case .plain(let condition): condition
                case .revision: .revision(Revision(number: 17))
                case .updateTime: .updateTime(Timestamp(microseconds: 5))
                }
            let write = DocumentWrite(drawn.path, drawn.operation, if: condition)
            let read = try Self.decoding.write(try sent(try Self.encoding.write(write)))
            #expect(Self.sorted(read) == Self.sorted(write))
        }
    }

    /// Returns the write with its changes sorted; transforms keep their order.
    private static func sorted(_ write: DocumentWrite) -> DocumentWrite {
        guard case .update(let changes) = write.operation else { return write }
        func isComputed(_ change: FieldChange) -> Bool {
            if case .transform = change.action { true } else { false }
        }
        let fixed = changes.filter { !isComputed($0) }.sorted { $0.field < $1.field }
        let ordered = fixed + changes.filter(isComputed)
        return DocumentWrite(write.path, .update(ordered), if: write.condition)
    }

    @Test("a batch is decoded with its id and reads")
    func batches() throws {
        var source = source()
        for number in 0..<300 {
            var reads = TransactionReads()
            reads.documents = [
                .init(path: source.path(), revision: Revision(number: Int64(number))),
                .init(path: source.path(), revision: nil),
            ]
            if let query = source.query() {
                let found = TransactionReads.DocumentRead(
                    path: source.path(),
                    revision: Revision(number: 3)
                )
                reads.queries = [.init(query: query, found: [found])]
            }
            let write = DocumentWrite(source.path(), .delete, if: .none)
            let batch = WriteBatch(id: "batch \(number)", [write], reads: reads)
            let read = try Self.decoding.batch(try sent(try Self.encoding.commit(batch)))
            #expect(read == batch)
        }
    }

    @Test("a query is decoded unchanged")
    func queries() throws {
        var source = source()
        var count = 0
        for _ in 0..<4000 {
            guard let query = source.query() ?? source.search() else { continue }
            count += 1
            let json = try sent(try Self.encoding.query(query, turnsRound: false))
            let parent = try Self.decoding.parent(of: Self.encoding.parent(of: query.scope))
            let read = try Self.decoding.query(json, under: parent)
            #expect(read == query)
        }
        #expect(count > 500)
    }

    @Test("a search is decoded unchanged")
    func searches() throws {
        var source = source()
        for _ in 0..<200 {
            guard let query = source.search() else { continue }
            let json = try sent(try Self.encoding.query(query))
            let read = try Self.decoding.query(json, under: nil)
            #expect(read.search == query.search)
        }
    }

    @Test("aggregations are decoded unchanged")
    func aggregations() throws {
        var source = source()
        for _ in 0..<500 {
            guard let query = source.query(), query.limit == nil else { continue }
            let wanted = source.aggregations()
            let json = try sent(try Self.encoding.aggregation(query, wanted))
            let parent = try Self.decoding.parent(of: Self.encoding.parent(of: query.scope))
            let read = try Self.decoding.aggregation(json, under: parent)
            #expect(read.query == query)
            #expect(read.wanted.map(\.1) == wanted)
        }
    }
}
