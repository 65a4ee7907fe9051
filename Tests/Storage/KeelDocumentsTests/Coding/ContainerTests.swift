import Foundation
import KeelCore
import KeelDocuments
import Testing

private class Animal: Codable {
    var name: String

    init(name: String) { self.name = name }
}

/// A class that stores the fields of its superclass in a separate map.
private final class Dog: Animal {
    enum CodingKeys: CodingKey { case tricks, zeal }
    var tricks: [String]

    init(name: String, tricks: [String]) {
        self.tricks = tricks
        super.init(name: name)
    }

    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        tricks = try container.decode([String].self, forKey: .tricks)
        try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        let parent = container.superEncoder()
        try container.encode(tricks, forKey: .tricks)
        try super.encode(to: parent)
        try container.encode(1, forKey: .zeal)
    }
}

/// A class that stores the fields of its superclass among its own.
private final class Cat: Animal {
    enum CodingKeys: CodingKey { case lives }
    var lives = 9

    override init(name: String) { super.init(name: name) }

    required init(from decoder: any Decoder) throws {
        lives = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .lives)
        try super.init(from: decoder)
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(lives, forKey: .lives)
        try super.encode(to: encoder)
    }
}

@Suite("Containers")
struct ContainerTests {
    @Test("A superclass has its own container or shares one")
    func inheritance() throws {
        let dog = try DocumentEncoder().encode(Dog(name: "Rex", tricks: ["sit"]))
        #expect(dog == DocumentBody(["super": ["name": "Rex"], "tricks": ["sit"], "zeal": 1]))
        #expect(try DocumentDecoder().decode(Dog.self, from: dog).name == "Rex")
        let cat = try DocumentEncoder().encode(Cat(name: "Tom"))
        #expect(cat == DocumentBody(["lives": 9, "name": "Tom"]))
        #expect(try DocumentDecoder().decode(Cat.self, from: cat).name == "Tom")
    }

    @Test("Nested containers can be filled in any order")
    func nested() throws {
        struct Interleaved: Codable, Equatable {
            enum Key: CodingKey { case one, two, three }
            init() {}
            init(from decoder: any Decoder) throws {
                let outer = try decoder.container(keyedBy: Key.self)
                let one = try outer.nestedContainer(keyedBy: Key.self, forKey: .one)
                #expect(try one.decode(Int.self, forKey: .two) == 12)
                #expect(one.codingPath.map(\.stringValue) == ["one"])
                var two = try outer.nestedUnkeyedContainer(forKey: .two)
                #expect(two.count == 4)
                #expect(try two.decode(String.self) == "a")
                let map = try two.nestedContainer(keyedBy: Key.self)
                #expect(map.codingPath.map(\.stringValue) == ["two", "Index 1"])
                #expect(try map.decode(Bool.self, forKey: .three))
                #expect(try two.decodeNil())
                #expect(try !two.decodeNil())
                #expect(try two.decode(Double.self) == 7)
                #expect(two.isAtEnd && two.currentIndex == 4)
                #expect(throws: DecodingError.self) { try two.decode(Int.self) }
            }
            func encode(to encoder: any Encoder) throws {
                var outer = encoder.container(keyedBy: Key.self)
                var one = outer.nestedContainer(keyedBy: Key.self, forKey: .one)
                var two = outer.nestedUnkeyedContainer(forKey: .two)
                try two.encode("a")
                try one.encode(13, forKey: .three)
                var map = two.nestedContainer(keyedBy: Key.self)
                try two.encodeNil()
                try outer.encode("last", forKey: .three)
                try map.encode(true, forKey: .three)
                try two.encode(7)
                try one.encode(12, forKey: .two)
            }
        }
        let body = try DocumentEncoder().encode(Interleaved())
        let expected: DocumentFields = [
            "one": ["three": 13, "two": 12], "two": ["a", ["three": true], .null, 7],
            "three": "last",
        ]
        #expect(body == DocumentBody(expected))
        _ = try DocumentDecoder().decode(Interleaved.self, from: body)
    }

    @Test("An array can contain values of different kinds")
    func heterogeneous() throws {
        struct Row: Codable, Equatable {
            var number = 1
            var text = "x"
            var flag = Boxed(value: true)
            init() {}
            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                number = try container.decode(Int.self)
                text = try container.decode(String.self)
                flag = try container.decode(Boxed<Bool>.self)
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                try container.encode(number)
                try container.encode(text)
                try container.encode(flag)
            }
        }
        let body = try DocumentEncoder().encode(["row": Row()])
        #expect(body == DocumentBody(["row": [1, "x", ["value": true]]]))
        #expect(try DocumentDecoder().decode([String: Row].self, from: body) == ["row": Row()])
    }

    @Test("Enumerations are encoded as synthesized by the compiler")
    func enumerations() throws {
        enum Kind: String, Codable { case diner, cafe }
        enum Shape: Codable, Equatable {
            case point
            case circle(radius: Double)
            case labelled(String, at: GeoPoint)
        }
        #expect(try DocumentEncoder().encode(["k": Kind.cafe]) == DocumentBody(["k": "cafe"]))
        let circle = try DocumentEncoder().encode(Shape.circle(radius: 2.5))
        #expect(circle == DocumentBody(["circle": ["radius": 2.5]]))
        for shape in [
            Shape.point, .circle(radius: 1),
            .labelled("x", at: GeoPoint(latitude: 1, longitude: 2)),
        ] {
            #expect(try roundTrip(Boxed(value: shape)).value == shape)
        }
    }

    @Test("nil properties are omitted; null and missing fields decode as nil")
    func optionals() throws {
        struct Explicit: Encodable {
            enum CodingKeys: CodingKey { case value }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encodeNil(forKey: .value)
            }
        }
        let body = try DocumentEncoder().encode(Boxed(value: String?.none))
        #expect(body == DocumentBody(["value": .null]))
        struct Plain: Codable {
            var value: String?
            var count: Int?
        }
        #expect(try DocumentEncoder().encode(Plain()) == DocumentBody([:]))
        #expect(try DocumentEncoder().encode(Explicit()) == DocumentBody(["value": .null]))
        for fields: DocumentFields in [[:], ["value": .null, "count": .null]] {
            let plain = try DocumentDecoder().decode(Plain.self, from: DocumentBody(fields))
            #expect(plain.value == nil && plain.count == nil)
        }
    }

    @Test("Numbers decode across kinds if nothing is lost")
    func numbers() throws {
        let decoder = DocumentDecoder()
        #expect(try decoder.decode([String: Double].self, from: DocumentBody(["a": 3]))["a"] == 3)
        #expect(try decoder.decode([String: Int].self, from: DocumentBody(["a": 3.0]))["a"] == 3)
        #expect(
            try decoder.decode([String: Float].self, from: DocumentBody(["a": 0.1]))["a"] == 0.1
        )
        #expect(
            try decoder.decode([String: Decimal].self, from: DocumentBody(["a": 12]))["a"] == 12
        )
    }

    @Test("userInfo is passed to both encoding and decoding")
    func userInfo() throws {
        struct Telling: Codable {
            static let key = CodingUserInfoKey(rawValue: "test")
            init() {}
            init(from decoder: any Decoder) throws {
                #expect(Self.key.flatMap { decoder.userInfo[$0] as? Int } == 2)
            }
            func encode(to encoder: any Encoder) throws {
                #expect(Self.key.flatMap { encoder.userInfo[$0] as? Int } == 1)
                var container = encoder.container(keyedBy: DynamicKey.self)
                try container.encode(1, forKey: DynamicKey(stringValue: "x"))
            }
        }
        let key = try #require(Telling.key)
        let body = try DocumentEncoder(.init(userInfo: [key: 1])).encode(["inner": Telling()])
        _ = try DocumentDecoder(.init(userInfo: [key: 2])).decode(
            [String: Telling].self,
            from: body
        )
    }

    @Test("A type isolated to the main actor is coded on the main actor")
    @MainActor
    func isolated() throws {
        // Its conformance is main-actor isolated, too, so it cannot be passed to a @concurrent function. A target that
        // is MainActor by default must declare DTOs `nonisolated`.
        let restaurant = MainActorRestaurant(name: "Wo Hop")
        #expect(try roundTrip(restaurant).name == "Wo Hop")
    }
}

@MainActor
private struct MainActorRestaurant: @MainActor Codable { var name: String }

struct DynamicKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
