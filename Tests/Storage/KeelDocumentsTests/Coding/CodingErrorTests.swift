import Foundation
import KeelDocuments
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Coding errors")
struct CodingErrorTests {
    private struct Restaurant: Codable {
        struct Address: Codable {
            var city: String
            var number: Int8
        }
        struct Grade: Codable {
            enum Letter: String, Codable { case a, b }
            var letter: Letter
        }
        var address: Address
        var grades: [Grade]
        var opened: Date
    }

    private func decoding<T: Decodable>(_ type: T.Type, _ fields: DocumentFields) -> StorageError? {
        do throws(StorageError) {
            _ = try DocumentDecoder().decode(type, from: DocumentBody(fields))
            return nil
        } catch { return error }
    }

    private func encoding(_ value: some Encodable) -> StorageError? {
        do throws(StorageError) {
            _ = try DocumentEncoder().encode(value)
            return nil
        } catch { return error }
    }

    private static let good: DocumentFields = [
        "address": ["city": "secret-city", "number": 3], "grades": [["letter": "a"]],
        "opened": .timestamp(Timestamp(microseconds: 0)),
    ]

    @Test(
        "A decoding error names the field and the kinds, not the value",
        arguments: [
            (
                "address.city", 99,
                "the field “address.city” of Restaurant: expected a string, found an integer"
            ),
            (
                "address.city", .null,
                "the field “address.city” of Restaurant: expected a string, found null"
            ),
            (
                "address.number", 999,
                "the field “address.number” of Restaurant: the integer does not fit Int8"
            ),
            (
                "address.number", 1.5,
                "the field “address.number” of Restaurant: expected an integer, found a double that is not a valid Int8"
            ),
            (
                "address", "secret",
                "the field “address” of Restaurant: expected a map, found a string"
            ),
            (
                "grades", ["a": 1],
                "the field “grades” of Restaurant: expected an array, found a map"
            ),
            (
                "opened", "2020",
                "the field “opened” of Restaurant: expected a timestamp, found a string"
            ),
            (
                "opened", 5,
                "the field “opened” of Restaurant: expected a timestamp, found an integer"
            ),
            (
                "grades", [["letter": "a"], ["letter": true]],
                "the field “grades[1].letter” of Restaurant: expected a string, found a boolean"
            ),
            (
                "grades", [["letter": "a"], ["letter": "secret"]],
                "the field “grades[1].letter” of Restaurant: its Decodable conformance rejected the value"
            ),
        ] as [(FieldPath, DocumentValue, String)]
    )
    func decodingMessages(field: FieldPath, value: DocumentValue, message: String) throws {
        var fields = Self.good
        fields[field] = value
        let error = try #require(decoding(Restaurant.self, fields))
        #expect(error.code == .decodingFailed)
        #expect(error.message == message)
        #expect(error.cause is DecodingError)
        #expect(!"\(error)".contains("secret"))
        #expect(!"\(error)".contains("99"))
    }

    @Test("The error for a missing field contains its path")
    func missing() throws {
        var fields = Self.good
        fields[FieldPath("address.city")] = nil
        let error = try #require(decoding(Restaurant.self, fields))
        #expect(error.message == "the field “address.city” of Restaurant: it is missing")
        guard case .keyNotFound(let key, _)? = error.cause as? DecodingError
        else { return fail("the cause is \(String(describing: error.cause))") }
        #expect(key.stringValue == "city")
    }

    @Test("A decoding error names its document")
    func resource() throws {
        let time = Timestamp(microseconds: 0)
        let document = Document.stub("restaurants/1", at: time)
        let error = #expect(throws: StorageError.self) {
            try DocumentDecoder().decode(Restaurant.self, from: document)
        }
        #expect(error?.resource == "restaurants/1")
    }

    @Test("Bytes that are not a document are corrupted")
    func corrupted() {
        for bytes: [UInt8] in [[], [0xa1], [0xa1, 0x61, 0x61, 0x1c], [0xff], [0xbf, 0xff]] {
            expectError(StorageError.self, .corrupted) {
                try DocumentDecoder().decode([String: Int].self, from: DocumentBody(bytes: bytes))
            }
        }
    }

    @Test("Unsupported values are rejected with the field's path")
    func encodingMessages() throws {
        struct Counter: Encodable { var inner = ["list": [UInt64.max]] }
        let integer = try #require(encoding(Counter()))
        #expect(integer.code == .encodingFailed)
        #expect(
            integer.message
                == "the field “inner.list[0]” of Counter: documents hold integers up to Int64.max; this one is larger"
        )
        #expect(!"\(integer)".contains("18446744073709551615"))
        for value in [["a": [[1]]], ["a": [[]]]] {
            let error = try #require(encoding(value))
            #expect(error.message.hasPrefix("the field “a[0]” of"))
            #expect(error.message.contains("wrap the inner one"))
        }
        #expect(encoding(["a": [[Boxed(value: 1)]]])?.code == .encodingFailed)
        #expect(encoding(["a": DocumentValue.array([.array([])])])?.code == .encodingFailed)
        #expect(encoding(["a": [DocumentValue.array([])]])?.code == .encodingFailed)
        #expect(encoding(["a": [Data([1])]]) == nil)
        #expect(encoding(["a": [[UInt8(1)]]]) == nil)
        #expect(encoding(["a": [["b": [1]]]]) == nil)
        let reserved = try #require(encoding(["ok": ["__name__": 1]]))
        #expect(reserved.message.hasPrefix("the field “ok.__name__” of"))
        #expect(encoding(["": 1])?.code == .encodingFailed)
        #expect(encoding([String(repeating: "x", count: 1501): 1])?.code == .encodingFailed)
        #expect(encoding(["g": GeoPoint(latitude: 91, longitude: 0)])?.code == .encodingFailed)
        let long = VectorValue(Array(repeating: 0, count: VectorValue.mostElements + 1))
        #expect(encoding(["v": long])?.code == .encodingFailed)
        #expect(encoding(["v": VectorValue(Array(long.elements.dropLast()))]) == nil)
        #expect(encoding(["v": [] as VectorValue])?.code == .encodingFailed)
        #expect(encoding(["v": [.nan] as VectorValue])?.code == .encodingFailed)
        #expect(encoding(["v": [[1] as VectorValue]])?.code == .encodingFailed)
        #expect(encoding(["r": DocumentPath("odd")])?.code == .encodingFailed)
        #expect(encoding(["f": DocumentFields([("__x__", 1)])])?.code == .encodingFailed)
    }

    @Test("Values that are not maps are rejected as documents")
    func noMap() throws {
        #expect(try #require(encoding([1, 2])).message.contains("a document is a map of fields"))
        #expect(encoding(3)?.code == .encodingFailed)
        #expect(encoding(Boxed<Int>?.none)?.code == .encodingFailed)
    }

    @Test("Depth and size are limited")
    func limits() {
        indirect enum Nest: Encodable {
            case leaf
            case map(Nest)
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: DynamicKey.self)
                guard case .map(let inner) = self else { return }
                try container.encode(inner, forKey: DynamicKey(stringValue: "m"))
            }
            static func of(_ depth: Int) -> Nest { depth == 0 ? .leaf : .map(of(depth - 1)) }
        }
        #expect(encoding(Nest.of(20)) == nil)
        #expect(encoding(Nest.of(21))?.code == .tooLarge)
        let fits = DocumentBody.longest - 7
        #expect(encoding(["a": String(repeating: "x", count: fits - 1)]) == nil)
        #expect(encoding(["a": String(repeating: "x", count: fits + 10)])?.code == .tooLarge)
    }

    @Test("An error thrown by a conformance becomes the cause")
    func foreign() {
        struct Oops: Error {}
        struct Throwing: Codable {
            init() {}
            init(from decoder: any Decoder) throws { throw Oops() }
            func encode(to encoder: any Encoder) throws { throw Oops() }
        }
        #expect(encoding(["a": Throwing()])?.cause is Oops)
        #expect(decoding([String: Throwing].self, ["a": 1])?.cause is Oops)
    }
}
