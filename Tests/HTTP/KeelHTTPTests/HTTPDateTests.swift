import KeelTestKit
import Testing

@testable import KeelHTTP

@Suite("HTTP dates")
struct HTTPDateTests {
    @Test(
        "All three date formats are parsed",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_799),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Mon, 01 Jan 0001 00:00:00 GMT", -62_135_596_800),
        ] as [(String, Int64)]
    )
    func reads(text: String, seconds: Int64) { #expect(HTTPDate(text)?.seconds == seconds) }

    @Test(
        "Invalid dates are rejected",
        arguments: [
            "", "0", "-1", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 31 Feb 1994 08:49:37 GMT", "Wed, 29 Feb 2023 00:00:00 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
            "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 06 nov 1994 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
            "Sun, 06-Nov 08:49:37 GMT", "Sun, 06 Nov 19945 08:49:37 GMT",
        ]
    )
    func refuses(text: String) { #expect(HTTPDate(text) == nil) }

    @Test("A two-digit year is resolved near the reference date")
    func guessesCenturies() {
        let now: Int64 = 1_767_225_600  // 2026
        #expect(HTTPDate("Sunday, 06-Nov-76 08:49:37 GMT", reference: now)?.seconds ?? 0 > now)
        #expect(HTTPDate("Sunday, 06-Nov-77 08:49:37 GMT", reference: now)?.seconds ?? 0 < now)
    }

    @Test("The preferred form is parsed in one pass as it is word by word, whole and damaged")
    func readsInOnePass() {
        var random = SeededRandom(seed: 5_322)
        let scraps = Array("SunMoJaFeb 0123456789,:-GMTUC\té".utf8)
        for _ in 0..<20_000 {
            let seconds = Int64.random(in: -62_135_596_800...253_402_300_799, using: &random)
            let text = HTTPDate.text(seconds)
            #expect(HTTPDate(fixdate: text)?.seconds == seconds)
            #expect(HTTPDate.anyForm(text, nil) == seconds)
            var damaged = Array(text.utf8)
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                let place = Int.random(in: damaged.indices, using: &random)
                let scrap = scraps[Int.random(in: scraps.indices, using: &random)]
                switch Int.random(in: 0..<8, using: &random) {
                case 0: damaged.insert(scrap, at: place)
                case 1: damaged.remove(at: place)
                default: damaged[place] = scrap
                }
            }
            let junk = String(decoding: damaged, as: UTF8.self)
            #expect(HTTPDate(junk)?.seconds == HTTPDate.anyForm(junk, nil), "\(junk)")
            if let date = HTTPDate(fixdate: junk) {
                #expect(date.seconds == HTTPDate.anyForm(junk, nil), "\(junk)")
            }
        }
    }
}
