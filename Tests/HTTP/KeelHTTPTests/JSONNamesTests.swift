import Foundation
import KeelHTTP
import KeelTestSupport
import Testing

@Suite("Names in JSON")
struct JSONNamesTests {
    private let coding = JSONCoding.snakeCase

    private func decode<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
        try coding.decode(type, from: Array(json.utf8))
    }

    private func encode(_ value: some Encodable) throws -> String {
        String(decoding: try coding.encode(value), as: UTF8.self)
    }

    @Test("Plain properties, acronyms and explicit keys are all read from snake case")
    func readsAllSpellings() throws {
        struct Item: Codable, Equatable {
            var imageURL: String
            var imageUrl: String
            var priceLevel: Int
            var line2Text: String
            enum CodingKeys: String, CodingKey {
                case imageURL, imageUrl, line2Text
                case priceLevel = "price_level"
            }
        }
        let item = try decode(Item.self, #"{"image_url":"u","price_level":2,"line2_text":"t"}"#)
        #expect(item == Item(imageURL: "u", imageUrl: "u", priceLevel: 2, line2Text: "t"))
    }

    @Test(
        "Names are written in snake case; names without capital letters are unchanged",
        arguments: [
            ("createdAt", "created_at"), ("imageURL", "image_url"), ("imageUrl", "image_url"),
            ("imageURLPath", "image_url_path"), ("url", "url"), ("price_level", "price_level"),
            ("line2Text", "line2_text"), ("_private", "_private"), ("_aB", "_a_b"), ("ID", "id"),
            ("userID", "user_id"), ("iPhone", "i_phone"), ("@type", "@type"), ("", ""),
            ("größeÄnderung", "größe_änderung"), ("already_Mixed", "already_mixed"),
        ]
    )
    func writes(name: String, expected: String) throws {
        struct Keyed: Encodable {
            var name: String
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: TextKey.self)
                try container.encode(1, forKey: TextKey(stringValue: name))
            }
        }
        let object = try JSONDecoder().decode(
            [String: Int].self,
            from: Data(coding.encode(Keyed(name: name)))
        )
        #expect(object == [expected: 1])
    }

    @Test("A key as declared takes precedence over its snake-case form")
    func prefersWrittenKeys() throws {
        struct Item: Decodable { var createdAt: Int }
        #expect(try decode(Item.self, #"{"created_at":1,"createdAt":2}"#).createdAt == 2)
        #expect(try decode(Item.self, #"{"createdAt":null,"created_at":1}"#, isNull: true))
    }

    private func decode<Value: Decodable>(
        _ type: Value.Type,
        _ json: String,
        isNull: Bool
    ) throws -> Bool {
        do {
            _ = try decode(type, json)
            return false
        } catch DecodingError.valueNotFound { return isNull }
    }

    @Test("Dictionary keys are data and stay unchanged at any depth")
    func keepsDictionaries() throws {
        struct Count: Codable, Equatable { var seenAt: Int }
        struct Flat: Codable, Equatable {
            var values: [String: Count]
            init(_ values: [String: Count]) { self.values = values }
            init(from decoder: any Decoder) throws { values = try .init(from: decoder) }
            func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }
        }
        struct Item: Codable, Equatable {
            var byName: [String: Count]
            var nested: [[String: [String: Int]]]
            var byNumber: [Int: String]
            var flat: Flat
            var maybe: [String: Int]?
        }
        let item = Item(
            byName: ["camelCase": Count(seenAt: 1), "snake_case": Count(seenAt: 2)],
            nested: [["outerKey": ["inner_Key": 3]]],
            byNumber: [7: "x"],
            flat: Flat(["someName": Count(seenAt: 4)]),
            maybe: ["aB": 5]
        )
        let text = try encode(item)
        for name in [
            #""by_name""#, #""camelCase""#, #""snake_case""#, #""seen_at""#, #""outerKey""#,
            #""inner_Key""#, #""someName""#, #""aB""#, #""7""#,
        ] { #expect(text.contains(name), "\(text)") }
        #expect(!text.contains("camel_case") && !text.contains("seenAt"))
        #expect(try decode(Item.self, text) == item)
        #expect(try encode(["topLevel": 1]) == #"{"topLevel":1}"#)
        #expect(try decode([String: Int].self, #"{"top_level":1,"topLevel":2}"#).count == 2)
    }

    @Test("Dates, data, URLs and decimals keep their usual JSON form")
    func keepsLeaves() throws {
        struct Item: Codable, Equatable {
            var createdAt: Date
            var rawBytes: Data
            var homePage: URL
            var unitPrice: Decimal
            var allDates: [Date]
            var maybeDate: Date?
            var dayOf: [String: Date]
        }
        let date = Date(timeIntervalSince1970: 1_738_310_400)
        let item = Item(
            createdAt: date,
            rawBytes: Data([1, 2]),
            homePage: try #require(URL(string: "https://example.com/a")),
            unitPrice: try #require(Decimal(string: "12.35")),
            allDates: [date],
            maybeDate: date,
            dayOf: ["firstDay": date]
        )
        let text = try encode(item)
        #expect(text.contains(#""created_at":"2025-01-31T08:00:00Z""#))
        #expect(text.contains(#""raw_bytes":"AQI=""#))
        #expect(text.contains(#""home_page":"https://example.com/a""#))
        #expect(text.contains(#""unit_price":12.35"#))
        #expect(try decode(Item.self, text) == item)
        #expect(try decode(Date.self, #""2025-01-31T08:00:00Z""#) == date)
        #expect(try encode(date) == #""2025-01-31T08:00:00Z""#)
        #expect(try decode([URL?].self, #"["https://e.com",null]"#).count == 2)
    }

    @Test("Every kind of container is encoded and decoded")
    func passesContainersThrough() throws {
        let shape = Shape()
        let text = try encode(shape)
        #expect(text.contains(#""inner_object":{"deep_key":1}"#), "\(text)")
        #expect(text.contains(#""inner_list":[{"deep_key":2},[true,null,"x"],{"super_value":3}]"#))
        #expect(text.contains(#""super":{"super_value":4}"#))
        #expect(text.contains(#""own_super":{"super_value":5}"#))
        #expect(try decode(Shape.self, text) == shape)
    }

    @Test("Numbers of every width survive a round trip")
    func keepsNumbers() throws {
        struct Numbers: Codable, Equatable {
            var anInt = Int.min, anInt8 = Int8.min, anInt16 = Int16.min, anInt32 = Int32.min
            var anInt64 = Int64.max, aUInt = UInt.max, aUInt8 = UInt8.max, aUInt16 = UInt16.max
            var aUInt32 = UInt32.max, aUInt64 = UInt64.max, aFloat = Float(1.5), aDouble = 0.1
            var aBool = true, lists = [[Int8(1)], [2]], small: [UInt16] = [1], wide: [UInt64] = [2]
        }
        #expect(try decode(Numbers.self, encode(Numbers())) == Numbers())
    }

    @Test("A container lists its keys as the type declares them")
    func listsKeys() throws {
        struct Listed: Decodable {
            var names: [String]
            enum CodingKeys: CodingKey { case imageURL, createdAt, plain, userIDList }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                names = container.allKeys.map(\.stringValue).sorted()
            }
        }
        let listed = try decode(
            Listed.self,
            #"{"image_url":1,"created_at":1,"plain":1,"user_id_list":1,"unknown_key":1}"#
        )
        #expect(listed.names == ["createdAt", "imageURL", "plain", "userIDList"])
    }

    @Test("A class decodes its superclass from the same object and from a nested one")
    func decodesClasses() throws {
        let text = try encode(Derived())
        let copy = try decode(Derived.self, text)
        #expect(copy.baseValue == 1)
        #expect(copy.derivedValue == 2)
    }

    @Test("A missing key is reported by its name in the body")
    func namesMissingKeys() throws {
        struct Inner: Decodable { var imageURL: URL }
        struct Item: Decodable { var innerItems: [Inner] }
        let error = #expect(throws: DecodingError.self) {
            _ = try decode(Item.self, #"{"inner_items":[{"image_url":"https://e.com"},{}]}"#)
        }
        guard case .keyNotFound(let key, let context) = error
        else { return fail("\(String(describing: error))") }
        #expect(key.stringValue == "image_url")
        #expect(context.codingPath.map(\.stringValue).first == "inner_items")
        #expect(context.codingPath.last?.intValue == 1)
    }
}

private struct TextKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// A value that uses every kind of container.
private struct Shape: Codable, Equatable {
    private enum Keys: CodingKey { case innerObject, innerList, ownSuper }
    private enum Deep: CodingKey { case deepKey, superValue }

    init() {}

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        var object = container.nestedContainer(keyedBy: Deep.self, forKey: .innerObject)
        try object.encode(1, forKey: .deepKey)
        var list = container.nestedUnkeyedContainer(forKey: .innerList)
        var element = list.nestedContainer(keyedBy: Deep.self)
        try element.encode(2, forKey: .deepKey)
        var inner = list.nestedUnkeyedContainer()
        try inner.encode(true)
        try inner.encodeNil()
        try inner.encode("x")
        try write(3, to: list.superEncoder())
        try write(4, to: container.superEncoder())
        try write(5, to: container.superEncoder(forKey: .ownSuper))
    }

    private func write(_ number: Int, to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Deep.self)
        try container.encode(number, forKey: .superValue)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        let object = try container.nestedContainer(keyedBy: Deep.self, forKey: .innerObject)
        #expect(try object.decode(Int.self, forKey: .deepKey) == 1)
        #expect(object.contains(.deepKey) && !object.contains(.superValue))
        #expect(try object.decodeIfPresent(Int.self, forKey: .superValue) == nil)
        var list = try container.nestedUnkeyedContainer(forKey: .innerList)
        #expect(list.count == 3 && list.currentIndex == 0)
        #expect(
            try list.nestedContainer(keyedBy: Deep.self).decode(Int.self, forKey: .deepKey) == 2
        )
        var inner = try list.nestedUnkeyedContainer()
        #expect(try inner.decode(Bool.self))
        #expect(try inner.decodeNil())
        #expect(try inner.decode(String.self) == "x")
        #expect(inner.isAtEnd)
        #expect(try read(list.superDecoder()) == 3)
        #expect(try read(container.superDecoder()) == 4)
        #expect(try read(container.superDecoder(forKey: .ownSuper)) == 5)
    }

    private func read(_ decoder: any Decoder) throws -> Int {
        try decoder.container(keyedBy: Deep.self).decode(Int.self, forKey: .superValue)
    }
}

private class Base: Codable {
    var baseValue = 1
    init() {}
}

private final class Derived: Base {
    var derivedValue = 2
    private enum CodingKeys: CodingKey { case derivedValue }

    override init() { super.init() }

    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        derivedValue = try container.decode(Int.self, forKey: .derivedValue)
        try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(derivedValue, forKey: .derivedValue)
        try super.encode(to: container.superEncoder())
    }
}
