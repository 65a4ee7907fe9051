import Foundation
import KeelCore
import KeelDocuments
import KeelTestKit
import KeelTestSupport
import Testing

/// Encodes a value, checks that the bytes are deterministic, and decodes them.
func roundTrip<T: Codable>(_ value: T) throws -> T {
    let body = try DocumentEncoder().encode(value)
    #expect(CBORItem.isDeterministic(body.bytes))
    return try DocumentDecoder().decode(T.self, from: body)
}

struct Boxed<Value: Codable & Equatable>: Codable, Equatable { var value: Value }

@Suite("Round trips through documents")
struct RoundTripTests {
    private func survives<Value: Codable & Equatable>(_ values: Value...) throws {
        for value in values {
            #expect(try roundTrip(Boxed(value: value)).value == value)
            #expect(try roundTrip(["values": [value, value]]) == ["values": [value, value]])
        }
    }

    @Test("The extremes of every integer type are preserved")
    func integers() throws {
        try survives(Int.min, -1, 0, 23, 24, Int.max)
        try survives(Int8.min, Int8.max)
        try survives(Int16.min, Int16.max)
        try survives(Int32.min, Int32.max)
        try survives(Int64.min, Int64.max)
        try survives(UInt8.min, UInt8.max)
        try survives(UInt16.max)
        try survives(UInt32.max)
        try survives(UInt64(Int64.max))
        try survives(UInt(Int64.max))
    }

    @Test("Floating-point numbers are preserved bit by bit")
    func doubles() throws {
        try survives(
            0.1,
            -0.0,
            .infinity,
            -.infinity,
            .greatestFiniteMagnitude,
            .leastNonzeroMagnitude,
            1.5
        )
        try survives(Float(0.1), .leastNonzeroMagnitude, .greatestFiniteMagnitude, 65504)
        #expect(try roundTrip(Boxed(value: -0.0)).value.sign == .minus)
        #expect(try roundTrip(["x": Double.nan])["x"]?.isNaN == true)
    }

    @Test("Text, bytes and types based on them are preserved")
    func text() throws {
        try survives("", "a", "é", "e\u{301}", "👩‍👩‍👧", String(repeating: "long ", count: 5000), "\0")
        try survives(Data(), Data([0, 255]), Data(repeating: 7, count: 70_000))
        try survives([UInt8](), [1, 2, 3])
        try survives(UUID(uuidString: "0E984725-C51C-4BF4-9960-E1C80E27ABA0"))
        try survives(URL(string: "https://example.org/a?b=c#d"))
        try survives(
            Decimal(string: "-1234567890.123456789"),
            Decimal(0),
            Decimal.greatestFiniteMagnitude
        )
        try survives(true, false)
        let decomposed = try roundTrip(Boxed(value: "e\u{301}")).value
        #expect(Array(decomposed.utf8) == Array("e\u{301}".utf8))
    }

    @Test("Dates are preserved to the microsecond, timestamps exactly")
    func dates() throws {
        try survives(
            Timestamp.earliest,
            Timestamp(microseconds: .max),
            Timestamp(microseconds: -1),
            Timestamp(microseconds: 0)
        )
        for seconds in [0.000001, 1_700_000_000.123456, -1_700_000_000.654321, 253_402_300_799.999]
        {
            let date = Date(timeIntervalSince1970: seconds)
            let back = try roundTrip(Boxed(value: date)).value
            #expect(abs(back.timeIntervalSince(date)) < 0.000001)
            #expect(Timestamp(back) == Timestamp(date))
        }
    }

    @Test("Values of the data model are preserved")
    func model() throws {
        try survives(GeoPoint(latitude: -90, longitude: 180))
        try survives(DocumentPath("restaurants/30075445"))
        let vector = VectorValue([0.25, -.infinity, -0.0])
        #expect(try roundTrip(Boxed(value: vector)).value == vector)
        let fields: DocumentFields = [
            "n": .null, "i": 3, "d": 3.0, "t": .timestamp(Timestamp(microseconds: 7)),
            "b": .bytes([1]), "r": .reference("a/b"), "l": [1, "x", ["k": [2.5]]],
            "g": .geopoint(GeoPoint(latitude: 1, longitude: 2)), "v": .vector([1, 2.5]),
        ]
        try survives(fields)
        #expect(try roundTrip(["value": DocumentValue.map(fields)])["value"] == .map(fields))
        #expect(try DocumentEncoder().encode(fields) == DocumentBody(fields))
        #expect(
            try DocumentDecoder().decode(DocumentFields.self, from: DocumentBody(fields)) == fields
        )
    }

    @Test("Optionals, collections and nested types are preserved")
    func composition() throws {
        try survives(Int?.none, 3)
        try survives(["a": 1, "": 2].filter { !$0.key.isEmpty })
        try survives([1: "one", -2: "two"])
        #expect(try roundTrip(Boxed(value: Set(["x", "y"]))).value == ["x", "y"])
        try survives(Boxed(value: Boxed(value: [Boxed(value: "deep")])))
        #expect(try roundTrip(Boxed(value: [String?.none, "x", nil])).value == [nil, "x", nil])
    }

    @Test("Random values are preserved and encoded like their data model")
    func random() throws {
        var generator = SeededRandom(seed: 20_260_301)
        for _ in 0..<300 {
            let fields = DocumentFields.random(depth: 3, using: &generator)
            let body = try DocumentEncoder().encode(fields)
            #expect(body == DocumentBody(fields))
            let any = try DocumentDecoder().decode([String: AnyStored].self, from: body)
            #expect(try DocumentEncoder().encode(any) == body)
            let json = try JSONEncoder().encode(fields)
            #expect(try JSONDecoder().decode(DocumentFields.self, from: json) == fields)
        }
    }

    @Test("Random bytes and damaged documents never trap")
    func damage() throws {
        var generator = SeededRandom(seed: 7)
        for _ in 0..<300 {
            var bytes = DocumentBody(DocumentFields.random(depth: 3, using: &generator)).bytes
            for _ in 0..<3 where !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(
                    in: 0...255,
                    using: &generator
                )
            }
            if Bool.random(using: &generator) { bytes.removeLast(bytes.count / 2) }
            _ = try? DocumentDecoder().decode(
                [String: AnyStored].self,
                from: DocumentBody(bytes: bytes)
            )
        }
    }
}

/// A value that determines its type from the decoder's containers.
struct AnyStored: Codable {
    var value: any Codable

    init(from decoder: any Decoder) throws {
        let single = try decoder.singleValueContainer()
        if single.decodeNil() {
            value = String?.none
        } else if let fields = try? single.decode([String: AnyStored].self) {
            value = fields
        } else if let elements = try? single.decode([AnyStored].self) {
            value = elements
        } else {
            // Integers decode as doubles and vice versa, so the exact kind is checked.
            switch try single.decode(DocumentValue.self) {
            case .boolean: value = try single.decode(Bool.self)
            case .integer: value = try single.decode(Int64.self)
            case .double: value = try single.decode(Double.self)
            case .string: value = try single.decode(String.self)
            case .bytes: value = try single.decode(Data.self)
            case .timestamp: value = try single.decode(Timestamp.self)
            case .geopoint: value = try single.decode(GeoPoint.self)
            case .vector: value = try single.decode(VectorValue.self)
            case .reference: value = try single.decode(DocumentPath.self)
            default: value = try single.decode(DocumentValue.self)
            }
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}
