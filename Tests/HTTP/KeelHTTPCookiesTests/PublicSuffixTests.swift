import Foundation
import HTTPTypes
import KeelHTTPCookies
import Testing

@Suite("Public suffixes")
struct PublicSuffixTests {
    private func head(_ host: String) -> HTTPRequest {
        HTTPRequest(method: .get, scheme: "https", authority: host, path: "/")
    }

    private func field(
        of jar: CookieJar,
        setBy host: String,
        _ domain: String,
        for other: String
    ) -> String? {
        jar.store(["x=1; Domain=\(domain)"], from: head(host))
        return jar.cookieField(for: head(other))
    }

    @Test(
        "A host cannot set a cookie for a public suffix",
        arguments: [
            "com", "uk", "co.uk", "me.uk", "com.au", "co.jp", "ne.jp", "com.br", "gouv.fr",
            "org.nz", "github.io", "pages.dev", "herokuapp.com", "cloudfront.net",
            "s3.amazonaws.com", ".co.uk", "CO.UK",
        ]
    )
    func refuses(suffix: String) {
        let name = suffix.drop { $0 == "." }.lowercased()
        let neighbours = field(of: CookieJar(), setBy: "a.\(name)", suffix, for: "b.\(name)")
        #expect(neighbours == nil)
        // The host itself does not get the cookie either: the whole field is ignored.
        let own = field(of: CookieJar(), setBy: "a.\(name)", suffix, for: "a.\(name)")
        #expect(own == nil)
    }

    @Test("A trailing dot in the host does not change its public suffix")
    func dots() {
        #expect(field(of: CookieJar(), setBy: "a.co.uk.", "co.uk.", for: "b.co.uk.") == nil)
    }

    @Test(
        "Domains that resemble public suffixes are accepted",
        arguments: [
            "example.com", "example.co.uk", "web.de", "id.me", "co.example.com", "com.example",
            "me.com", "user.github.io", "t.co", "bbc.uk",
        ]
    )
    func accepts(domain: String) {
        #expect(field(of: CookieJar(), setBy: "a.\(domain)", domain, for: "b.\(domain)") == "x=1")
    }

    @Test("A host that is a public suffix can set a cookie only for itself")
    func itself() {
        #expect(field(of: CookieJar(), setBy: "github.io", "github.io", for: "github.io") == "x=1")
        #expect(field(of: CookieJar(), setBy: "github.io", "github.io", for: "a.github.io") == nil)
    }

    @Test("An app's own test replaces the built-in rule, even for cookies of an earlier jar")
    func ownTest() {
        let lax = CookieJar(isPublicSuffix: { _ in false })
        #expect(field(of: lax, setBy: "a.co.uk", "co.uk", for: "b.co.uk") == "x=1")
        let strict = CookieJar(lax.cookies)
        #expect(strict.cookies.isEmpty)
        let own = CookieJar(isPublicSuffix: { $0 == "shop.example" })
        let other = field(of: own, setBy: "a.shop.example", "shop.example", for: "b.shop.example")
        #expect(other == nil)
    }
}
