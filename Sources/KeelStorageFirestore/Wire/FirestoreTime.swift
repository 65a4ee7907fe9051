package import KeelStorage

/// Times in the form of RFC 3339 that proto3's JSON form of `Timestamp` has.
///
/// That form knows the years 1 to 9999. Keel's own servers also take and give other years, with a
/// sign and six digits, as the expanded form of ISO 8601-1 has them.
package enum FirestoreTime {
    /// The text of a time in UTC, with as many digits as it needs: none, three or six.
    package static func text(of time: Timestamp) -> String {
        var text = time.rfc3339
        for _ in 0..<2 where text.hasSuffix("000Z") { text = "\(text.dropLast(4))Z" }
        if text.hasSuffix(".Z") { text = "\(text.dropLast(2))Z" }
        return text.hasPrefix("0000") ? "+00\(text)" : text
    }

    /// Returns the time that a text names, rounded down to the microsecond, or nil.
    ///
    /// Takes `Z` and any offset, and one to nine digits of a fraction. As in proto3, years of four
    /// digits are 1 to 9999.
    package static func time(of text: String) -> Timestamp? {
        let decimals = text.drop { $0 != "." }.dropFirst().prefix { $0.isASCII && $0.isNumber }
        guard !text.hasPrefix("0000"), !text.hasPrefix("-000000"), decimals.count <= 9 else {
            return nil
        }
        return Timestamp(rfc3339: text)
    }
}
