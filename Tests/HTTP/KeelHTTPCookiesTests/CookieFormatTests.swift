import Foundation
import HTTPTypes
import KeelHTTP
import KeelTestKit
import Testing

@testable import KeelHTTPCookies

@Suite("Parsing of Set-Cookie fields")
struct CookieFormatTests {
    /// One field and its meaning; nil for a field to ignore.
    struct Row: Sendable, CustomTestStringConvertible {
        let field: String
        let expected: SetCookie?
        var testDescription: String { String(reflecting: field) }

        init(_ field: String, _ pair: String?, _ change: (inout SetCookie) -> Void = { _ in }) {
            self.field = field
            guard let pair, var expected = SetCookie("x=y") else {
                expected = nil
                return
            }
            let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) ?? pair.startIndex
            expected.name = String(pair[..<equals])
            expected.value = String(pair[pair.utf8.index(after: equals)...])
            change(&expected)
            self.expected = expected
        }
    }

    @Test(
        "Names, values and attributes are parsed",
        arguments: [
            Row("foo=bar", "foo=bar"), Row("  foo = bar  ", "foo=bar"), Row("foo", "=foo"),
            Row("=foo", "=foo"), Row("foo=", "foo="), Row("=", nil), Row("", nil), Row(";", nil),
            Row("; foo=bar", nil), Row("foo=bar=baz", "foo=bar=baz"),
            Row("foo=\"a b\"", "foo=\"a b\""), Row("foo=a,b", "foo=a,b"),
            Row("foo=\"a;b\"", "foo=\"a"), Row("föö=bär", "föö=bär"),
            Row("foo=\u{301}b;\u{301}; Secure", "foo=\u{301}b") { $0.isSecure = true },
            Row("foo=b\tar", "foo=b\tar"), Row("foo=b\u{0}ar", nil), Row("foo=b\nar", nil),
            Row("foo=bar\u{7F}", nil), Row("foo=bar; Secure", "foo=bar") { $0.isSecure = true },
            Row("foo=bar;SECURE=no", "foo=bar") { $0.isSecure = true },
            Row("foo=bar; httponly", "foo=bar") { $0.isHTTPOnly = true },
            Row("foo=bar;; ;HttpOnly;", "foo=bar") { $0.isHTTPOnly = true },
            Row("foo=bar; Path=/a/b", "foo=bar") { $0.path = "/a/b" },
            Row("foo=bar; Path=a", "foo=bar"), Row("foo=bar; Path", "foo=bar"),
            Row("foo=bar; path=/a; Path=b", "foo=bar"),
            Row("foo=bar; path=/a; Path=/b", "foo=bar") { $0.path = "/b" },
            Row("foo=bar; Domain=.Example.COM", "foo=bar") { $0.domain = "example.com" },
            Row("foo=bar; Domain=", "foo=bar"), Row("foo=bar; Domain=.", "foo=bar"),
            Row("foo=bar; SameSite=Lax", "foo=bar") { $0.sameSite = .lax },
            Row("foo=bar; samesite=STRICT", "foo=bar") { $0.sameSite = .strict },
            Row("foo=bar; SameSite=none; secure", "foo=bar") {
                $0.sameSite = Cookie.SameSite.none
                $0.isSecure = true
            },
            Row("foo=bar; SameSite=odd", "foo=bar"),
            Row("foo=bar; Max-Age=10", "foo=bar") { $0.maxAge = 10 },
            Row("foo=bar; Max-Age=-1", "foo=bar") { $0.maxAge = -1 },
            Row("foo=bar; Max-Age=1x", "foo=bar"), Row("foo=bar; Max-Age=", "foo=bar"),
            Row("foo=bar; Max-Age=+1", "foo=bar"), Row("foo=bar; Max-Age=-", "foo=bar"),
            Row("foo=bar; Max-Age=99999999999999999999", "foo=bar") { $0.maxAge = .max },
            Row("foo=bar; Expires=Thu, 01 Jan 1970 00:00:10 GMT", "foo=bar") {
                $0.expires = Date(timeIntervalSince1970: 10)
            },
            Row("foo=bar; Expires=tomorrow", "foo=bar"), Row("foo=bar; other=1; x", "foo=bar"),
            Row(
                "foo=\(String(repeating: "x", count: 4093))",
                "foo=\(String(repeating: "x", count: 4093))"
            ),
            Row("foo=\(String(repeating: "x", count: 4094))", nil),
            Row("foo=bar; Path=/\(String(repeating: "x", count: 1024))", "foo=bar"),
        ]
    )
    func reads(_ row: Row) { #expect(SetCookie(row.field) == row.expected) }

    @Test(
        "Dates are parsed in all their forms",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("6 nov 1994 8:49:37", 784_111_777),
            ("1994 06 November 08:49:37", 784_111_777),
            ("06 November 1994 08:49:37 +0200", 784_111_777),
            ("Nov-06-1994-08:49:37", 784_111_777), ("08:49:37 06 Nov 1994", 784_111_777),
            ("Sun, 06 Nov 94 08:49:37", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648),
            ("29 Feb 2024 00:00:00", 1_709_164_800),
            ("29 Feb 2023 00:00:00", nil), ("31 Apr 2024 00:00:00", nil),
            ("01 Jan 69 00:00:00", 3_124_224_000), ("01 Jan 70 00:00:00", 0),
            ("01 Jan 1601 00:00:00", -11_644_473_600), ("01 Jan 1600 00:00:00", nil),
            ("32 Jan 2024 00:00:00", nil), ("0 Jan 2024 00:00:00", nil),
            ("01 Jan 2024 24:00:00", nil), ("01 Jan 2024 23:60:00", nil),
            ("01 Jan 2024 23:59:60", nil), ("01 Jan 2024 1:2:3", 1_704_070_923),
            ("01 Jan 2024 001:00:00", nil), ("01 Jan 2024", nil), ("00:00:00", nil), ("", nil),
            ("01 Jan 2024 00:00:00.5", 1_704_067_200), ("01 Jan 2024 00:00:00x", 1_704_067_200),
            ("01 Jan 20245 00:00:00", nil), ("01 Foo 2024 00:00:00", nil),
            ("Mon, 01-Jan-2024 00:00:00 GMT; x", 1_704_067_200),
            ("(01)Jan/2024~00:00:00", 1_704_067_200),
        ] as [(String, Int?)]
    )
    func readsDates(text: String, seconds: Int?) {
        let expected = seconds.map { Date(timeIntervalSince1970: TimeInterval($0)) }
        #expect(CookieDate.read(text) == expected)
    }

    @Test(
        "A domain matches its subdomains; an IP address matches only itself",
        arguments: [
            ("example.com", "example.com", true), ("www.example.com", "example.com", true),
            ("a.b.example.com", "example.com", true), ("example.com", "www.example.com", false),
            ("badexample.com", "example.com", false), ("example.com.evil", "example.com", false),
            ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "0.0.1", false),
            ("[::1]", "[::1]", true), ("x.0x1", "0x1", false),
        ]
    )
    func matchesDomains(host: String, domain: String, isMatch: Bool) {
        #expect(CookieRules.domain(domain, matches: host) == isMatch)
    }

    @Test(
        "A path matches everything below it",
        arguments: [
            ("/", "/", true), ("/a", "/", true), ("/a", "/a", true), ("/a/", "/a", true),
            ("/a/b", "/a", true), ("/a/b", "/a/", true), ("/ab", "/a", false), ("/a", "/a/", false),
            ("/", "/a", false), ("/A", "/a", false), ("/a%2Fb", "/a", false),
        ]
    )
    func matchesPaths(target: String, path: String, isMatch: Bool) {
        #expect(CookieRules.path(path, matches: target) == isMatch)
    }

    @Test(
        "The default path of a cookie is the folder of its request",
        arguments: [
            ("/", "/"), ("/a", "/"), ("/a/", "/a"), ("/a/b", "/a"), ("/a/b/c", "/a/b"), ("", "/"),
            ("a/b", "/"),
        ]
    )
    func findsDefaultPath(target: String, path: String) {
        #expect(CookieRules.defaultPath(of: target) == path)
    }

    /// Separate fields, joined as URLSession does.
    struct Joined: Sendable, CustomTestStringConvertible {
        let text: String
        let fields: [String]
        var testDescription: String { String(reflecting: text) }

        init(_ text: String, _ fields: [String]) {
            self.text = text
            self.fields = fields
        }
    }

    @Test(
        "Fields joined by a platform are split",
        arguments: [
            Joined("a=1", ["a=1"]), Joined("a=1, b=2", ["a=1", "b=2"]),
            Joined("a=1,b=2", ["a=1", "b=2"]), Joined("", []), Joined(",", [","]),
            Joined(
                "sid=1; Secure; HttpOnly, b=2; Domain=example.com; Max-Age=9",
                ["sid=1; Secure; HttpOnly", "b=2; Domain=example.com; Max-Age=9"]
            ),
            Joined(
                "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/, b=2; expires=Thu, 22-Oct-26",
                [
                    "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/",
                    "b=2; expires=Thu, 22-Oct-26",
                ]
            ),
            Joined(
                "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT, __Host-b =2",
                ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "__Host-b =2"]
            ),
            // Text that cannot begin a cookie belongs to the value.
            Joined("a=1, 2, {b}=3; Path=/", ["a=1, 2, {b}=3; Path=/"]),
            Joined("a=ä, ö=1, c=3", ["a=ä, ö=1", "c=3"]),
        ]
    )
    func splits(_ row: Joined) { #expect(SetCookieFields.fields(inJoined: row.text) == row.fields) }

    @Test("Joined cookies keep their own attributes")
    func keepsJoined() {
        let joined = "sid=1; Secure; Path=/, b=2; Domain=example.com; Path=/; Max-Age=9"
        let head = HTTPRequest("https://www.example.com/")
        let jar = CookieJar()
        jar.store(SetCookieFields.fields(inJoined: joined), from: head)
        let cookies = jar.cookies.sorted { $0.name < $1.name }
        #expect(cookies.map(\.name) == ["b", "sid"])
        #expect(cookies.map(\.isSecure) == [false, true])
        #expect(cookies.map(\.isHostOnly) == [false, true])
        #expect(cookies.map { $0.expiresAt != nil } == [true, false])
    }
}
