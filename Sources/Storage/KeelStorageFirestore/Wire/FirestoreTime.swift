package import KeelStorageAdapting

/// Times in the RFC 3339 form of proto3's `Timestamp` in JSON.
///
/// That form covers the years 1 to 9999. Keel's servers also accept and send other years, in the expanded form of ISO
/// 8601-1 with a sign and six digits.
package enum FirestoreTime {
    /// Returns the text of a time in UTC, with zero, three or six decimals.
    package static func text(of time: Timestamp) -> String {
        // The text ends with a period, six digits and `Z`.
        var text = time.rfc3339
        let zeros = text.utf8.dropLast().reversed().prefix { $0 == UInt8(ascii: "0") }.count
        if zeros >= 3 {
            let rest = text.utf8.dropLast(zeros < 6 ? 4 : 8)
            text = "\(Substring(rest))Z"
        }
        return text.utf8.starts(with: "0000".utf8) ? "+00\(text)" : text
    }

    /// Parses a time, rounded down to the microsecond; returns nil if the text is malformed.
    ///
    /// Accepts `Z` and any offset, and up to nine decimals. As in proto3, years of four digits are 1 to 9999.
    package static func time(of text: String) -> Timestamp? {
        let bytes = text.utf8
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let decimals = bytes.drop { $0 != UInt8(ascii: ".") }.dropFirst().prefix(
            while: digits.contains
        )
        guard !bytes.starts(with: "0000".utf8), !bytes.starts(with: "-000000".utf8),
            decimals.count <= 9
        else { return nil }
        return Timestamp(rfc3339: text)
    }
}
