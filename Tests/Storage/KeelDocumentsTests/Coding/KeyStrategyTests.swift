import Foundation
import KeelDocuments
import Testing

@Suite("Key strategies")
struct KeyStrategyTests {
    @Test("Snake case applies to fields, not to dictionary keys")
    func snakeCase() throws {
        struct Item: Codable, Equatable {
            var imageURL = "u"
            var myHTTPServer = 1
            var plain = 2
            var _private = 3
            var byName = ["someKey": Inner()]
            struct Inner: Codable, Equatable { var zipCode = "10013" }
        }
        let body = try DocumentEncoder(.init(keys: .snakeCase)).encode(Item())
        let expected: DocumentFields = [
            "image_url": "u", "my_http_server": 1, "plain": 2, "_private": 3,
            "by_name": ["someKey": ["zip_code": "10013"]],
        ]
        #expect(body == DocumentBody(expected))
        #expect(
            try DocumentDecoder(.init(keys: .snakeCase)).decode(Item.self, from: body) == Item()
        )
    }

    @Test("Keys that are canonically equivalent are different fields")
    func distinguishesByBytes() throws {
        struct Item: Codable, Equatable {
            var composed = 1
            var decomposed = 2

            enum CodingKeys: String, CodingKey {
                case composed = "caf\u{e9}"
                case decomposed = "cafe\u{301}"
            }
        }
        let body = try DocumentEncoder(.init(keys: .snakeCase)).encode(Item())
        let expected: DocumentFields = ["caf\u{e9}": 1, "cafe\u{301}": 2]
        #expect(body == DocumentBody(expected))
        #expect(
            try DocumentDecoder(.init(keys: .snakeCase)).decode(Item.self, from: body) == Item()
        )
    }
}
