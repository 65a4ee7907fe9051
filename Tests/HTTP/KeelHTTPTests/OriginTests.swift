import Foundation
import HTTPTypes
import KeelHTTP
import KeelTestKit
import Testing

@Suite("Origins of requests")
struct OriginTests {
    private func origin(_ scheme: String?, _ authority: String?) -> HTTPOrigin? {
        HTTPOrigin(HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "/"))
    }

    @Test(
        "Spelling and the default port make no difference",
        arguments: [
            ("https", "example.com", "https://example.com"),
            ("HTTPS", "Example.COM:443", "https://example.com"),
            ("http", "example.com:80", "http://example.com"),
            ("http", "example.com:", "http://example.com"),
            ("http", "example.com:8080", "http://example.com:8080"),
            ("https", "[2001:DB8::1]", "https://[2001:db8::1]"),
            ("https", "[2001:db8::1]:8443", "https://[2001:db8::1]:8443"),
        ]
    )
    func spelling(scheme: String, authority: String, text: String) {
        #expect(origin(scheme, authority)?.description == text)
    }

    @Test("A request without a scheme uses http")
    func withoutScheme() { #expect(origin(nil, "a")?.description == "http://a") }

    @Test(
        "An address without a host, with a user or with an impossible port has no origin",
        arguments: [
            ("https", nil), ("https", ""), ("https", ":443"), ("https", "user@example.com"),
            ("https", "example.com:65536"), ("https", "example.com:https"), ("ftp", "example.com"),
        ] as [(String, String?)]
    )
    func refused(scheme: String, authority: String?) { #expect(origin(scheme, authority) == nil) }

    @Test(
        "The path, the query and the fragment of a URL make no difference",
        arguments: ["", "/v1/notes", "/?page=2", "?page=2", "#end"]
    )
    func ofURL(rest: String) throws {
        let url = try #require(URL(string: "https://example.com:8443" + rest))
        #expect(HTTPOrigin(url)?.description == "https://example.com:8443")
    }
}

@Suite("The table of origins")
struct OriginTableTests {
    private func origin(_ number: Int) throws -> HTTPOrigin {
        let url = try #require(URL(string: "https://h\(number).example"))
        return try #require(HTTPOrigin(url))
    }

    @Test("A full table evicts only the least recently used origins")
    func forgetsTheOldest() throws {
        let table = OriginTable(0, limit: 64)
        for number in 0..<64 { table.with(try origin(number)) { $0 = number + 1 } }
        // Recently used origins are not evicted.
        for number in 0..<8 { table.with(try origin(number)) { _ in } }
        table.with(try origin(64)) { $0 = 65 }
        // Four origins are evicted: the first of those that were not used again.
        for number in [64] + Array(0..<8) + Array(12..<64) {
            #expect(table.with(try origin(number)) { $0 } == number + 1)
        }
        for number in 8..<12 { #expect(table.with(try origin(number)) { $0 } == 0) }
    }

    @Test("An origin in use is not evicted, however many others come", arguments: [1, 2, 16, 1000])
    func keepsWhatIsUsed(limit: Int) throws {
        let table = OriginTable(0, limit: limit)
        let home = try origin(-1)
        for number in 0..<3000 {
            table.with(try origin(number)) { $0 += 1 }
            if limit > 1 { table.with(home) { $0 += 1 } }
        }
        #expect(table.with(home) { $0 } == (limit > 1 ? 3000 : 0))
    }
}
