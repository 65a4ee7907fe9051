package import KeelStorageAdapting

/// Times in the form of RFC 3339 that proto3's JSON form of `Timestamp` has.
///
/// That form knows the years 1 to 9999. Keel's own servers also take and give other years, with a
/// sign and six digits, as the expanded form of ISO 8601-1 has them.
package enum FirestoreTime {
    /// The text of a time in UTC, with as many digits as it needs: none, three or six.
    package static func text(of time: Timestamp) -> String {
        // It ends with a point, six digits and `Z`.
        var text = time.rfc3339
        let zeros = text.utf8.dropLast().reversed().prefix { $0 == UInt8(ascii: "0") }.count
        if zeros >= 3 {
            let rest = text.utf8.dropLast(zeros < 6 ? 4 : 8)
            text = "\(Substring(rest))Z"
        }
        return text.utf8.starts(with: "0000".utf8) ? "+00\(text)" : text
    }

    /// Returns the time that a text names, rounded down to the microsecond, or nil.
    ///
    /// Takes `Z` and any offset, and one to nine digits of a fraction. As in proto3, years of four
    /// digits are 1 to 9999.
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
