import Foundation
import HTTPTypes
import KeelHTTP
import KeelHTTPCookies
import KeelTestKit
import Testing

@Suite("Cookie jars")
struct CookieJarTests {
    private func head(_ text: String) -> HTTPRequest {
        let url = URL(string: text)
        let port = url?.port.map { ":\($0)" } ?? ""
        return HTTPRequest(
            method: .get,
            scheme: url?.scheme,
            authority: (url?.host() ?? "") + port,
            path: url?.path()
        )
    }

    /// The cookies that a response sets and that a later request sends.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let setAt: String
        let fields: [String]
        let sentTo: String
        let sent: String?

        init(_ name: String, _ setAt: String, _ fields: [String], _ sentTo: String, _ sent: String?)
        {
            testDescription = name
            self.setAt = setAt
            self.fields = fields
            self.sentTo = sentTo
            self.sent = sent
        }
    }

    private static let home = "https://www.example.com/a/b"
    private static let root = "https://www.example.com/"
    private static let api = "https://api.example.com/a/"
    private static let below = "https://x.www.example.com/a/"
    private static let parent = "https://example.com/a/"
    private static let bare = "https://example.com/"
    private static let stranger = "https://other.com/a/"
    private static let insecure = "http://example.com/"
    private static let intranet = "http://intranet/"
    private static let address = "http://192.0.2.1/"

    private static let rows = [
        Row("to the same host", home, ["x=1"], home, "x=1"),
        Row("below its folder", home, ["x=1"], "https://www.example.com/a/c/d", "x=1"),
        Row("not beside it", home, ["x=1"], "https://www.example.com/c", nil),
        Row("to its path", home, ["x=1; Path=/"], "https://www.example.com/c", "x=1"),
        Row("not to another host", home, ["x=1"], api, nil),
        Row("not to hosts below", home, ["x=1"], below, nil),
        Row("to the domain", home, ["x=1; Domain=example.com"], api, "x=1"),
        Row("to the domain's own host", home, ["x=1; Domain=.example.com"], parent, "x=1"),
        Row("not from a stranger", home, ["x=1; Domain=other.com"], stranger, nil),
        Row("not from below", home, ["x=1; Domain=x.www.example.com"], below, nil),
        Row("not for a whole country", home, ["x=1; Domain=com"], home, nil),
        Row("but for a host without dots", intranet, ["x=1; Domain=intranet"], intranet, "x=1"),
        Row(
            "not beyond a host without dots",
            intranet,
            ["x=1; Domain=intranet"],
            "http://a.intranet/",
            nil
        ),
        Row("to an address", address, ["x=1; Domain=192.0.2.1"], address, "x=1"),
        Row("not to part of an address", address, ["x=1; Domain=0.2.1"], address, nil),
        Row("to any port", home, ["x=1"], "https://www.example.com:8443/a/", "x=1"),
        Row("hosts in any case", "https://WWW.Example.com/", ["x=1"], root, "x=1"),
        Row("insecure ones to secure hosts", insecure, ["x=1"], bare, "x=1"),
        Row("secure ones only securely", home, ["x=1; Secure"], "http://www.example.com/a/", nil),
        Row("no secure ones from insecure hosts", insecure, ["x=1; Secure"], bare, nil),
        Row(
            "secure ones on this device",
            "http://localhost:80/",
            ["x=1; Secure"],
            "http://localhost:81/",
            "x=1"
        ),
        Row("none that are for all sites and insecure", home, ["x=1; SameSite=None"], home, nil),
        Row("none that is over", home, ["x=1; Max-Age=0"], home, nil),
        Row("none from the past", home, ["x=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], home, nil),
        Row(
            "the age before the date",
            home,
            ["x=1; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT"],
            home,
            "x=1"
        ),
        Row("the newest of a name", home, ["x=1", "x=2"], home, "x=2"),
        Row("taken back", home, ["x=1", "x=; Max-Age=-1"], home, nil),
        Row(
            "both of two paths, the longer first",
            home,
            ["x=1; Path=/", "x=2; Path=/a"],
            home,
            "x=2; x=1"
        ),
        Row("without a name", home, ["=1", "x=2; Path=/"], home, "1; x=2"),
        Row("promised host", home, ["__Host-x=1; Secure; Path=/"], home, "__Host-x=1"),
        Row(
            "promised host with a domain",
            home,
            ["__Host-x=1; Secure; Path=/; Domain=www.example.com"],
            home,
            nil
        ),
        Row("promised host with a path", home, ["__Host-x=1; Secure; Path=/a"], home, nil),
        Row("promised host without a path", root, ["__Host-x=1; Secure"], root, nil),
        Row("promised host, insecure", home, ["__host-x=1; Path=/"], home, nil),
        Row("promised security", home, ["__Secure-x=1; Secure"], home, "__Secure-x=1"),
        Row("promised security, broken", home, ["__SECURE-x=1"], home, nil),
        Row("promised host, marked", home, ["__Host-\u{301}=1; Secure; Path=/a"], home, nil),
        Row("a promise without a name", home, ["=__Host-x=1; Secure; Path=/"], home, nil),
    ]

    @Test("Cookies are sent only where they belong", arguments: rows)
    func keeps(_ row: Row) {
        let jar = CookieJar()
        jar.store(row.fields, from: head(row.setAt))
        #expect(jar.cookieField(for: head(row.sentTo)) == row.sent)
    }

    @Test("An insecure response does not overwrite a secure cookie")
    func protectsSecureCookies() {
        let jar = CookieJar()
        jar.store(
            ["x=good; Secure; Domain=example.com; Path=/"],
            from: head("https://example.com/")
        )
        jar.store(["x=bad; Path=/"], from: head("http://example.com/"))
        jar.store(["x=bad; Domain=example.com; Path=/a"], from: head("http://www.example.com/"))
        #expect(jar.cookies.map(\.value) == ["good"])
    }

    @Test("Cookies expire on time, and none lives longer than 400 days")
    func expires() {
        let dates = TestDates()
        let jar = CookieJar(now: { dates.now })
        jar.store(
            ["a=1; Max-Age=10", "b=1; Max-Age=99999999999", "c=1"],
            from: head("https://x.org/")
        )
        #expect(jar.cookieField(for: head("https://x.org/")) == "a=1; b=1; c=1")
        dates.advance(by: 10)
        #expect(jar.cookieField(for: head("https://x.org/")) == "b=1; c=1")
        dates.advance(by: 400 * 24 * 3600)
        #expect(jar.cookieField(for: head("https://x.org/")) == "c=1")
    }

    @Test("Beyond the limits, the least recently used cookies go first, insecure before secure")
    func evicts() {
        let dates = TestDates()
        let jar = CookieJar(limits: .init(perDomain: 3, total: 4), now: { dates.now })
        for name in ["a", "b", "c"] {
            jar.store(
                ["\(name)=1; Path=/\(name)\(name == "a" ? "; Secure" : "")"],
                from: head("https://x.org/")
            )
            dates.advance(by: 1)
        }
        _ = jar.cookieField(for: head("https://x.org/b"))
        dates.advance(by: 1)
        jar.store(["d=1"], from: head("https://x.org/"))
        #expect(jar.cookies.map(\.name) == ["a", "b", "d"])
        dates.advance(by: 1)
        for host in ["https://y.org/", "https://z.org/"] {
            jar.store(["e=1"], from: head(host))
            dates.advance(by: 1)
        }
        #expect(jar.cookies.map(\.name) == ["b", "d", "e", "e"])
    }

    @Test("A full jar keeps the most recently used cookies and evicts several at once")
    func evictsSeveral() {
        let dates = TestDates()
        let jar = CookieJar(limits: .init(perDomain: 50, total: 32), now: { dates.now })
        for number in 0..<33 {
            jar.store(["c=\(number)"], from: head("https://h\(number).org/"))
            dates.advance(by: 1)
        }
        #expect(jar.cookies.map(\.value) == (3..<33).map { "\($0)" })
        jar.store(["c=33"], from: head("https://h33.org/"))
        #expect(jar.cookies.count == 31)
        // Expired cookies are evicted before the least recently used ones.
        jar.store(["c=34; Max-Age=1"], from: head("https://h34.org/"))
        dates.advance(by: 1)
        jar.store(["c=35"], from: head("https://h35.org/"))
        #expect(jar.cookies.map(\.value) == (3..<34).map { "\($0)" } + ["35"])
    }

    @Test("The cookies of an earlier jar are subject to the limits")
    func limitsRestored() {
        let dates = TestDates()
        let jar = CookieJar(now: { dates.now })
        for (name, host) in [("a", "x"), ("b", "x"), ("c", "x"), ("d", "y")] {
            jar.store(["\(name)=1"], from: head("https://\(host).org/"))
            dates.advance(by: 1)
        }
        func restored(_ limits: CookieJar.Limits) -> [String] {
            CookieJar(jar.cookies, limits: limits, now: { dates.now }).cookies.map(\.name)
        }
        #expect(restored(.init(perDomain: 2, total: 3)) == ["b", "c", "d"])
        #expect(restored(.init(perDomain: 3, total: 2)) == ["c", "d"])
    }

    @Test("A cookie set to expire is removed, and setting it again resets its age")
    func removesAndRenews() {
        let dates = TestDates()
        let jar = CookieJar(now: { dates.now })
        let home = head("https://x.org/")
        jar.store(["a=1", "b=1; Max-Age=1"], from: home)
        jar.store(["a=1; Max-Age=0"], from: home)
        dates.advance(by: 1)
        #expect(jar.cookies == [])
        jar.store(["b=2"], from: home)
        #expect(jar.cookies.map(\.createdAt) == [dates.now])
    }

    @Test("A custom list of public suffixes is respected")
    func usesSuffixes() {
        let jar = CookieJar(isPublicSuffix: { $0 == "co.uk" })
        jar.store(["x=1; Domain=co.uk", "y=1; Domain=a.co.uk"], from: head("https://a.co.uk/"))
        #expect(jar.cookies.map(\.name) == ["y"])
    }

    @Test("A saved jar can be restored")
    func persists() throws {
        let jar = CookieJar()
        jar.store(
            ["x=SECRET; Secure; HttpOnly; SameSite=Lax; Max-Age=60"],
            from: head("https://x.org/a/")
        )
        let saved = try JSONEncoder().encode(jar.cookies)
        let other = CookieJar(try JSONDecoder().decode([Cookie].self, from: saved))
        #expect(other.cookies == jar.cookies)
        #expect(other.cookieField(for: head("https://x.org/a/b")) == "x=SECRET")
        other.remove { $0.name == "x" }
        #expect(other.cookies == [])
    }

    @Test("As a layer, the jar serves each redirect hop and keeps the caller's Cookie field")
    func worksAsLayer() async throws {
        let jar = CookieJar()
        let transport = ScriptedHTTPTransport([
            .status(
                .found,
                headers: [
                    .location: "https://b.example.com/",
                    .setCookie: "a=1; Domain=example.com; Path=/",
                ]
            ),
            .status(.ok, headers: [.setCookie: "b=2"]), .status(.ok), .status(.ok),
        ])
        let client = try makeClient(transport) { $0.attemptMiddleware = [jar] }
        _ = await client.response(to: GetProfile())
        _ = await client.response(to: GetProfile())
        var own = HTTPCall(head("https://b.example.com/"))
        own.head.headerFields[.cookie] = "mine=1"
        _ = try await client.send(own)
        #expect(
            transport.calls.map { $0.head.headerFields[.cookie] } == [nil, "a=1", "a=1", "mine=1"]
        )
        #expect(jar.cookieField(for: head("https://b.example.com/")) == "a=1; b=2")
    }

    @Test("No description, dump or mirror contains a value")
    func hidesValues() throws {
        let jar = CookieJar()
        jar.store(["x=SECRET"], from: head("https://x.org/"))
        let cookie = try #require(jar.cookies.first)
        #expect(cookie.value == "SECRET")
        for value in [jar, cookie, jar.cookies] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            #expect(!dumped.contains("SECRET"))
            #expect(!"\(value)".contains("SECRET"))
            #expect(!String(reflecting: value).contains("SECRET"))
        }
    }
}
