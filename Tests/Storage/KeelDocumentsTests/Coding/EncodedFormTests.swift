import Foundation
import KeelCore
import KeelDocuments
import KeelTestSupport
import Testing

@Suite("Encoded form")
struct EncodedFormTests {
    private func hex<T: Encodable>(_ value: T) throws -> String {
        try Hexadecimal.text(of: DocumentEncoder().encode(value).bytes)
    }

    @Test("Known values are encoded as known bytes")
    func bytes() throws {
        struct Point: Encodable {
            var longer = 1
            var b = "x"
            var a: Double = 1.5
            var none: Int?
        }
        #expect(try hex(Point()) == "a3" + "6161f93e00" + "6162" + "6178" + "666c6f6e67657201")
        #expect(try hex([String: Int]()) == "a0")
        #expect(
            try hex(["t": Date(timeIntervalSince1970: 1.5)]) == "a16174d903e9a20101251a0007a120"
        )
        #expect(try hex(["d": Data([1, 2])]) == "a16164420102")
        #expect(try hex(["l": [UInt8(1), 2]]) == "a1616c420102")
        #expect(try hex(["l": [Int8(1), -1]]) == "a1616c820120")
        #expect(try hex(["r": DocumentPath("a/b")]) == "a16172d82763612f62")
        let bytes = try hex(["v": [1, -2.5] as VectorValue])
        #expect(bytes == "a16176d85250" + "3ff0000000000000" + "c004000000000000")
    }

    @Test("Any number of fields is ordered by their encoding")
    func order() throws {
        for count in [1, 2, 23, 24, 25, 47, 48, 49, 300, 70_000 / 40] {
            let pairs = (0..<count).map { ("k\(($0 * 7919) % 10_007)", $0) }
            let dictionary = Dictionary(pairs) { $1 }
            let body = try DocumentEncoder().encode(dictionary)
            #expect(CBORItem.isDeterministic(body.bytes))
            #expect(
                body == DocumentBody(DocumentFields(dictionary.map { ($0, .integer(Int64($1))) }))
            )
            #expect(try DocumentDecoder().decode([String: Int].self, from: body) == dictionary)
        }
    }

    @Test("Equal dictionaries have equal bytes")
    func dictionaries() throws {
        let one = Dictionary(uniqueKeysWithValues: (0..<100).map { ("key\($0)", $0) })
        let other = Dictionary(uniqueKeysWithValues: (0..<100).reversed().map { ("key\($0)", $0) })
        #expect(try DocumentEncoder().encode(one) == DocumentEncoder().encode(other))
    }

    @Test("The last value of a key encoded twice applies")
    func repeatedKeys() throws {
        struct Twice: Encodable {
            enum CodingKeys: CodingKey { case a, b }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(1, forKey: .a)
                try container.encode(2, forKey: .b)
                try container.encode("three", forKey: .a)
            }
        }
        #expect(try DocumentEncoder().encode(Twice()) == DocumentBody(["a": "three", "b": 2]))
    }

    @Test("A field whose encoding error was caught leaves no bytes")
    func rollback() throws {
        struct Failing: Encodable {
            enum CodingKeys: CodingKey { case x, y }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode([1, 2, 3], forKey: .x)
                try container.encode(UInt64.max, forKey: .y)
            }
        }
        struct Lenient: Encodable {
            enum CodingKeys: CodingKey { case a, failing, list, z }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(1, forKey: .a)
                try? container.encode(Failing(), forKey: .failing)
                try container.encode(Elements(), forKey: .list)
                try container.encode(2, forKey: .z)
            }
        }
        struct Elements: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                try container.encode("first")
                try? container.encode(Failing())
                try container.encode("second")
                #expect(container.count == 2)
            }
        }
        let body = try DocumentEncoder().encode(Lenient())
        #expect(body == DocumentBody(["a": 1, "list": ["first", "second"], "z": 2]))
    }

    @Test("A query constant is encoded as a single value")
    func values() throws {
        let encoder = DocumentEncoder()
        #expect(try encoder.encodeValue(3) == 3)
        #expect(try encoder.encodeValue("x") == "x")
        #expect(try encoder.encodeValue(Int?.none) == .null)
        #expect(try encoder.encodeValue([1.5, 2]) == [1.5, 2.0])
        #expect(try encoder.encodeValue(Boxed(value: true)) == ["value": true])
        let value = try encoder.encodeValue(Date(timeIntervalSince1970: 0))
        #expect(value == .timestamp(Timestamp(microseconds: 0)))
        #expect(try DocumentDecoder().decodeValue([Int].self, from: [1, 2.0]) == [1, 2])
        #expect(try DocumentDecoder().decodeValue(Int?.self, from: .null) == nil)
    }

    @Test("Equal geopoints have equal bytes")
    func geopoints() throws {
        let zero = GeoPoint(latitude: 0, longitude: 0)
        let other = GeoPoint(latitude: -0.0, longitude: -0.0)
        #expect(DocumentValue.geopoint(zero) == .geopoint(other))
        #expect(try hex(["g": zero]) == hex(["g": other]))
        #expect(DocumentBody(["g": .geopoint(zero)]) == DocumentBody(["g": .geopoint(other)]))
    }

    @Test("A body that nests too deep is refused, whatever number of elements its arrays claim")
    func hostileBodies() throws {
        let claim: [UInt8] = [0x9a, 0x00, 0x08, 0x00, 0x00]
        for array in [[0x81], claim] {
            var bytes: [UInt8] = [0xa1, 0x61, 0x61]
            for _ in 0..<1_000_000 { bytes += array }
            let body = DocumentBody(bytes: bytes)
            expectError(StorageError.self, .corrupted) { try body.fields() }
            #expect(body.value(at: "a") == nil)
        }
        let nested = (0..<20).reduce(DocumentValue.null) { value, _ in .array([value]) }
        let fields: DocumentFields = ["a": nested]
        #expect(try DocumentBody(fields).fields() == fields)
    }
}
