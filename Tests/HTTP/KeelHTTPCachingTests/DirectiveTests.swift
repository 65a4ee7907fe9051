import HTTPTypes
import KeelCache
import KeelCore
import KeelHTTP
import KeelTestKit
import Testing

@testable import KeelHTTPCaching

@Suite("Parsing of cache directives")
struct DirectiveTests {
    private func directives(_ lines: String..., shared: Bool = false) -> ResponseDirectives {
        var fields = HTTPFields()
        for line in lines { fields.append(HTTPField(name: .cacheControl, value: line)) }
        var rules = CacheRules()
        rules.isShared = shared
        return ResponseDirectives(fields, rules)
    }

    @Test(
        "A number of seconds is parsed in every valid form and in no other",
        arguments: [
            ("max-age=60", DeltaSeconds.seconds(60)), ("MAX-AGE=60", .seconds(60)),
            ("max-age=\"60\"", .seconds(60)), ("max-age=0060", .seconds(60)),
            ("max-age=99999999999999999999", .seconds(DeltaSeconds.limit)),
            ("max-age=60, max-age=5", .seconds(60)), ("max-age=x, max-age=60", .invalid),
            ("max-age=-1", .invalid), ("max-age=60.0", .invalid), ("max-age='60'", .invalid),
            ("max-age=", .invalid), ("max-age", .invalid), ("max-age=60s", .invalid),
            ("max-age=\"60", .invalid), ("max-age =60", .absent), ("max-age= 60", .invalid),
            ("x=\"max-age=60\"", .absent), ("x=\"a, max-age=60\", max-age=5", .seconds(5)),
            ("x=\"a\\\", max-age=60\"", .absent), ("x=\", max-age=60", .absent), ("", .absent),
            (",,max-age=60,,", .seconds(60)), ("foo;max-age=60", .absent),
            ("max-age=６０", .invalid), ("no-max-age=60", .absent),
        ]
    )
    func readsSeconds(_ text: String, _ expected: DeltaSeconds) {
        #expect(directives(text).maxAge == expected)
    }

    @Test("If a restriction appears twice, the stricter form applies")
    func takesStricter() {
        #expect(directives("no-cache=\"a\"").noCache == .fields(["a"]))
        #expect(directives("no-cache=\"A, b\"", "no-cache=c").noCache == .fields(["a", "b", "c"]))
        #expect(directives("no-cache=\"a\", no-cache").noCache == .whole)
        #expect(directives("no-cache, no-cache=\"a\"").noCache == .whole)
        #expect(directives("no-cache=\"\"").noCache == .whole)
        #expect(directives("no-cache=\"a b\"").noCache == .whole)
        #expect(directives("private=\"set-cookie\"").isPrivate == .fields(["set-cookie"]))
    }

    @Test("Request directives are parsed strictly if they restrict and leniently if they permit")
    func readsRequests() {
        func read(_ text: String) -> RequestDirectives { RequestDirectives([.cacheControl: text]) }
        #expect(read("max-age=x").maxAge == 0)
        #expect(read("max-stale").maxStale == .any)
        #expect(read("max-stale=5").maxStale == .seconds(5))
        #expect(read("max-stale=x").maxStale == .none)
        #expect(!read("min-fresh=x").accepts(age: 0, remaining: 1_000_000))
        #expect(read("min-fresh=5").accepts(age: 0, remaining: 5))
        #expect(!read("min-fresh=5").accepts(age: 0, remaining: 4))
        #expect(RequestDirectives([.pragma: "no-cache"]).noCache)
        #expect(!RequestDirectives([.pragma: "no-cache", .cacheControl: "x"]).noCache)
    }

    @Test("A well-formed targeted field replaces Cache-Control and Expires")
    func readsTargeted() throws {
        let cdn = try #require(HTTPField.Name("CDN-Cache-Control"))
        var rules = CacheRules()
        rules.isShared = true
        rules.targetedFields = [cdn]
        func lifetime(_ targeted: String) -> Int64 {
            let fields: HTTPFields = [cdn: targeted, .cacheControl: "max-age=5"]
            return FreshnessLifetime(
                status: 200,
                fields: fields,
                directives: ResponseDirectives(fields, rules),
                received: CacheInstant(microseconds: 0),
                rules: rules
            ).seconds
        }
        #expect(lifetime("max-age=60") == 60)
        #expect(lifetime("max-age=60;x=1, foo") == 60)
        #expect(lifetime("max-age=\"60\"") == 0)
        #expect(lifetime("max-age=60, &&&") == 5)
        #expect(lifetime("") == 5)
        #expect(lifetime("MAX-AGE=60") == 5)
        #expect(ResponseDirectives([cdn: "no-store"], rules).noStore)
        #expect(ResponseDirectives([cdn: "private"], rules).isPrivate == .whole)
    }

    @Test("Structured fields are parsed as RFC 9651 specifies")
    func readsStructuredFields() {
        #expect(
            StructuredFieldParser.list(["\"a\", \"b\\\"c\";x=1, tok/en, 1.5, ?1, (1 2);y, :YQ==:"])
                == [
                    .string("a"), .string("b\"c"), .token("tok/en"), .other, .boolean(true),
                    .other, .other,
                ]
        )
        for junk in ["\"a", "a,", ",a", "a b", "\"é\"", "1234567890123456", "1.", "(1", "?2", "-"] {
            #expect(StructuredFieldParser.list([junk]) == nil, "\(junk)")
        }
        #expect(StructuredFieldParser.list([""]) == [])
        #expect(CacheGroups.membership([.cacheGroups: "\"a\", b, \"c\""]) == ["a", "c"])
        #expect(CacheGroups.membership([.cacheGroups: "\"a\", \"c"]) == [])
    }

    @Test("A list is split at commas outside quoted strings, and its members are trimmed")
    func splitsLists() {
        let members = FieldList.members(#"a, "b, c" ,\#té ,, d\,e , "x\", y",,"#)
        #expect(members == ["a", #""b, c""#, "é", #"d\"#, "e", #""x\", y""#])
        #expect(FieldList.members([" \t", "", "ä é ", #"a, "b, c"#]) == ["ä é", "a", #""b, c"#])
        #expect(FieldList.split("; a;b ;", at: UInt8(ascii: ";")) == ["", " a", "b ", ""])
    }

    @Test("Junk never crashes the parsers and never makes a response fresh")
    func survivesJunk() {
        var random = SeededRandom(seed: 20_260_101)
        let scraps = [
            "max-age", "s-maxage", "=", "\"", ",", ";", " ", "\\", "60", "-", "9999999999999999999",
            "no-cache", "'", "\t", "é", "stale-while-revalidate", "(", "*", "?1", "public", ".",
        ]
        for _ in 0..<10_000 {
            let count = Int.random(in: 0...12, using: &random)
            let text = (0..<count).map { _ in scraps.randomElement(using: &random) ?? "" }.joined()
            let members = FieldList.members(text)
            let directives = directives(text)
            _ = RequestDirectives([.cacheControl: text])
            _ = StructuredFieldParser.dictionary([text])
            _ = StructuredFieldParser.list([text])
            _ = VaryMatch.selectors(
                of: [.vary: text],
                from: [.accept: text],
                sent: [.acceptLanguage: text],
                coversAuthorization: false,
                mayGetCookies: false
            )
            _ = ByteRange("bytes=" + text)
            _ = CacheDate.seconds(text, now: 0)
            // Fresh only through a member that explicitly says so.
            let isFresh = (directives.maxAge.strict ?? 0) > 0
            let says = members.contains { member in
                let lower = member.lowercased()
                return ["max-age=60", "max-age=\"60\"", "max-age=9", "max-age=\"9", "max-age=6"]
                    .contains { lower.hasPrefix($0) }
            }
            #expect(!isFresh || says, "\(text)")
        }
    }

    @Test(
        "A date is parsed in the three HTTP formats and in no other",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777 as Int64?),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Friday, 15-Jan-27 08:00:00 GMT", 1_800_000_000),
            ("Sun Nov  6 08:49:37 1994", 784_111_777),
            ("sun, 06 NOV 1994 08:49:37 gmt", 784_111_777),
            ("Sun, 6 Nov 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 08:49:37 UTC", nil),
            ("Sun, 06 Nov 1994 8:49:37 GMT", nil), ("Sun, 06 Nov 94 08:49:37 GMT", nil),
            ("Sun,  06 Nov 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 08.49.37 GMT", nil),
            ("Sun 06 Nov 1994 08:49:37 GMT", nil), ("Sun, 31 Feb 1994 08:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 08:49:37", nil), ("Foo, 06 Nov 1994 08:49:37 GMT", nil),
            ("0", nil), ("-1", nil), ("", nil), ("Sun, 06 Nov 1994 08:49:37 GMT ", nil),
            ("Sun, 06 Nov 1994 08:49:37 +0000", nil), ("Sun, 06 Nov 1994 25:00:00 GMT", nil),
        ]
    )
    func readsDates(_ text: String, _ expected: Int64?) {
        #expect(CacheDate.seconds(text, now: 1_800_000_000) == expected)
    }

    @Test("Stored responses survive a round trip, and damaged bytes never crash the decoder")
    func readsEntries() throws {
        var fields: HTTPFields = [.eTag: "\"1\"", .vary: "Accept"]
        fields.append(HTTPField(name: .setCookie, value: [0x61, 0xFF, 0x3D]))
        let response = StoredResponse(
            status: .init(code: 299, reasonPhrase: "Fine"),
            fields: fields,
            selectors: [.init(name: "accept", value: nil), .init(name: "foo", value: "1")],
            requested: CacheInstant(microseconds: -5),
            received: CacheInstant(microseconds: .max),
            body: .init(high: .max, low: 0),
            length: 7,
            part: .init(first: 3, total: nil),
            isOutdated: true,
            groups: ["a"]
        )
        let bytes = StoredResponseCoding.encode([response, response])
        #expect(StoredResponseCoding.decode(bytes) == [response, response])
        #expect(StoredResponseCoding.decode(bytes + [0]) == nil)
        var random = SeededRandom(seed: 3)
        for _ in 0..<5000 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(
                    in: 0...255,
                    using: &random
                )
            }
            damaged.removeLast(Int.random(in: 0...20, using: &random))
            _ = StoredResponseCoding.decode(damaged)
        }
    }

    @Test("Written dates are parsed back unchanged")
    func writesDates() {
        #expect(HTTPDate.text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.text(951_782_400) == "Tue, 29 Feb 2000 00:00:00 GMT")
        var random = SeededRandom(seed: 7)
        for _ in 0..<2000 {
            let seconds = Int64.random(in: -10_000_000_000...100_000_000_000, using: &random)
            #expect(CacheDate.seconds(HTTPDate.text(seconds), now: 0) == seconds)
        }
    }

    @Test("A date of the preferred form means the same as when it is matched with every form")
    func readsDatesInOnePass() {
        var random = SeededRandom(seed: 9_110)
        let scraps = Array("SunmoJafEB 0123456789,:-GMTgmt\té".utf8)
        for _ in 0..<20_000 {
            let seconds = Int64.random(in: -62_135_596_800...253_402_300_799, using: &random)
            var text = Array(HTTPDate.text(seconds).utf8)
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                let place = Int.random(in: text.indices, using: &random)
                text[place] = scraps[Int.random(in: scraps.indices, using: &random)]
            }
            let date = String(decoding: text, as: UTF8.self)
            #expect(CacheDate.seconds(date, now: 0) == CacheDate.anyForm(date, now: 0), "\(date)")
        }
    }

    @Test("Keys are hashed with SHA-256")
    func hashes() {
        func hex(_ text: String) -> String {
            Hexadecimal.text(of: SecureHash.digest(Array(text.utf8)))
        }
        #expect(hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        )
        #expect(
            hex(String(repeating: "a", count: 64))
                == "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"
        )
    }
}
