import KeelHTTP

/// A date in one of the three formats of HTTP, parsed strictly (RFC 9110 section 5.6.7).
///
/// A date decides whether a response may be used without validation, so only an exact match is
/// accepted: no other time zones, missing digits or extra spaces. Letter case is ignored.
enum CacheDate {
    /// Returns the seconds since 1970, or nil if the text is not a date.
    ///
    /// Years with two digits are those closest to `now`, in seconds since 1970.
    static func seconds(_ text: String, now: Int64) -> Int64? {
        HTTPDate(fixdate: text)?.seconds ?? anyForm(text, now: now)
    }

    static func anyForm(_ text: String, now: Int64) -> Int64? {
        let bytes = Array(text.utf8)
        guard let form = forms.first(where: { fits(bytes, $0) }) else { return nil }
        let names = form.names.map { String(decoding: bytes[$0], as: UTF8.self).capitalized() }
        guard zip(names, form.known).allSatisfy({ $1.contains($0) }) else { return nil }
        // The formats are checked; letters get the case that `HTTPDate` expects.
        var canonical = bytes
        for (range, name) in zip(form.names, names) {
            canonical.replaceSubrange(range, with: Array(name.utf8))
        }
        if form.hasZone {
            guard String(decoding: bytes.suffix(3), as: UTF8.self).uppercased() == "GMT" else {
                return nil
            }
            canonical.replaceSubrange((canonical.count - 3)..., with: Array("GMT".utf8))
        }
        return HTTPDate(String(decoding: canonical, as: UTF8.self), reference: now)?.seconds
    }

    private struct Form {
        /// `a` is a letter, `0` a digit, `_` a digit or a space; other characters match themselves.
        let pattern: [UInt8]
        let names: [Range<Int>]
        let known: [Set<String>]
        let hasZone: Bool
    }

    private static let months: Set<String> = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let days = [
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
    ]
    private static let shortDays = Set(days.map { String($0.prefix(3)) })

    private static let forms: [Form] =
        [
            Form(
                pattern: Array("aaa, 00 aaa 0000 00:00:00 aaa".utf8),
                names: [0..<3, 8..<11],
                known: [shortDays, months],
                hasZone: true
            ),
            Form(
                pattern: Array("aaa aaa _0 00:00:00 0000".utf8),
                names: [0..<3, 4..<7],
                known: [shortDays, months],
                hasZone: false
            ),
        ]
        + days.map { day in
            let count = day.utf8.count
            let letters = String(repeating: "a", count: count)
            return Form(
                pattern: Array("\(letters), 00-aaa-00 00:00:00 aaa".utf8),
                names: [0..<count, (count + 5)..<(count + 8)],
                known: [Set(days), months],
                hasZone: true
            )
        }

    private static func fits(_ bytes: [UInt8], _ form: Form) -> Bool {
        guard bytes.count == form.pattern.count else { return false }
        return zip(bytes, form.pattern).allSatisfy { byte, expected in
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            return switch expected {
            case UInt8(ascii: "a"):
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) && byte < 0x80
            case UInt8(ascii: "0"): isDigit
            case UInt8(ascii: "_"): isDigit || byte == UInt8(ascii: " ")
            default: byte == expected
            }
        }
    }
}

extension String {
    fileprivate func capitalized() -> String {
        prefix(1).uppercased() + dropFirst().lowercased()
    }
}
