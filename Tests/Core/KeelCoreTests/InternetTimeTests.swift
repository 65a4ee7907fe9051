import Foundation
import KeelTestKit
import Testing

@testable import KeelCore

@Suite("Internet date and time texts")
struct InternetTimeTests {
    @Test("A written time is read back, in every year", arguments: 0..<20)
    func roundTrips(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<500 {
            // Years from about -30,000 to 30,000.
            let limit: Int64 = 1_000_000_000_000_000_000
            let time = Int64.random(in: -limit...limit, using: &random)
            let text = InternetTime.text(ofMicroseconds: time)
            #expect(InternetTime.microseconds(of: text) == time, "\(text)")
        }
    }

    @Test(
        "The format follows RFC 3339, and ISO 8601-1 for long years",
        arguments: [
            (0, "1970-01-01T00:00:00.000000Z"), (-1, "1969-12-31T23:59:59.999999Z"),
            (951_782_400_000_001, "2000-02-29T00:00:00.000001Z"),
            (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
            (253_402_300_800_000_000, "+010000-01-01T00:00:00.000000Z"),
            (-62_167_219_200_000_000, "0000-01-01T00:00:00.000000Z"),
            (-62_167_219_200_000_001, "-000001-12-31T23:59:59.999999Z"),
        ] as [(Int64, String)]
    )
    func forms(time: Int64, text: String) {
        #expect(InternetTime.text(ofMicroseconds: time) == text)
        #expect(InternetTime.microseconds(of: text) == time)
    }

    @Test(
        "Other spellings of a time are read",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1970-01-01t00:00:00z", 0),
            ("1970-01-01 00:00:01Z", 1_000_000),
            ("1970-01-01T00:00:00.5Z", 500_000), ("1970-01-01T00:00:00.1234567Z", 123_456),
            ("1970-01-01T01:00:00+01:00", 0), ("1969-12-31T19:00:00-05:00", 0),
            ("1970-01-01T00:00:60Z", 60_000_000),
        ] as [(String, Int64)]
    )
    func reads(text: String, time: Int64) { #expect(InternetTime.microseconds(of: text) == time) }

    @Test(
        "Invalid times are rejected",
        arguments: [
            "", "1970", "1970-01-01", "1970-1-01T00:00:00Z", "1970-13-01T00:00:00Z",
            "1970-02-29T00:00:00Z", "1970-01-01T24:00:00Z", "1970-01-01T00:60:00Z",
            "1970-01-01T00:00:61Z", "1970-01-01T00:00:00", "1970-01-01T00:00:00.Z",
            "1970-01-01T00:00:00Zx", "1970-01-01T00:00:00+1:00", "1970-01-01T00:00:00+24:00",
            "1970-01-01X00:00:00Z", "+1970-01-01T00:00:00Z", "-1-01-01T00:00:00Z",
            "19\u{0665}0-01-01T00:00:00Z", "1970-01-01T00:00:00\u{301}Z", "é970-01-01T00:00:00Z",
            "+999999-01-01T00:00:00Z",
        ]
    )
    func refuses(text: String) { #expect(InternetTime.microseconds(of: text) == nil) }
}
