import HTTPTypes
import KeelHTTP
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
}
