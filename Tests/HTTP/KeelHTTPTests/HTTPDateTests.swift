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
    func reads(text: String, seconds: Int64) {
        #expect(HTTPDate(text)?.seconds == seconds)
    }

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
    func refuses(text: String) {
        #expect(HTTPDate(text) == nil)
    }

    @Test("A two-digit year is resolved near the reference date")
    func guessesCenturies() {
        let now: Int64 = 1_767_225_600  // 2026
        #expect(HTTPDate("Sunday, 06-Nov-76 08:49:37 GMT", reference: now)?.seconds ?? 0 > now)
        #expect(HTTPDate("Sunday, 06-Nov-77 08:49:37 GMT", reference: now)?.seconds ?? 0 < now)
    }
}
